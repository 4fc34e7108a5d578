"""Patterns: common ones pass, those that could hang a reader do not."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabric_dagster.graphs.patterns import pattern_problem


@pytest.mark.parametrize(
    "pattern",
    [
        "[a-z][a-z0-9_]{2,39}", "[a-z]+(_[a-z0-9]+)*", "(?:foo|bar)_[0-9]{1,4}", r"#[0-9a-fA-F]{6}", "x?y*",
        r"[A-Z]{2,5}-[0-9]+", r"[^\]]+", "(ab){1,3}", r"\d{4}-\d{2}-\d{2}", "(?i:abc)[a-z]*", "a{,3}",
        r"\(x\)\|",
    ],
)  # fmt: skip
def test_a_common_pattern_is_accepted(pattern):
    """Slugs, lists, codes, colours and dates are patterns that one can write."""
    assert pattern_problem(pattern, 200) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "[", "a{3,1}", "*a", "(a+)+", "(a*)*", "(a|a)*", "(a|b)+", "((a+)b?)+", "(.*)*x", "([a-z]+_?)+",
        "(a?){30}",
        r"(a)\1", "(?P<x>a)(?P=x)", "a{5000}",
        "a{1,99999}", "a{99999999999999999999}", ".*.*.*.*x", "a" * 300,
        "a\tb",
        "(x+x+)+y", "(?=(a+)+)b", "(?:a+)+", "(_[a-z_]+)*", "(a)?(?(1)b|c)",
    ],
)  # fmt: skip
def test_a_pattern_that_is_none_or_could_hang_is_refused(pattern):
    """Bad syntax, repeated variation, references back and huge counts are refused with a mend."""
    problem = pattern_problem(pattern, 200)
    assert problem is not None
    assert all(problem)


pieces = st.sampled_from(
    ["a", "b", "[ab]", ".", "(a)", "(ab|a)", "(_[a]+)", "a", "|", "(a+)", "(a?b)", "^", "$"]
)
repeats = st.sampled_from(["", "", "", "*", "+", "?", "{2,9}", "{1,}", "*?", "{3}"])


@given(st.lists(st.tuples(pieces, repeats), min_size=1, max_size=5))
@settings(max_examples=400, deadline=None)
def test_an_accepted_pattern_matches_in_bounded_time(parts):
    """Whatever is accepted for forty characters answers within a second on values made to hurt it."""
    pattern = "".join(piece + repeat for piece, repeat in parts)
    if pattern_problem(pattern, 40) is not None:
        return
    compiled = re.compile(pattern)
    begun = time.process_time()
    for value in ("a" * 39 + "!", "ab" * 19 + "!", "_a" * 19 + "!", "_" + "a" * 38 + "!"):
        compiled.fullmatch(value)
    assert time.process_time() - begun < 2
