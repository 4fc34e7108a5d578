"""Whole items moved, repeated and removed: what Python's own list does, on the file's bytes."""

from hypothesis import given
from hypothesis import strategies as st

from resources.unity.text import UnityFile, apply, insert_item, move_item, remove_item, repeat_item

ITEMS = st.lists(
    st.sampled_from(["1", "22", "{fileID: 7}", "a: 1\n    b: 2", "'x: y'"]), min_size=1, max_size=8
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["move", "repeat", "remove"]), st.integers(0, 99), st.integers(0, 99))
)


def document(items, newline, end):
    """A file whose list has these items."""
    listed = "".join(f"  - {item}\n" for item in items)
    text = f"--- !u!114 &1\nMonoBehaviour:\n  before: 1\n  list:\n{listed}{end}"
    return text.replace("\n", newline).encode()


@given(ITEMS, STEPS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "  after: 2\n", "  after: 2"]))
def test_lines_move_as_a_list_does(items, steps, newline, end):
    """The same as writing the changed list; every other byte stays."""
    data, wanted = document(items, newline, end), list(items)
    for action, one, two in steps:
        index, other = one % len(wanted), two % len(wanted)
        file = UnityFile(data)
        if action == "move":
            data = apply(data, move_item(file, "1", "list", index, other))
            wanted.insert(other, wanted.pop(index))
        elif action == "repeat" and len(wanted) < 12:
            data = apply(data, repeat_item(file, "1", "list", index, other))
            wanted.insert(index, wanted[other])
        elif action == "remove" and len(wanted) > 1:
            data = apply(data, remove_item(file, "1", "list", index))
            del wanted[index]
    assert data == document(wanted, newline, end)


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(0, 6), st.integers(0, 9))
def test_an_inserted_item_is_removed_again_to_the_old_bytes(values, index, value):
    """Also in an empty list."""
    data = document(map(str, values), "\n", "  after: 2\n").replace(b"list:\n  after", b"list: []\n  after")
    at = index % (len(values) + 1)
    there = apply(data, insert_item(UnityFile(data), "1", "list", at, value))
    assert UnityFile(there).read("1", "list") == [*map(str, values[:at]), str(value), *map(str, values[at:])]
    assert apply(there, remove_item(UnityFile(there), "1", "list", at)) == data
