"""Scalars: read as YAML means them, written as Unity writes them."""

import struct

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.unity.text import TextFault, UnityFile, scalars
from resources.unity.text.scalars import encode, number

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
WORDS = st.lists(
    st.sampled_from(["a", "bc", "word", "it's", "x:", "- y", "#z", "é", "\n", "  ", "\t", "{q}"]), max_size=60
)


@settings(max_examples=500)
@given(TEXT | WORDS.map(" ".join) | WORDS.map("".join), st.integers(0, 60), st.booleans())
def test_what_is_written_reads_back_in_pyyaml_and_here(text, column, crlf):
    """Any text, at any column, with either line end: both readers give it back."""
    newline = b"\r\n" if crlf else b"\n"
    key = b"k" * max(column - 4, 1)
    written = encode(text, column=len(key) + 4, indent=4, newline=newline)
    document = b"  " + key + b": " + written + newline + b"  next: 1" + newline
    (expected,) = [yaml.load(document, yaml.BaseLoader)[key.decode()]]  # noqa: S506 - BaseLoader makes texts only
    assert expected == text
    assert UnityFile(document).read("0", key.decode()) == text
    assert UnityFile(document).read("0", "next") == "1"


@given(TEXT)
def test_a_text_within_braces_reads_back(text):
    """Flow mappings have stricter rules for plain texts."""
    written = encode(text, column=10, indent=6, newline=b"\n", flow=True)
    document = b"k: {a: " + written + b", b: 2}\n"
    assert yaml.load(document, yaml.BaseLoader)["k"] == {"a": text, "b": "2"}  # noqa: S506 - see above
    assert UnityFile(document).read("0", "k") == {"a": text, "b": "2"}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", ""),
        ("plain text", "plain text"),
        ("123", "123"),
        ("true", "true"),
        ("-----", "-----"),
        ("- item", "'- item'"),
        ("-item", "-item"),
        ("a: b", "'a: b'"),
        ("a:b", "a:b"),
        ("ends:", "'ends:'"),
        ("it's", "it's"),
        ("'quoted'", "'''quoted'''"),
        ("#1", "'#1'"),
        ("a #1", "'a #1'"),
        ("a#1", "a#1"),
        (" edge ", "' edge '"),
        ("{0}", "'{0}'"),
        ("100%", "100%"),
        ("%d", "'%d'"),
        ("é", '"\\xE9"'),
        ("\u2019", '"\\u2019"'),
        ("\U0001f600", '"\\U0001F600"'),
        ("\xa0", '"\\_"'),
        ("tab\t", '"tab\\t"'),
        ('say "hi"', 'say "hi"'),
        ('"hi"', "'\"hi\"'"),
        ("one\ntwo", "'one\n\n    two'"),
        ("one\n\ntwo", "'one\n\n\n    two'"),
        ("end\n", "'end\n\n'"),
        ("one\n two", '"one\\n two"'),
    ],
)
def test_quoting_is_unitys(text, written):
    """Each rule of the writer, one example."""
    assert encode(text, column=10, indent=4, newline=b"\n").decode() == written


def test_a_long_text_breaks_at_the_first_space_from_column_80():
    """The line may pass 80: it breaks at a space, never within a word."""
    text = "x" * 69 + " second third"
    assert encode(text, column=10, indent=4, newline=b"\n") == b"x" * 69 + b" second\n    third"
    assert encode("x" * 70 + " second", column=10, indent=4, newline=b"\r\n") == b"x" * 70 + b"\r\n    second"
    assert encode("x" * 70 + "  two", column=10, indent=4, newline=b"\n") == b"x" * 70 + b"  two"


def test_a_lone_surrogate_is_refused():
    """It is no text that a file can hold."""
    with pytest.raises(TextFault, match="surrogate"):
        encode("\ud800", column=0, indent=2, newline=b"\n")


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_is_the_shortest_text_of_its_single(value):
    """Reading the text as a 32-bit float gives the value back."""
    text = number(value)
    assert scalars.DECIMAL.match(text)
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1.0, "1"),
        (0.5, "0.5"),
        (100.0, "100"),
        (1 / 3, "0.33333334"),
        (-2.5, "-2.5"),
        (-9.0538e-7, "-0.00000090538"),
        (6.1232336e-17, "6.1232336e-17"),
        (3.4028234663852886e38, "3.4028235e+38"),
        (1000000.0, "1000000"),
    ],
)
def test_floats_are_written_as_unity_writes_them(value, text):
    """No trailing zeros, at most nine digits."""
    assert number(value) == text
