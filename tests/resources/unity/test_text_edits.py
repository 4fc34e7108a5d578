"""Edits by splice: the value asked for, and no other byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.unity.text import Splice, TextFault, UnityFile, apply, insert_item, remove_item, set_value

SLOTS = "m_SavedProperties.m_TexEnvs"
EMPTY_SLOT = b"{fileID: 0}\n    - _Main"
FULL_SLOT = b"{fileID: 5}\n    - _Main"
GUID = "0123456789abcdef0123456789abcdef"
ASSET = b"""%YAML 1.1
%TAG !u! tag:unity3d.com,2011:
--- !u!114 &11400000
MonoBehaviour:
  m_GameObject: {fileID: 0}
  m_Script: {fileID: 11500000, guid: 00000000000000000000000000000001, type: 3}
  m_Name: one
  empty:\x20
  bare:
  count: 3
  ratio: 0.5
  flag: 0
  text: 'it''s quoted: yes'
  folded: a long text that was broken by the writer because it had reached the width of
    eighty columns
  position: {x: 1, y: 2.5, z: -3}
  <Backing>k__BackingField: 7
  Base Layer.Idle: 1
  list:
  - first
  - 'second: 2'
  refs:
  - {fileID: 11400000, guid: 00000000000000000000000000000002, type: 2}
  none: []
  m_SavedProperties:
    m_TexEnvs:
    - _BumpMap:
        m_Texture: {fileID: 0}
    - _MainTex:
        m_Texture: {fileID: 2800000, guid: 00000000000000000000000000000003, type: 3}
  twice: 1
  twice: 2
--- !u!4 &-22 stripped
Transform:
  m_Father: {fileID: 0}
"""


def edit(path, value, data=ASSET, document="11400000", **options):
    """The file after one edit."""
    return apply(data, set_value(UnityFile(data), document, path, value, **options))


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        ("m_Name", "Two: 2", b"m_Name: one", b"m_Name: 'Two: 2'"),
        ("m_Name", "", b"m_Name: one", b"m_Name: "),
        ("empty", "now", b"empty: \n", b"empty: now\n"),
        ("bare", "now", b"bare:\n", b"bare: now\n"),
        ("count", 12, b"count: 3", b"count: 12"),
        ("count", "-4", b"count: 3", b"count: -4"),
        ("ratio", 2, b"ratio: 0.5", b"ratio: 2"),
        ("ratio", 0.25, b"ratio: 0.5", b"ratio: 0.25"),
        ("flag", True, b"flag: 0", b"flag: 1"),
        ("text", "plain", b"text: 'it''s quoted: yes'", b"text: plain"),
        ("position.y", "9", b"y: 2.5,", b"y: 9,"),
        ("<Backing>k__BackingField", 8, b"k__BackingField: 7", b"k__BackingField: 8"),
        ("Base Layer.Idle", 0, b"Idle: 1", b"Idle: 0"),
        ("list.Array.data[1]", "x", b"- 'second: 2'", b"- x"),
        (f"{SLOTS}.Array.data[0]._BumpMap.m_Texture", {"fileID": "5"}, EMPTY_SLOT, FULL_SLOT),
        (f"{SLOTS}.Array.data[0].second.m_Texture", {"fileID": 5}, EMPTY_SLOT, FULL_SLOT),
    ],
)  # fmt: skip
def test_an_edit_changes_its_value_and_nothing_else(path, value, old, new):
    """Old text out, new text in, all else equal; the same edit again changes nothing."""
    edited = edit(path, value)
    assert edited == ASSET.replace(old, new, 1)
    assert set_value(UnityFile(edited), "11400000", path, value) == []


def test_a_folded_text_is_replaced_over_all_its_lines():
    """Both lines go."""
    edited = edit("folded", "short")
    assert b"  folded: short\n  position:" in edited


def test_a_reference_folds_unless_the_file_or_the_project_keeps_one_line():
    """A long key pushes the last comma beyond column 80."""
    value = {"fileID": "1234567890123456789", "guid": GUID, "type": 3}
    path = "m_SavedProperties.m_TexEnvs.Array.data[1]._MainTex.m_Texture"
    assert f"guid: {GUID},\n          type: 3}}".encode() in edit(path, value)
    assert f"guid: {GUID}, type: 3}}".encode() in edit(path, value, one_line=True)
    crlf = ASSET.replace(b"\n", b"\r\n")
    assert f"guid: {GUID},\r\n          type: 3}}".encode() in edit(path, value, crlf)


def test_line_ends_bom_and_a_missing_final_newline_are_kept():
    """The frame of a file is not an edit's business."""
    data = b"\xef\xbb\xbf" + ASSET.replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    assert edit("count", 4, data) == data.replace(b"count: 3", b"count: 4")


def test_a_stripped_document_and_a_negative_id_are_addressed_as_written():
    """``&-22`` is a text like any other."""
    assert edit("m_Father", {"fileID": 7}, document="-22").endswith(b"m_Father: {fileID: 7}\n")


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("count", "many", "value.type"),
        ("count", 0.5, "value.type"),
        ("count", True, "value.type"),
        ("count", 2**65, "value.range"),
        ("count", {"fileID": 1}, "value.type"),
        ("ratio", "high", "value.type"),
        ("ratio", False, "value.type"),
        ("m_Name", 5, "value.type"),
        ("m_Script", "text", "value.type"),
        ("m_Script", {"guid": GUID}, "value.reference"),
        ("m_Script", {"fileID": 1, "guid": "xyz", "type": 3}, "value.guid"),
        ("m_Script", {"fileID": 1, "guid": GUID, "type": 9}, "value.reference"),
        ("m_Script", {"fileID": "1e3"}, "value.reference"),
        ("position", "1", "value.not_scalar"),
        ("list", "1", "value.not_scalar"),
        ("missing", 1, "path.missing"),
        ("list.Array.data[2]", "x", "path.missing"),
        ("list.Array.size", 3, "path.missing"),
        ("list[0]", "x", "path.missing"),
        ("count.deeper", 1, "path.missing"),
        ("twice", 1, "path.duplicate_key"),
        ("", 1, "path.empty"),
        ("m_Name.", 1, "path.empty"),
    ],
)
def test_what_cannot_be_meant_is_refused(path, value, code):
    """Each wrong path or value has its own code."""
    with pytest.raises(TextFault) as caught:
        edit(path, value)
    assert caught.value.code == code
    assert caught.value.where == path


def test_a_missing_path_names_the_nearest_prefix_and_its_keys():
    """The error is the mend."""
    with pytest.raises(TextFault) as caught:
        edit("m_SavedProperties.m_TexEnvs.Array.data[1]._MainTxe.m_Texture", {"fileID": 0})
    assert "at 'm_SavedProperties.m_TexEnvs.Array.data[1]'" in caught.value.mend
    assert caught.value.candidates == ("_MainTex",)
    with pytest.raises(TextFault) as caught:
        edit("list.Array.data[9]", "x")
    assert "Array.data[0] to Array.data[1]" in caught.value.mend


def test_a_path_with_two_readings_lists_both():
    """Keys with dots can make a path ambiguous."""
    data = b"a.b:\n  c: 1\na:\n  b.c: 2\n"
    with pytest.raises(TextFault) as caught:
        edit("a.b.c", 3, data, "0")
    assert caught.value.code == "path.ambiguous"
    assert caught.value.candidates == ("a.b → c", "a → b.c")


def test_documents_that_are_missing_or_doubled_are_refused():
    """The error lists the ids that there are."""
    with pytest.raises(TextFault, match="no document") as caught:
        edit("m_Name", "x", document="1")
    assert caught.value.candidates == ("11400000", "-22")
    with pytest.raises(TextFault) as caught:
        edit("m_Name", "x", ASSET.replace(b"&-22", b"&11400000"))
    assert caught.value.code == "document.duplicate"


def test_digits_only_guids_stay_texts():
    """A GUID of digits is no number."""
    meta = b"fileFormatVersion: 2\nguid: 12345678901234567890123456789012\n"
    assert UnityFile(meta).read("0", "guid") == "12345678901234567890123456789012"
    with pytest.raises(TextFault, match="GUID"):
        edit("guid", "7", meta, "0")
    assert edit("guid", GUID, meta, "0") == meta.replace(b"12345678901234567890123456789012", GUID.encode())


@given(st.data())
def test_splices_leave_the_bytes_between_them(data):
    """Whatever is spliced, the rest is the rest."""
    body = data.draw(st.binary(max_size=60))
    cuts = sorted(
        data.draw(st.lists(st.integers(0, len(body)), max_size=8).filter(lambda c: len(c) % 2 == 0))
    )
    texts = data.draw(st.lists(st.binary(max_size=5), min_size=len(cuts) // 2, max_size=len(cuts) // 2))
    splices = [Splice(a, b, t) for a, b, t in zip(cuts[::2], cuts[1::2], texts, strict=True)]
    kept = b"".join(body[a:b] for a, b in zip([0, *cuts[1::2]], [*cuts[::2], len(body)], strict=True))
    out = apply(body, splices)
    assert len(out) == len(kept) + sum(map(len, texts))
    at = 0
    for a, b, text in zip([0, *cuts[1::2]], [*cuts[::2], len(body)], [*texts, b""], strict=True):
        assert out[at : at + b - a] == body[a:b]
        at += b - a + len(text)


def test_overlapping_splices_are_refused():
    """They have no meaning."""
    with pytest.raises(ValueError, match="overlaps"):
        apply(b"abcdef", [Splice(0, 3, b""), Splice(2, 4, b"")])


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_items_are_inserted_and_removed_on_their_own_lines(newline):
    """Insert anywhere, remove again: the same bytes; an empty list becomes ``[]`` again."""
    data = ASSET.replace(b"\n", newline)

    def listed(content, path):
        return UnityFile(content).read("11400000", path)

    for index, expected in ((0, ["new", "first", "second: 2"]), (2, ["first", "second: 2", "new"])):
        more = apply(data, insert_item(UnityFile(data), "11400000", "list", index, "new"))
        assert listed(more, "list") == expected
        assert apply(more, remove_item(UnityFile(more), "11400000", "list", index)) == data
    value = {"fileID": 11400000, "guid": GUID, "type": 2}
    more = apply(data, insert_item(UnityFile(data), "11400000", "none", 0, value))
    assert listed(more, "none") == [{"fileID": "11400000", "guid": GUID, "type": "2"}]
    assert apply(more, remove_item(UnityFile(more), "11400000", "none", 0)) == data
    with pytest.raises(TextFault, match="another type"):
        insert_item(UnityFile(data), "11400000", "refs", 0, "text")
    with pytest.raises(TextFault, match="not a list"):
        insert_item(UnityFile(data), "11400000", "count", 0, 1)
    with pytest.raises(TextFault, match="2 items"):
        remove_item(UnityFile(data), "11400000", "list", 2)
