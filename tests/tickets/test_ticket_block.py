"""The fenced block: where it is found, and what it may hold."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabric_dagster.errors import InvalidDocument
from fabric_dagster.tickets import read_issue
from fabric_dagster.tickets.fence import open_fence

GRAPH = "CreateOfferIconAndIntegrate@1"

SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

BAD_BLOCKS = {
    "left and right double quotes": ({"title": "\u201cStarter Pack\u201d"}, ["ticket.typographic_quotes"]),
    "low and high quotes": ({"title": "\u201eStarter Pack\u201c"}, ["ticket.typographic_quotes"]),
    "single quotes": ({"offer_id": "\u2018starter_pack\u2019"}, ["ticket.typographic_quotes"]),
    "guillemets": ({"title": "\u00abStarter Pack\u00bb"}, ["ticket.typographic_quotes"]),
    "a closing quote alone": ({"title": "Starter Pack\u201d"}, ["ticket.typographic_quotes"]),
    "an apostrophe twice": ({"title": "\u2019Starter\u2019"}, ["ticket.typographic_quotes"]),
    "non-breaking space": ({"title": "Starter\u00a0Pack"}, ["ticket.odd_space"]),
    "narrow non-breaking space": ({"title": "Starter\u202fPack"}, ["ticket.odd_space"]),
    "ideographic space": ({"title": "Starter\u3000Pack"}, ["ticket.odd_space"]),
    "tab": ({"title": "Starter\tPack"}, ["ticket.tab"]),
    "trailing tab": ({"title": "Starter Pack\t"}, ["ticket.tab"]),
    "zero-width space": ({"title": "Starter\u200bPack"}, ["ticket.invisible_character"]),
    "zero-width joiner in a word": ({"title": "Star\u200dter"}, ["ticket.invisible_character"]),
    "byte order mark": ({"title": "\ufeffStarter"}, ["ticket.invisible_character"]),
    "soft hyphen": ({"title": "Star\u00adter"}, ["ticket.invisible_character"]),
    "direction override": ({"title": "Starter \u202ekcaP"}, ["ticket.invisible_character"]),
    "NUL": ({"title": "Starter\0"}, ["ticket.control_character"]),
    "escape": ({"title": "\x1b[31mStarter"}, ["ticket.control_character"]),
    "line separator": ({"title": "Starter\u2028Pack"}, ["ticket.bad_character"]),
    "next line": ({"title": "Starter\u0085Pack"}, ["ticket.control_character"]),
    "lone surrogate": ({"title": "Starter\ud83d"}, ["ticket.bad_character"]),
    "noncharacter": ({"title": "Starter\U0001ffff"}, ["ticket.bad_character"]),
    "private use": ({"title": "Starter\ue000"}, ["ticket.bad_character"]),
    "replacement character": ({"title": "Offre \ufffdt\ufffd"}, ["ticket.bad_character"]),
    "escaped NUL": ({"title": '"Starter\\0"'}, ["ticket.control_character"]),
    "escaped non-breaking space": ({"title": '"Starter\\u00a0Pack"'}, ["ticket.odd_space"]),
    "escaped line feed": ({"title": '"Starter\\nPack"'}, ["ticket.control_character"]),
    "unknown key": ({"price": "4.99"}, ["ticket.unknown_key"]),
    "prototype key": ({"__proto__": "x"}, ["ticket.unknown_key"]),
    "another case": ({"Title": "Starter"}, ["ticket.unknown_key"]),
    "duplicate key": ({"title": "A\ntitle: B"}, ["yaml.duplicate_key"]),
    "anchor": ({"title": "&a Starter"}, ["yaml.anchor"]),
    "alias": ({"title": "*a"}, ["yaml.alias"]),
    "tag": ({"title": "!!str Starter"}, ["yaml.tag"]),
    "python tag": ({"title": "!!python/object/apply:os.system [id]"}, ["yaml.tag"]),
    "merge key": ({"<<": "{}"}, ["yaml.merge_key"]),
    "number": ({"title": "2026"}, ["ticket.wrong_type"]),
    "truth value": ({"title": "true"}, ["ticket.wrong_type"]),
    "nothing": ({"title": ""}, ["ticket.wrong_type"]),
    "null": ({"title": "null"}, ["ticket.wrong_type"]),
    "list": ({"title": "[Starter, Pack]"}, ["ticket.wrong_type"]),
    "mapping": ({"title": "{a: b}"}, ["ticket.wrong_type"]),
    "empty text": ({"title": '""'}, ["ticket.bad_length"]),
    "spaces": ({"title": '"   "'}, ["ticket.bad_length"]),
    "41 characters": ({"title": "x" * 41}, ["ticket.bad_length"]),
    "a colon in plain text": ({"title": "Deal: Coins"}, ["yaml.syntax"]),
    "an open quote": ({"title": '"Starter'}, ["yaml.syntax"]),
    "text cut off by a comment": ({"title": "Pack #1"}, ["ticket.cut_off"]),
    "two documents": ({"title": "Starter\n---\ntitle: Pack"}, ["yaml.syntax"]),
    "slug with capital": ({"offer_id": "Starter_pack"}, ["ticket.bad_slug"]),
    "slug too short": ({"offer_id": "ab"}, ["ticket.bad_slug"]),
    "slug too long": ({"offer_id": "a" * 41}, ["ticket.bad_slug"]),
    "slug with hyphen": ({"offer_id": "starter-pack"}, ["ticket.bad_slug"]),
    "slug with trailing line feed": ({"offer_id": '"starter_pack\\n"'}, ["ticket.control_character"]),
    "numeric slug": ({"offer_id": "123"}, ["ticket.wrong_type"]),
    "unknown category": ({"category": "offer.triple"}, ["ticket.unknown_category"]),
    "badge without a provider": ({"badge": "NEW"}, ["ticket.capability_unavailable"]),
    "badge too long": ({"badge": "BRANDNEW!"}, ["ticket.bad_length", "ticket.capability_unavailable"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_BLOCKS)
def test_bad_block(desk, case):
    """Each fault is refused with exactly its code, key, line and value."""
    values, codes = BAD_BLOCKS[case]
    block = desk.block(**values)
    faults = desk.faults(block)
    assert codes == sorted(fault.code for fault in faults)
    key = next(iter(values))
    for fault in faults:
        assert fault.where.startswith("OFFER-1.json:block:")
        assert repr(key) in fault.what or fault.code == "yaml.syntax"
        assert fault.value is not None
        assert str(fault).isprintable()


ACCEPTED = {
    "CRLF": lambda block: block.replace("\n", "\r\n"),
    "trailing spaces": lambda block: block.replace("\n", "   \n"),
    "blank lines": lambda block: "\n  \n" + block.replace("\ncategory", "\n\ncategory") + "\n\n",
    "no final line feed": str.rstrip,
    "quoted values": lambda block: block.replace("Starter Pack", '"Starter Pack"'),
    "indented as a whole": lambda block: "".join(f"  {line}\n" for line in block.splitlines()),
    "comments of their own": lambda block: block.replace("category", "# goods\ncategory"),
    "a comment after an id": lambda block: block.replace("offer.bundle", "offer.bundle # goods"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_spelling_without_meaning(desk, case):
    """CRLF, trailing spaces and what else YAML does not read change nothing, the digest least of all."""
    assert desk.ticket().digest == desk.ticket(ACCEPTED[case](desk.BLOCK)).digest


@pytest.mark.parametrize(
    "title",
    [
        "L\u2019\u00e9meraude",
        "Say \u201cHi\u201d",
        "A \u2013 B",
        "\U0001f468\u200d\U0001f469",
        "\U0001fae8 an emoji newer than some Pythons",
        "1.5",
        "no",
        "x" * 40,
    ],
)
def test_typography_within_a_title(desk, title):
    """A title is people's text: apostrophes, dashes, inner quotes and emoji are theirs."""
    assert desk.ticket(desk.block(title=title)).inputs["title"] == title


def test_title_is_normalised(desk):
    """Forty characters are counted after NFC, and NFC is what the ticket holds."""
    decomposed = "e\u0301" * 40
    assert desk.ticket(desk.block(title=decomposed)).inputs["title"] == "\u00e9" * 40


def test_badge_where_a_provider_sets_text(desk):
    """The same badge is accepted where somebody serves it, and where nobody asked."""
    block = desk.block(badge="NEW")
    for served in (frozenset({"photoshop.set_badge@1"}), None):
        desk.served = served
        assert desk.ticket(block).inputs["badge"] == "NEW"


def test_all_faults_at_once(desk):
    """One look names every fault, in the order of the lines."""
    block = (
        "fabric: CreateOfferIconAndIntegrate@1\noffer_id: Starter\ncategory: nope\nart: ../coin.png\n"
        "title: \u2018Starter\u2019\nprice:\t4\nbadge: TOOLONGBADGE\n"
    )
    found = [(fault.where.rpartition(":")[2], fault.code) for fault in desk.faults(block)]
    assert [
        ("2", "ticket.bad_slug"),
        ("3", "ticket.unknown_category"),
        ("4", "ticket.path_climbs"),
        ("5", "ticket.typographic_quotes"),
        ("6", "ticket.tab"),
        ("6", "ticket.unknown_key"),
        ("7", "ticket.bad_length"),
        ("7", "ticket.capability_unavailable"),
    ] == found


def test_faults_beside_broken_yaml(desk):
    """Where YAML itself is broken, the other lines are looked at all the same."""
    block = desk.block(title="Deal: Coins", offer_id="X", prize="1").replace("category: offer.bundle\n", "")
    assert ["ticket.bad_slug", "ticket.missing_key", "ticket.unknown_key", "yaml.syntax"] == desk.codes(block)


def test_missing_keys(desk):
    """Every missing key is named."""
    faults = desk.faults("fabric: CreateOfferIconAndIntegrate@1\n")
    assert ["'offer_id'", "'category'", "'art'", "'title'"] == [f.what.split()[2] for f in faults]


def test_spoiled_key_is_one_fault(desk):
    """A key with an odd character in it is not also reported as unknown and missing."""
    assert ["ticket.invisible_character"] == desk.codes(desk.BLOCK.replace("title", "ti\u200btle"))
    assert ["ticket.typographic_quotes"] == desk.codes(desk.BLOCK.replace("title", "\u201ctitle\u201d"))


def test_no_flood_of_faults(desk):
    """A block that is one long fault names a hundred and counts the rest."""
    block = desk.BLOCK + "".join(f"k{number}: x\n" for number in range(300))
    faults = desk.faults(block)
    assert 101 == len(faults)
    assert "and 200 more faults" == faults[-1].what


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("fabric: CreateAbilityIcon@1", ["ticket.other_graph"]),
        ("fabric: CreateOfferIconAndIntegrate@2", ["ticket.other_graph"]),
        ("fabric: CreateOfferIconAndIntegrate", ["ticket.bad_marker"]),
        ("fabric: CreateOfferIconAndIntegrate@1.0.0", ["ticket.bad_marker"]),
        ("fabric: CreateOfferIconAndIntegrate@0", ["ticket.bad_marker"]),
        ("fabric:", ["ticket.bad_marker"]),
        ("Fabric: CreateOfferIconAndIntegrate@1", ["ticket.bad_marker", "ticket.unknown_key"]),
        ("fabric: \u201cCreateOfferIconAndIntegrate@1\u201d", ["ticket.typographic_quotes"]),
        ("\ufefffabric: CreateOfferIconAndIntegrate@1", ["ticket.invisible_character"]),
        ("# input", ["ticket.no_block"]),
        ("fabrics: CreateOfferIconAndIntegrate@1", ["ticket.no_block"]),
    ],
)
def test_marker_line(desk, line, codes):
    """The first line names the graph and its major version, exactly."""
    assert codes == desk.codes(f"{line}\n{desk.BODY}")


def test_a_markdown_fence_in_wiki_markup():
    """Wiki markup has no Markdown: who writes its marks is told what a code block is there."""
    fields = {"summary": "s", "description": f"Hi\r\n```yaml\r\nfabric: {GRAPH}\r\n```\r\n"}
    issue = read_issue(json.dumps({"key": "A-1", "fields": fields}).encode(), "A-1.json")
    with pytest.raises(InvalidDocument) as caught:
        open_fence(issue)
    assert ("ticket.no_block", True) == (caught.value.code, "{code}" in str(caught.value))


def test_another_graphs_keys(desk):
    """A block for another graph is not also measured by this graph's keys."""
    assert ["ticket.other_graph"] == desk.codes("fabric: CreateAbilityIcon@1\nability: fireball\n")


def test_huge_block(desk):
    """A block beyond its limit is not read."""
    assert ["ticket.too_large"] == desk.codes(desk.BLOCK + "#" * 20_000)


def test_deep_block(desk):
    """Nesting has a limit."""
    assert ["yaml.too_large"] == desk.codes(desk.block(title="[" * 60 + "]" * 60))


def test_huge_number(desk):
    """A number longer than Python reads is text of a wrong length, not a crash."""
    assert ["ticket.bad_length"] == desk.set(title="9" * 5_000)


@SETTINGS
@given(st.permutations(["offer_id", "category", "art", "title"]), st.text("abc \u201d", max_size=40))
def test_digest_ignores_order_and_prose(desk, order, prose):
    """Neither the order of the keys nor a word of the prose is part of a ticket's identity."""
    lines = dict(line.split(": ", 1) for line in desk.BODY.splitlines())
    block = "fabric: CreateOfferIconAndIntegrate@1\n" + "".join(f"{key}: {lines[key]}\n" for key in order)
    said = desk.adf({"type": "paragraph", "content": [{"type": "text", "text": prose}]}, desk.code(block))
    assert desk.ticket().digest == desk.ticket(description=said).digest


@SETTINGS
@given(st.sampled_from(["offer_id", "title", "category"]), st.data())
def test_digest_follows_every_value(desk, key, data):
    """Another value is another ticket."""
    values = {
        "offer_id": "[a-z][a-z0-9_]{2,20}",
        "title": "[A-Z][a-z]{0,20}",
        "category": "offer[.](single|daily)",
    }
    value = data.draw(st.from_regex(values[key], fullmatch=True, alphabet=st.characters(codec="ascii")))
    changed = desk.ticket(desk.block(**{key: value}))
    same = {"offer_id": "starter_pack", "title": "Starter Pack", "category": "offer.bundle"}[key] == value
    assert same == (desk.ticket().digest == changed.digest)


@SETTINGS
@given(st.text(max_size=400))
def test_any_text_is_answered(desk, text):
    """Whatever stands in a block, the answer is a ticket or faults, never a crash."""
    for block in (text, desk.BLOCK + text, f"fabric: {text}"):
        for fault in desk.faults(block):
            assert str(fault).isprintable()
