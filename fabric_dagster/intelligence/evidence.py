"""Evidence: a sentence that stands, word for word, in an SOP of the cited digest.

Whitespace is folded, since texts are wrapped differently; nothing else is. Markdown's emphasis and line
marks are part of the text: quote what stands there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.contracts.expert_pack import Evidence


def folded(text: str) -> str:
    """``text`` with every run of whitespace as one space."""
    return " ".join(text.split())


def holds(evidence: Evidence, sops: Mapping[str, str]) -> bool:
    """Whether the quote stands in the cited text, at the borders of words."""
    text, quote = folded(sops.get(evidence.citation, "")), folded(evidence.quote)
    at = text.find(quote)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(quote) : at + len(quote) + 1]
        if not (_joined(before, quote[:1]) or _joined(quote[-1:], after)):
            return True
        at = text.find(quote, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Whether a border between two characters lies within a word."""
    return bool(left and right) and left.isalnum() and right.isalnum()
