"""The unified diff: exact, and applicable by patch."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.files.diff import unified

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "a long line", "x\r"]), max_size=30)


def test_a_change_in_the_middle_has_three_lines_of_context():
    """Line numbers count from the file's start."""
    before = "".join(f"{n}\n" for n in range(1, 21)).encode()
    assert unified("f", before, before.replace(b"10\n", b"ten\n")).splitlines() == [
        "--- a/f", "+++ b/f", "@@ -7,7 +7,7 @@", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13",
    ]  # fmt: skip


def test_a_new_file_a_deleted_one_and_a_missing_newline_are_marked():
    """As git writes them."""
    assert unified("f", None, b"x\n") == "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"
    assert unified("f", b"x\n", None) == "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert unified("f", b"x", b"x\n").count("\\ No newline at end of file") == 1
    assert unified("f", b"same", b"same") == ""


def test_a_binary_file_is_named_with_its_sizes():
    """No bytes on a terminal."""
    assert "Binary files differ (0 → 3 bytes)" in unified("f", None, b"\0ab")
    assert "Binary files differ" in unified("f", b"\xff\xfe", b"x")


@given(LINES, LINES, st.booleans())
def test_patch_applies_the_diff(tmp_path_factory, one, two, end):
    """The old file and the diff give the new file, byte for byte."""
    if shutil.which("patch") is None:
        pytest.skip("there is no patch program here")
    before, after = "\n".join(one).encode(), ("\n".join(two) + ("\n" if end else "")).encode()
    text = unified("f", before, after)
    if not text:
        assert before == after
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f").write_bytes(before)
    subprocess.run(
        ["patch", "--binary", "-s", "f"], cwd=folder, check=True, input=text.encode(), capture_output=True
    )
    assert ((folder / "f").read_bytes() if (folder / "f").exists() else b"") == after
