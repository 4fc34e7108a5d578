"""The document's ICC profile: assigned (numbers stay) or converted to (colours stay).

Rules kept here: what would not come out as Photoshop converts it is refused, not approximated: layers that
work on numbers (adjustments), patterns, gradients, effects and text; pixels convert with relative
colorimetric intent and black point compensation, 16 bits in floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fabric_dagster.errors import OperationFailed
from resources.photoshop import colour
from resources.photoshop.arranging import RGB, SOLID, keys_of
from resources.photoshop.effects import read_effects
from resources.photoshop.layer_pixels import described, read_pixels, require_rgb, write_pixels
from resources.photoshop.psd.container import Resource
from resources.photoshop.smartobjects import not_rewritable, prove_rewritable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.container import Container

    Result = tuple[list[str], dict[str, Any]]

ICC: Final = 1039
UNTAGGED: Final = 1041


def read_profile(wanted: str, data: bytes | None) -> bytes | None:
    """The profile that arguments name: ``srgb`` or ``none``, or a file (``wanted``) that holds ``data``.

    Raises ``photoshop.profile_broken`` or ``photoshop.profile_unsupported``.
    """
    if data is None:
        return None if wanted == "none" else colour.srgb()
    name, fault = colour.describe(data)
    if fault or data[36:40] != b"acsp":
        raise OperationFailed(
            "photoshop.profile_broken", "this is no ICC profile that can be read", where=wanted,
            mend="give an undamaged .icc file",
        )  # fmt: skip
    if data[16:20] != b"RGB ":
        raise OperationFailed(
            "photoshop.profile_unsupported", f"the profile {name!r} is not one for RGB", where=wanted,
            mend="give a profile for RGB", value=data[16:20].decode("latin-1").strip(),
        )  # fmt: skip
    return data


def assign_profile(document: Document, profile: bytes | None) -> Result:
    """Tag the document; not a sample changes."""
    if document.mode != "rgb":
        raise OperationFailed(
            "photoshop.unsupported_mode", f"profiles are assigned to RGB here, not {document.mode}",
            mend="assign it in Photoshop",
        )  # fmt: skip
    meant = _tag(document.container, profile)
    return meant, {"profile": _name(profile)}


def convert_profile(document: Document, profile: bytes) -> Result:
    """Convert every layer and tag the document; raises ``photoshop.conversion_unfaithful``."""
    require_rgb(document)
    source = document.icc
    if source is not None and colour.describe(source)[1]:
        raise OperationFailed(
            "photoshop.profile_broken", "the document's own profile can't be read",
            mend="assign a valid one first",
        )  # fmt: skip
    for layer in document.walk():
        _refuse(layer)
    meant: list[str] = []
    names, header = keys_of(document), document.container.header
    if not colour.same_space(source, profile):
        for layer in document.walk():
            key, record = names[layer.index], layer.record
            if layer.kind in {"fill", "shape"}:
                meant += _convert_solid(layer, key, source, profile)
            elif record.left < record.right and record.top < record.bottom:
                samples = read_pixels(record, header, described(layer))
                made = np.concatenate(
                    [converted(samples[..., :3], source, profile), samples[..., 3:]], axis=-1
                )
                write_pixels(record, made, record.left, record.top, header.version)
                meant += [f"layer/{key}/channel/{plane}" for plane in range(3)]
    meant += _tag(document.container, profile)
    return meant, {"profile": _name(profile), "from": _name(source)}


def converted(rgb: NDArray[Any], source: bytes | None, target: bytes | None) -> NDArray[Any]:
    """Native samples from one profile to another, at their depth."""
    rgb = np.ascontiguousarray(rgb)
    if rgb.dtype == np.uint8:
        return np.asarray(colour.convert(rgb, source, target, "the document"))
    fine = colour.convert((rgb / np.float32(65535)).astype(np.float32), source, target, "the document")
    return np.asarray(np.round(np.clip(fine, 0, 1) * 65535), np.uint16)


def _refuse(layer: Layer) -> None:
    why = ""
    if layer.kind == "adjustment":
        why = "an adjustment works on numbers and would look different"
    elif layer.kind == "text":
        why = "text keeps its colour as numbers"
    elif layer.kind in {"fill", "shape"} and layer.record.block(SOLID) is None:
        why = "a gradient or pattern can't be converted here"
    elif layer.record.block(b"vscg", b"vstk") is not None:
        why = "a shape's own fill and stroke can't be converted here"
    elif any(effect["enabled"] for effect in read_effects(layer.record)):
        why = "its effects keep their colours as numbers"
    if why:
        raise OperationFailed(
            "photoshop.conversion_unfaithful", why, where=described(layer),
            mend="convert the template in Photoshop",
        )  # fmt: skip


def _convert_solid(layer: Layer, key: str, source: bytes | None, profile: bytes) -> list[str]:
    from psd_tools.psd.descriptor import DescriptorBlock

    block = layer.record.block(SOLID)
    if block is None:
        return []
    try:
        data: Any = DescriptorBlock.frombytes(block.data)
        written = data.tobytes()
        stored = [float(data[b"Clr "][name].value) for name in RGB]
    except Exception as fault:  # a hostile descriptor raises anything
        raise not_rewritable("the layer's fill", described(layer)) from fault
    prove_rewritable(block.data, written, "the layer's fill", described(layer))
    tone = np.asarray(stored, np.float32).reshape(1, 1, 3) / 255
    made = colour.convert(tone, source, profile, "the document").reshape(-1) * 255
    for name, value in zip(RGB, made.tolist(), strict=True):
        data[b"Clr "][name].value = float(value)
    block.replace(data.tobytes())
    return [f"layer/{key}/block/SoCo"]


def _tag(container: Container, profile: bytes | None) -> list[str]:
    """Write or remove the profile, and the flag that says a document is untagged on purpose."""
    resource = container.resource(ICC)
    if (resource.data if resource else None) == profile:
        return []
    if resource is not None and profile is not None:
        resource.replace(profile)
        return [f"resource/{ICC}"]
    number, data = (ICC, profile) if profile is not None else (UNTAGGED, b"\1")
    made = Resource(b"8BIM", number, b"\0\0", b"")
    made.replace(data)
    container.resources = [item for item in container.resources if item.id not in {ICC, UNTAGGED}]
    container.resources.append(made)
    return [f"resource/{ICC}", f"resource/{UNTAGGED}"]


def _name(profile: bytes | None) -> str:
    return "untagged" if profile is None else colour.describe(profile)[0]
