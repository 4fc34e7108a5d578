"""Hostile and foreign files: one clear error each, in time and memory that grow with their size."""

import contextlib
import time

import pytest

from resources.unity.text import TextFault, UnityFile

HEAD = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!114 &1\nMonoBehaviour:\n"
LAUGHS = b"".join(b"  a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 10))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x00\x00binary", "text.binary"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "text.lfs_pointer"),
        (HEAD + b"<<<<<<< ours\n  a: 1\n=======\n  a: 2\n>>>>>>> theirs\n", "text.merge_conflict"),
        (b"--- !u!x &1\nA:\n  b: 1\n", "text.header"),
        (HEAD + b"  a: &anchor 1\n", "text.syntax"),
        (HEAD + b"  a: *anchor\n", "text.syntax"),
        (HEAD + b"  a: !!python/object:os.system x\n", "text.syntax"),
        (HEAD + b"  ? complex\n  : key\n", "text.syntax"),
        (HEAD + LAUGHS, "text.syntax"),
        (HEAD + b"  a: 1\n    b: 2\n", "text.syntax"),
        (HEAD + b"  a: 1\n b: 2\n", "text.syntax"),
        (HEAD + b"  a: 'open\n", "text.syntax"),
        (HEAD + b"  a: {b: 1\n", "text.syntax"),
        (HEAD + b"  a: {b: 1} c\n", "text.syntax"),
        (HEAD + b"  a: b: c\n", "text.syntax"),
        (HEAD + b"  a: " + b"[" * 5000 + b"\n", "text.syntax"),
        (HEAD + b"  a: " + b"{a: " * 5000 + b"\n", "text.syntax"),
        (HEAD + b"  " + b"- " * 5000 + b"x\n", "text.syntax"),
        (HEAD + b"".join(b" " * i + b"k:\n" for i in range(2, 400)), "text.syntax"),
        (HEAD + b"\ta: 1\n", "text.syntax"),
    ],
)
def test_it_is_refused_by_name(data, code):
    """No traceback, no expansion, a code and a line."""
    with pytest.raises(TextFault) as caught:
        UnityFile(data).read("1", "a")
    assert caught.value.code == code
    assert caught.value.what


def test_bytes_that_are_no_utf8_are_refused_where_they_are_read():
    """Only the value that holds them."""
    file = UnityFile(HEAD + b"  a: \xff\xfe\n  b: 1\n")
    assert file.read("1", "b") == "1"
    with pytest.raises(TextFault, match="UTF-8"):
        file.read("1", "a")


@pytest.mark.parametrize(
    "body",
    [
        b"  a: " + b"x" * 4_000_000,
        b"  a: x" + b" " * 1_000_000 + b"y",
        b"  a: 'x" + b" " * 300_000 + b"\n" + b" " * 300_000 + b"y'",
        b'  a: "x' + b"\\\\" * 300_000 + b" " * 300_000 + b'\n   y"',
        b"  a: " + b"{" * 300_000,
        b"  a: [" + b"x, " * 100_000 + b"x]",
        b"  a" + b" " * 500_000 + b": 1",
        b"  a: {b" + b" " * 300_000 + b"}",
        b"  a:" + b"\n" * 500_000 + b"    b: 1",
        b"  a: " + b"'" * 400_001,
        b"".join(b"  k%d: 1\n" % i for i in range(60_000)) + b"  a: 1",
    ],
)
@pytest.mark.slow
def test_long_lines_cost_time_in_proportion(body):
    """A few megabytes of one line take seconds at most, whatever they hold."""
    began = time.monotonic()
    with contextlib.suppress(TextFault):
        UnityFile(HEAD + body + b"\n").read("1", "a")
    assert time.monotonic() - began < 5
