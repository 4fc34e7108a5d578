"""GUIDs: where a ``.meta`` states its own, and which ones a person typed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

GUID = re.compile(rb"^guid: *([0-9a-fA-F]{32})\s*$", re.MULTILINE)
IMPORTER = re.compile(rb"^\w+:\r?$", re.MULTILINE)
#: the editor's own resources, the default ones and the built-in extra ones
BUILT_IN = re.compile(r"0{16}[0-9a-f]0{15}\Z")
FEW_DIGITS = 5
LONG_RUN = 8
NEAR = 28


def read_guid(data: bytes) -> str | None:
    """The GUID of a ``.meta``'s bytes."""
    match = GUID.search(data)
    return match[1].decode().lower() if match else None


def patterned(guid: str) -> bool:
    """Whether a GUID looks typed: few different digits, a long run, or digits that count up or down.

    32 random digits have fewer than six values once in 10^14, and such a run once in ten million.
    """
    if len(set(guid)) <= FEW_DIGITS:
        return True
    values = [int(digit, 16) for digit in guid]
    for step in (0, 1, -1):
        run = longest = 1
        for one, two in pairwise(values):
            run = run + 1 if (two - one) % 16 == step % 16 else 1
            longest = max(longest, run)
        if longest >= LONG_RUN:
            return True
    return False


def suspicious(guids: Iterable[str]) -> set[str]:
    """Those that are patterned, or neighbours that differ only at the end: counted up by hand."""
    ordered = sorted(guids)
    near = {guid for one, two in pairwise(ordered) if one[:NEAR] == two[:NEAR] for guid in (one, two)}
    return near | {guid for guid in ordered if patterned(guid)}
