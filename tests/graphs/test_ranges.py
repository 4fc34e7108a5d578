"""Version ranges: what they hold, and which are refused."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabric_dagster.graphs.ranges import parse_range


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (">=2021.3,<6001", "2021.3.45f1", True),
        (">=2021.3,<6001", "6000.0.23f1", True),
        (">=2021.3,<6001", "6001.0.0b1", False),
        (">=2021.3,<6001", "2021.2.19f1", False),
        (">=1,<2", "1.0.0", True),
        (">=1,<2", "1", True),
        ("==1.0", "1.0.0", True),
        (">1.0", "1", False),
        (">= 1.2 , != 1.3", "1.3.0", False),
        (">=1", "", False),
        (">=1", "one", False),
        (">=1", "1.2.3.4.5", False),
        (">=1", "99999999999999999999", False),
    ],
)
def test_a_range_holds_what_its_comparators_hold(text, version, expected):
    """Missing parts are zero, stages are left out, unreadable versions lie in no range."""
    assert expected == parse_range(text).holds(version)


@pytest.mark.parametrize(
    "text",
    [
        "", ",", ">=1,", "1.0", "~=1.0", ">=v1", ">=01", ">=1..2", ">=1.2.3.4.5", ">=1,>=1", ">=1,<1",
        ">2,<1", "==1,==2", "==1,!=1", "<0", ">=1 <2", "*", ">=1\n",
        ",".join(f">={n}" for n in range(9)), ">=9999999999",
    ],
)  # fmt: skip
def test_a_range_that_is_none_is_refused(text):
    """What cannot be read, says one thing twice or leaves no version is refused with a reason."""
    with pytest.raises(ValueError, match=r"."):
        parse_range(text)


comparators = st.tuples(
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), st.integers(0, 3), st.integers(0, 2)
)


@given(st.lists(comparators, min_size=1, max_size=4, unique=True))
def test_a_range_is_refused_as_empty_exactly_when_nothing_lies_in_it(parts):
    """The oracle tries every version of a grid that is finer than the bounds."""
    text = ",".join(f"{sign}{major}.{minor}" for sign, major, minor in parts)
    grid = [".".join(map(str, version)) for version in product(range(5), range(4), range(2), range(2))]
    held = [version for version in grid if _holds(parts, version)]
    if held:
        found = parse_range(text)
        assert held == [version for version in grid if found.holds(version)]
    else:
        with pytest.raises(ValueError, match="no version"):
            parse_range(text)


def _holds(parts, version):
    major, minor, *rest = map(int, version.split("."))
    number = major * 1000 + minor * 100 + rest[0] * 10 + rest[1]
    signs = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__}
    return all(signs.get(sign, int.__ne__)(number, m * 1000 + n * 100) for sign, m, n in parts)
