"""The ledger of what was asked of Photoshop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from resources.requests import RequestLedger, Words

if TYPE_CHECKING:
    from pathlib import Path

WORDS: Final = Words(
    application="Photoshop",
    uncertain="photoshop.uncertain",
    refused="photoshop.request_refused",
    status="fabric photoshop status",
    resolve="fabric photoshop resolve",
    payload_type="application/vnd.fabric.photoshop-resolution+json",
)


def photoshop_ledger(folder: Path) -> RequestLedger:
    """The ledger in ``folder``; it may not exist yet."""
    return RequestLedger(folder, WORDS)
