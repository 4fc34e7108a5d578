"""The table of operations: capability id to what it does to a session's document.

Each takes the session, the operation's number in the plan and its arguments (checked by the capability's
own model), and returns facts: integers, text and lists of them, fit for a digest. Paths in arguments have
been found by the caller (``provider.READS`` says which are paths).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.capabilities.photoshop_shared import PRESETS, ExportPreset
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import Fault, OperationFailed
from resources.photoshop import arranging, masks, profiles
from resources.photoshop.address import path_of, resolve, resolve_roles
from resources.photoshop.comps import apply_comp
from resources.photoshop.document import build
from resources.photoshop.edit import Copy, Session
from resources.photoshop.effects import set_effect
from resources.photoshop.export import export_png
from resources.photoshop.layer_pixels import wrong_kind
from resources.photoshop.psd.container import parse
from resources.photoshop.replace import replace_contents, resize_smart_object
from resources.photoshop.text import set_text

if TYPE_CHECKING:
    from resources.photoshop.document import Document, Layer

Args = dict[str, Any]
Facts = dict[str, Any]
#: what ``photoshop.set_effect@1`` may set
EFFECT_VALUES: Final = ("enabled", "color", "opacity", "size", "distance", "angle")


def _open(session: Session, _number: int, args: Args) -> Facts:
    data = Path(args["source"]).read_bytes()
    found = digest_bytes(data)
    if args.get("digest") not in {None, found}:
        raise OperationFailed(
            "photoshop.template_drift",
            f"the template is {found}, not the one that was certified",
            mend="certify the changed template, or put the old one back",
            value=args["digest"],
        )
    container = parse(data, session.limits)
    _refuse_drift(build(container), args.get("roles") or {})
    session.copies.append(Copy(args["copy"], data, container, session.limits))
    return {"width": container.header.width, "height": container.header.height, "source_digest": found}


def _refuse_drift(document: Document, roles: dict[str, Any]) -> None:
    """Every role that the template has no layer for any more, at once."""
    try:
        resolve_roles(document, roles)
    except OperationFailed as error:
        mend = "certify the changed template, or put the old one back"
        raise OperationFailed.of(
            [Fault("photoshop.template_drift", f.what, f.where, f"{mend}; {f.mend}", f.value)
             for f in error.faults]
        ) from error  # fmt: skip


def _replace(session: Session, number: int, args: Args) -> Facts:
    contents = Path(args["contents"])

    def change(document: Document, layer: Layer) -> tuple[list[str], Facts]:
        return replace_contents(
            document,
            layer,
            contents.read_bytes(),
            args.get("contents_name") or contents.name,
            shared=args.get("scope") == "shared",
            uuid=session.allocations[f"smart_object_uuid_{number}"],
            limits=session.limits,
            unproven=args.get("unproven") == "allow",
        )

    return _on_layer(session, args, change)


def _on_layer(
    session: Session, args: Args, change: Callable[[Document, Layer], tuple[list[str], Facts]]
) -> Facts:
    """Find the layer, change it, note what may differ; the facts name it."""
    copy = session.current
    document = copy.document
    layer = resolve(document, args["layer"])
    meant, facts = change(document, layer)
    if meant:
        copy.touched(meant, previews=True)
    return {"layer": path_of(layer), **facts}


def _text(session: Session, _number: int, args: Args) -> Facts:
    return _on_layer(
        session,
        args,
        lambda document, layer: set_text(
            document, layer, args["text"], session.fonts, session.limits, cut=args.get("overflow") == "cut"
        ),
    )


def _comp(session: Session, _number: int, args: Args) -> Facts:
    copy = session.current
    meant, facts = apply_comp(copy.document, args["comp"])
    if meant:
        copy.touched(meant, previews=True)
    return facts


def _effect(session: Session, _number: int, args: Args) -> Facts:
    wanted = {name: args[name] for name in EFFECT_VALUES if args.get(name) is not None}
    return _on_layer(
        session,
        args,
        lambda document, layer: set_effect(document, layer, args["effect"], args.get("index", 0), wanted),
    )


def _visibility(session: Session, _number: int, args: Args) -> Facts:
    shown = bool(args["visible"])
    return _on_layer(
        session, args, lambda document, layer: arranging.set_visibility(document, layer, visible=shown)
    )


def _fill(session: Session, _number: int, args: Args) -> Facts:
    keep = args.get("keep_transparency", True)
    return _on_layer(
        session, args, lambda document, layer: arranging.fill_layer(document, layer, args["color"], keep=keep)
    )


def _move(session: Session, _number: int, args: Args) -> Facts:
    return _on_layer(session, args, lambda document, layer: arranging.move_layer(document, layer, args))


def _align(session: Session, _number: int, args: Args) -> Facts:
    return _on_layer(session, args, lambda document, layer: arranging.align_layer(document, layer, args))


def _resize(session: Session, _number: int, args: Args) -> Facts:
    def change(document: Document, layer: Layer) -> tuple[list[str], Facts]:
        if layer.kind == "smart_object":
            return resize_smart_object(document, layer, args, session.limits)
        if layer.kind != "pixel":
            raise wrong_kind(layer, "a pixel layer or a smart object")
        return arranging.resize_pixels(document, layer, args, session.limits.pixels)

    return _on_layer(session, args, change)


def _mask(session: Session, _number: int, args: Args) -> Facts:
    return _on_layer(session, args, lambda document, layer: masks.edit_mask(document, layer, args))


def _new_mask(session: Session, _number: int, args: Args) -> Facts:
    path, at = Path(args["mask"]), (args.get("left", 0), args.get("top", 0))
    return _on_layer(
        session,
        args,
        lambda document, layer: masks.replace_mask(
            document, layer, path.read_bytes(), path.name, at, session.limits
        ),
    )


def _assign(session: Session, _number: int, args: Args) -> Facts:
    copy = session.current
    meant, facts = profiles.assign_profile(copy.document, _profile(args))
    if meant:
        copy.touched(meant, previews=False)
    return facts


def _convert(session: Session, _number: int, args: Args) -> Facts:
    copy = session.current
    wanted = _profile(args)
    if wanted is None:
        raise OperationFailed("photoshop.profile_unsupported", "nothing converts to no profile")
    meant, facts = profiles.convert_profile(copy.document, wanted)
    if meant:
        copy.touched(meant, previews=True)
    return facts


def _profile(args: Args) -> bytes | None:
    file = args.get("file")
    named = Path(file).name if file else args["profile"]
    return profiles.read_profile(named, Path(file).read_bytes() if file else None)


def _checkpoint(session: Session, _number: int, args: Args) -> Facts:
    copy, name = session.current, args["name"]
    if name in copy.checkpoints:
        raise OperationFailed(
            "photoshop.checkpoint_exists", "a checkpoint of this name was made already", value=name,
            mend="give every checkpoint a name of its own",
        )  # fmt: skip
    data = copy.data()
    copy.checkpoints[name] = (data, tuple(copy.meant))
    return {"checkpoint": name, "digest": digest_bytes(data)}


def _restore(session: Session, _number: int, args: Args) -> Facts:
    copy, name = session.current, args["name"]
    if name not in copy.checkpoints:
        have = ", ".join(copy.checkpoints)
        raise OperationFailed(
            "photoshop.checkpoint_missing", "the plan made no checkpoint of this name", value=name,
            mend=f"use one of: {have}" if have else "make it earlier in the plan",
        )  # fmt: skip
    found = digest_bytes(copy.checkpoints[name][0])
    if args.get("digest") not in {None, found}:
        raise OperationFailed(
            "photoshop.checkpoint_differs", f"the checkpoint's content is {found}", value=args["digest"],
            mend="give the digest that it has",
        )  # fmt: skip
    copy.restore(name)
    return {"checkpoint": name, "digest": found}


def _export(session: Session, _number: int, args: Args) -> Facts:
    copy = session.current
    preset = preset_of(args.get("preset", "canvas"))
    data, document = copy.data(), copy.document
    layer = resolve(document, args["layer"]) if args.get("layer") else None
    png, facts = export_png(document, data, preset, layer, copy.shown)
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


OPERATIONS: Final[dict[str, Callable[[Session, int, Args], Facts]]] = {
    "photoshop.align_layer@1": _align,
    "photoshop.apply_layer_comp@1": _comp,
    "photoshop.assign_profile@1": _assign,
    "photoshop.checkpoint@1": _checkpoint,
    "photoshop.convert_profile@1": _convert,
    "photoshop.edit_mask@1": _mask,
    "photoshop.export_png@1": _export,
    "photoshop.fill_layer@1": _fill,
    "photoshop.move_layer@1": _move,
    "photoshop.open_duplicate@1": _open,
    "photoshop.replace_mask@1": _new_mask,
    "photoshop.replace_smart_object@1": _replace,
    "photoshop.resize_layer@1": _resize,
    "photoshop.restore@1": _restore,
    "photoshop.set_effect@1": _effect,
    "photoshop.set_text@1": _text,
    "photoshop.set_visibility@1": _visibility,
}
