"""Errors carry their faults: all at once, each once."""

from fabric_dagster.errors import Fault, InvalidDocument


def test_a_fault_found_twice_is_told_once():
    """Two operations that meet the same obstacle are one line; the order of finding stays."""
    first, second = Fault("a.b", "wrong", "x:1"), Fault("a.b", "wrong", "x:2")
    error = InvalidDocument.of([first, second, first])
    assert (first, second) == error.faults
    assert f"{first}\n{second}" == str(error)
