"""The issue's JSON, and the two markups that a description comes in."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.tickets import named_graph, read_issue

SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

BAD_ISSUES = {
    "empty": (b"", "ticket.json"),
    "no JSON": (b"key: OFFER-1", "ticket.json"),
    "cut short": (b'{"key": "OFFER-1", "fields": {', "ticket.json"),
    "not UTF-8": (b'{"key": "OFFER-1\xff", "fields": {}}', "ticket.encoding"),
    "UTF-16": ('{"key": "OFFER-1", "fields": {}}'.encode("utf-16"), "ticket.encoding"),
    "a list": (b"[]", "ticket.not_an_issue"),
    "a search page": (b'{"issues": []}', "ticket.not_an_issue"),
    "fields are text": (b'{"key": "OFFER-1", "fields": "x"}', "ticket.not_an_issue"),
    "a number that JSON has not": (b'{"key": "OFFER-1", "fields": {"x": NaN}}', "ticket.json"),
    "a key twice": (b'{"key": "OFFER-1", "fields": {"a": 1, "a": 2}}', "ticket.json_duplicate_key"),
    "fields twice": (b'{"key": "OFFER-1", "fields": {}, "fields": {}}', "ticket.json_duplicate_key"),
    "deep": (b'{"key": "OFFER-1", "fields": {"x": ' + b"[" * 5000 + b"]" * 5000 + b"}}", "ticket.too_deep"),
    "large": (b'{"key": "OFFER-1", "fields": {"x": "' + b"x" * (4 << 20) + b'"}}', "ticket.too_large"),
    "no key": (b'{"fields": {}}', "ticket.bad_key"),
    "a key with a comma": (b'{"key": "OFFER-1,OFFER-2", "fields": {}}', "ticket.bad_key"),
    "a key that climbs": (b'{"key": "../OFFER-1", "fields": {}}', "ticket.bad_key"),
    "a key with a line feed": (b'{"key": "OFFER-1\\n", "fields": {}}', "ticket.bad_key"),
    "a lower-case key": (b'{"key": "offer-1", "fields": {}}', "ticket.bad_key"),
    "a key with Arabic digits": ('{"key": "OFFER-\u0661", "fields": {}}'.encode(), "ticket.bad_key"),
    "a description of another kind": (
        b'{"key": "OFFER-1", "fields": {"description": 5}}',
        "ticket.not_an_issue",
    ),
    "attachments of another kind": (
        b'{"key": "OFFER-1", "fields": {"attachment": 5}}',
        "ticket.not_an_issue",
    ),
    "content that is no list": (
        b'{"key": "OFFER-1", "fields": {"description": {"type": "doc", "content": {}}}}',
        "ticket.bad_adf",
    ),
    "a text node without text": (
        b'{"key": "OFFER-1", "fields": {"description": {"type": "doc", "content": [{"type": "text"}]}}}',
        "ticket.bad_adf",
    ),
}


@pytest.mark.parametrize("case", BAD_ISSUES)
def test_bad_issue(case):
    """Each is refused with one clear error that names the file."""
    data, code = BAD_ISSUES[case]
    with pytest.raises(InvalidDocument) as caught:
        read_issue(data, "OFFER-1.json")
    assert [code] == [fault.code for fault in caught.value.faults]
    assert caught.value.faults[0].where.startswith("OFFER-1.json")


def test_unknown_fields_are_ignored():
    """An issue holds what it likes beside what a ticket comes from; huge numbers and a BOM do no harm."""
    issue = {"key": "OFFER-1", "__proto__": {}, "fields": {"customfield_1": {"a": [1e999, 10**400]}}}
    data = b"\xef\xbb\xbf" + json.dumps(issue).replace("Infinity", "1e999").encode()
    assert ("OFFER-1", (), ()) == (
        (read := read_issue(data, "x")).key, read.blocks, read.attachments
    )  # fmt: skip


@pytest.mark.parametrize("description", [None, "", {"type": "doc", "version": 1, "content": []}])
def test_no_description(desk, description):
    """Nothing is no block."""
    with pytest.raises(InvalidDocument) as caught:
        named_graph(desk.issue(description))
    assert "ticket.no_block" == caught.value.code


WIKI = {
    "code": "{{code}}\n{block}{{code}}",
    "code with a language": "{{code:java}}\n{block}{{code}}",
    "code with a title": "{{code:title=input.yaml|borderStyle=solid}}\n{block}{{code}}",
    "noformat": "{{noformat}}\n{block}{{noformat}}",
    "noformat with parameters": "{{noformat:nopanel=true}}\n{block}{{noformat}}",
    "on the tag's line": "{{code}}{block}{{code}}",
    "after another block": "{{code}}\nx = 1\n{{code}}\n{{code}}\n{block}{{code}}",
    "within a panel": "{{panel:title=Input}}\n{{code}}\n{block}{{code}}\n{{panel}}",
    "with the other tag inside prose": "use \\{{code}} like this\n{{code}}\n{block}{{code}}",
    "as an example of the other tag": "{{noformat}}\n{{code}}\n{{noformat}}\n{{code}}\n{block}{{code}}",
    "after a tag that is never closed": "a {{noformat}} tag\n{{code}}\n{block}{{code}}",
    "CRLF": "h1. Icon\r\n{{code}}\r\n{block}{{code}}\r\n",
}


@pytest.mark.parametrize("case", WIKI)
def test_wiki_block(desk, case):
    """Wiki markup's blocks read like ADF's."""
    assert desk.ticket().digest == desk.ticket(description=WIKI[case].format(block=desk.BLOCK)).digest


@pytest.mark.parametrize(
    ("description", "codes"),
    [
        ("{code}\nBLOCK", ["ticket.no_block"]),
        ("BLOCK", ["ticket.no_block"]),
        ("{{code}}\nBLOCK{{code}}", ["ticket.no_block"]),
        ("{quote}\nBLOCK{quote}", ["ticket.no_block"]),
        ("{code}\nBLOCK{code}\n{code}\nBLOCK{code}", ["ticket.two_blocks"]),
        ("{code}\nBLOCK{code}\n{noformat}\nBLOCK{noformat}", ["ticket.two_blocks"]),
        ("{code}\nBLOCK{code}\n{code}\nfabric: Another@1\n{code}", ["ticket.two_blocks"]),
        ("{code}\nx\nBLOCK{code}", ["ticket.no_block"]),
    ],
)
def test_wiki_without_one_block(desk, description, codes):
    """None, two, one that is not closed, or one that begins with something else: refused."""
    assert codes == desk.codes(description=description.replace("BLOCK", desk.BLOCK))


def test_block_split_by_its_own_tag(desk):
    """A tag inside the block ends it, as Jira ends it; what is then missing is named."""
    text = "{code}\n" + desk.BLOCK.replace("title: ", "# {code}\ntitle: ") + "{code}"
    assert ["ticket.missing_key"] == desk.codes(description=text)


def test_hard_breaks_and_split_text(desk):
    """An editor may split a block into text nodes and hard breaks; marks mean nothing."""
    nodes = []
    for line in desk.BLOCK.splitlines():
        nodes += [
            {"type": "text", "text": line[:4], "marks": [{"type": "strong"}]},
            {"type": "text", "text": line[4:]},
        ]
        nodes.append({"type": "hardBreak"})
    assert (
        desk.ticket().digest
        == desk.ticket(description=desk.adf({"type": "codeBlock", "content": nodes})).digest
    )


def test_foreign_node_in_a_block(desk):
    """A mention or a card in the block is refused by its name."""
    block = desk.code(desk.BLOCK)
    block["content"].append({"type": "mention", "attrs": {"id": "1", "text": "@mara"}})
    assert ["ticket.foreign_node"] == desk.codes(description=desk.adf(block))


def test_inline_code_is_no_block(desk):
    """Only a code block counts, not text that looks like one."""
    node = {"type": "text", "text": desk.BLOCK, "marks": [{"type": "code"}]}
    faults = desk.faults(description=desk.adf({"type": "paragraph", "content": [node]}))
    assert ["ticket.no_block"] == [fault.code for fault in faults]
    assert "prose" in faults[0].what


def test_endless_document(desk):
    """The walk through a description has a limit."""
    many = desk.adf(*[{"type": "rule"}] * 100_001)
    assert ["ticket.bad_adf"] == desk.codes(description=many)


def test_named_graph(desk):
    """A block says which graph it is for, before any pack is at hand."""
    assert "CreateOfferIconAndIntegrate@1" == named_graph(desk.issue(desk.adf(desk.code(desk.BLOCK))))


PARENTS = [
    "panel",
    "expand",
    "nestedExpand",
    "blockquote",
    "bulletList",
    "orderedList",
    "listItem",
    "table",
    "tableRow",
    "tableCell",
    "tableHeader",
    "layoutSection",
    "layoutColumn",
    "bodiedExtension",
    "unknownNode",
]


@SETTINGS
@given(
    st.lists(st.tuples(st.sampled_from(PARENTS), st.booleans(), st.booleans()), max_size=40),
    st.sampled_from([None, "java", "yaml", "", "none"]),
)
def test_any_nesting(desk, parents, language):
    """Wherever an editor puts the block, and whatever language it calls it, the ticket is the same."""
    node = desk.code(desk.BLOCK, **({} if language is None else {"language": language}))
    text = {"type": "paragraph", "content": [{"type": "text", "text": "fabric: nothing"}]}
    other = desk.code("print('fabric')")
    for kind, before, after in parents:
        node = {"type": kind, "content": [*([text] if before else []), node, *([other] if after else [])]}
    assert desk.ticket().digest == desk.ticket(description=desk.adf(node)).digest


@SETTINGS
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["type", "content", "text", "attrs", "doc"]), inner, max_size=4),
    max_leaves=20,
))  # fmt: skip
def test_any_description_is_answered(desk, description):
    """Whatever JSON stands for a description, the answer is a ticket or faults, never a crash."""
    for value in (description, {"type": "doc", "content": description}):
        assert desk.codes(description="" if value is None else value)
