"""Typed operations on copies of documents, in order, and the save that proves them.

Rules kept here: sources are read once and never written; a document is parsed again from its own bytes
before it is saved, compared block by block with its source, and refused if anything differs that no
operation named; nothing is written before every operation has succeeded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fabric_dagster.capabilities.photoshop_shared import PRESETS, ExportPreset
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import Fault, OperationFailed
from resources.photoshop.address import path_of, resolve
from resources.photoshop.blockdiff import diff, gate, layer_keys
from resources.photoshop.compose import composite, has_preview, refresh_previews
from resources.photoshop.document import Document, build
from resources.photoshop.export import export_png
from resources.photoshop.png import write_atomically
from resources.photoshop.psd.container import Container, parse
from resources.photoshop.psd.layers import HIDDEN_FLAG
from resources.photoshop.psd.limits import Limits
from resources.photoshop.replace import replace_contents
from resources.photoshop.text import set_text
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
    _bytes: bytes | None = None

    @property
    def document(self) -> Document:
        """The tree as it is now."""
        return build(self.container)

    def touched(self, meant: list[str], *, previews: bool) -> None:
        """Note an edit; layers' pixels and flags make the previews stale."""
        self.meant += meant
        info = self.container.layer_info
        if info is not None:
            info.touched = True
        self.stale = self.stale or previews
        self._bytes = None

    def data(self) -> bytes:
        """The bytes now, with previews that show the layers."""
        if self.stale and has_preview(self.container):
            picture = composite(self.container, self.container.dump())
            refresh_previews(self.container, picture.pixels)
            self.meant += PREVIEW_BLOCKS
        self.stale = False
        if self._bytes is None:
            self._bytes = self.container.dump() if self.meant else self.source
        return self._bytes


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
        try:
            return OPERATIONS[capability](self, number, args)
        except OperationFailed as error:
            raise OperationFailed.of(_placed(number, error)) from error

    def save(self, folder: Path) -> list[dict[str, Any]]:
        """Prove every copy against its source, then write copies and exports into ``folder``."""
        reports = []
        for copy in self.copies:
            data = copy.data()
            changes = diff(parse(copy.source, self.limits), parse(data, self.limits))
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


def _open(session: Session, _number: int, args: dict[str, Any]) -> dict[str, Any]:
    data = Path(args["source"]).read_bytes()
    session.copies.append(Copy(args["copy"], data, parse(data, session.limits), session.limits))
    header = session.current.container.header
    return {"width": header.width, "height": header.height, "source_digest": digest_bytes(data)}


def _replace(session: Session, number: int, args: dict[str, Any]) -> dict[str, Any]:
    copy = session.current
    document = copy.document
    layer = resolve(document, args["layer"])
    contents = Path(args["contents"])
    meant, facts = replace_contents(
        document,
        layer,
        contents.read_bytes(),
        args.get("contents_name") or contents.name,
        shared=args.get("scope") == "shared",
        uuid=session.allocations[f"smart_object_uuid_{number}"],
        limits=session.limits,
        unproven=args.get("unproven") == "allow",
    )
    copy.touched(meant, previews=True)
    return {"layer": path_of(layer), **facts}


def _visibility(session: Session, _number: int, args: dict[str, Any]) -> dict[str, Any]:
    copy = session.current
    layer = resolve(copy.document, args["layer"])
    if layer.visible != args["visible"]:
        layer.record.flags ^= HIDDEN_FLAG
        info = copy.container.layer_info
        names = layer_keys(info.layers) if info else []
        copy.touched([f"layer/{names[layer.index]}/look"], previews=True)
    return {"layer": path_of(layer), "visible": bool(args["visible"])}


def _text(session: Session, _number: int, args: dict[str, Any]) -> dict[str, Any]:
    copy = session.current
    document = copy.document
    layer = resolve(document, args["layer"])
    meant, facts = set_text(
        document, layer, args["text"], session.fonts, session.limits, cut=args.get("overflow") == "cut"
    )
    copy.touched(meant, previews=True)
    return {"layer": path_of(layer), **facts}


def _export(session: Session, _number: int, args: dict[str, Any]) -> dict[str, Any]:
    copy = session.current
    preset = preset_of(args.get("preset", "canvas"))
    data, document = copy.data(), copy.document
    layer = resolve(document, args["layer"]) if args.get("layer") else None
    png, facts = export_png(document, data, preset, layer)
    session.exports[args["out"]] = png
    return facts


def preset_of(given: str | dict[str, Any]) -> ExportPreset:
    """A preset by name or as an object; ``photoshop.preset_unknown`` lists what there is."""
    if not isinstance(given, str):
        return ExportPreset.model_validate(given)
    try:
        return PRESETS[given]
    except KeyError:
        raise OperationFailed(
            "photoshop.preset_unknown",
            "no built-in preset has this name",
            value=given,
            mend=f"use one of: {', '.join(PRESETS)}",
        ) from None


OPERATIONS: Final[dict[str, Callable[[Session, int, dict[str, Any]], dict[str, Any]]]] = {
    "photoshop.open_duplicate@1": _open,
    "photoshop.replace_smart_object@1": _replace,
    "photoshop.set_text@1": _text,
    "photoshop.set_visibility@1": _visibility,
    "photoshop.export_png@1": _export,
}
