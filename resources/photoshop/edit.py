"""Typed operations on copies of documents, in order, and the save that proves them.

Rules kept here: sources are read once and never written; a document is parsed again from its own bytes
before it is saved, compared block by block with its source, and refused if anything differs that no
operation named; nothing is written before every operation has succeeded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import Fault, OperationFailed
from resources.photoshop.blockdiff import blocks, changes_between, gate
from resources.photoshop.compose import Picture, composite, has_preview, refresh_previews
from resources.photoshop.document import Document, build
from resources.photoshop.png import write_atomically
from resources.photoshop.psd.container import Container, parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.type.fonts import FontBook

PREVIEW_BLOCKS: Final = ("merged_image", "resource/1036", "resource/1033")


@dataclass(slots=True)
class Copy:
    """One document that is edited: its source's bytes, its container, and what may differ."""

    path: str
    source: bytes
    container: Container
    limits: Limits
    meant: list[str] = field(default_factory=list)
    stale: bool = False
    #: name → bytes and what may differ in them
    checkpoints: dict[str, tuple[bytes, tuple[str, ...]]] = field(default_factory=dict)
    #: the source's blocks, as they were before any edit
    blocks: dict[str, bytes] = field(init=False, repr=False)
    _bytes: bytes | None = None
    _picture: Picture | None = None

    def __post_init__(self) -> None:
        """Remember the source's blocks."""
        self.blocks = blocks(self.container)

    @property
    def document(self) -> Document:
        """The tree as it is now."""
        return build(self.container)

    def touched(self, meant: list[str], *, previews: bool) -> None:
        """Note an edit; layers' pixels and flags make the previews stale."""
        self.meant += meant
        info = self.container.layer_info
        if info is not None and any(key.startswith("layer/") for key in meant):
            info.touched = True
        self.stale = self.stale or previews
        self._bytes = self._picture = None

    def data(self) -> bytes:
        """The bytes now, with previews that show the layers."""
        if self.stale and has_preview(self.container):
            picture = composite(self.container, self.container.dump())
            refresh_previews(self.container, picture.pixels)
            self._picture = picture
            self.meant += PREVIEW_BLOCKS
        self.stale = False
        if self._bytes is None:
            self._bytes = self.container.dump() if self.meant else self.source
        return self._bytes

    def shown(self) -> Picture:
        """What the document shows now: drawn once, for previews and exports alike."""
        data = self.data()
        if self._picture is None:
            self._picture = composite(self.container, data)
        return self._picture

    def restore(self, name: str) -> None:
        """Be what the checkpoint ``name`` remembers."""
        data, meant = self.checkpoints[name]
        self.container = parse(data, self.limits)
        self.meant, self.stale, self._bytes, self._picture = list(meant), False, data, None


class Session:
    """The documents of one plan while it is executed."""

    def __init__(self, limits: Limits, allocations: dict[str, str], fonts: FontBook | None = None) -> None:
        self.limits = limits
        self.allocations = allocations
        self.fonts = fonts or FontBook()
        self.copies: list[Copy] = []
        #: path in the delivery → bytes of exports
        self.exports: dict[str, bytes] = {}

    @property
    def current(self) -> Copy:
        """The document opened last."""
        if not self.copies:
            raise OperationFailed(
                "photoshop.no_document",
                "an operation comes before any document is open",
                mend="open a duplicate first",
            )
        return self.copies[-1]

    def run(self, number: int, capability: str, args: dict[str, Any]) -> dict[str, Any]:
        """One operation; its facts. Its failures name the operation."""
        from resources.photoshop.operations import OPERATIONS

        try:
            return OPERATIONS[capability](self, number, args)
        except OperationFailed as error:
            raise OperationFailed.of(_placed(number, error)) from error

    def save(self, folder: Path) -> list[dict[str, Any]]:
        """Prove every copy against its source, then write copies and exports into ``folder``."""
        reports = []
        for copy in self.copies:
            data = copy.data()
            changes = changes_between(copy.blocks, blocks(parse(data, self.limits)))
            gate(changes, copy.meant)
            reports.append(
                {
                    "document": copy.path,
                    "source_digest": digest_bytes(copy.source),
                    "digest": digest_bytes(data),
                    "changes": [change.as_dict() for change in changes],
                }
            )
        for path, data in [*((copy.path, copy.data()) for copy in self.copies), *self.exports.items()]:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, data)
        return reports


def _placed(number: int, error: OperationFailed) -> list[Fault]:
    place = f"operations[{number}]"
    return [
        Fault(f.code, f.what, f"{place}, {f.where}" if f.where else place, f.mend, f.value)
        for f in error.faults
    ]
