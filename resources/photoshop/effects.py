"""Layer effects as stored: which a layer has, how far they reach, and their values set.

Rules kept here: ``lfx2`` holds one effect of a kind, ``lmfx`` or ``lfxs`` beside it all of several; a value
is written into each block that holds the effect, so that no reader sees the old one. An effect that is in
the block but was never added (``present`` is off) is not there. The old ``lrFX`` block of Photoshop 5 is
left alone: Photoshop reads it only where no other is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.errors import OperationFailed
from resources.photoshop.blockdiff import layer_keys
from resources.photoshop.descriptors import plain
from resources.photoshop.layer_pixels import described, refuse_locked
from resources.photoshop.smartobjects import prove_rewritable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.layers import LayerRecord
    from resources.photoshop.psd.tagged import Block

BLOCKS: Final = (b"lfx2", b"lmfx", b"lfxs")
#: effect → its keys: alone, and as a list of several
KEYS: Final[dict[str, tuple[bytes, ...]]] = {
    "drop_shadow": (b"DrSh", b"dropShadowMulti"), "inner_shadow": (b"IrSh", b"innerShadowMulti"),
    "outer_glow": (b"OrGl",), "inner_glow": (b"IrGl",), "bevel": (b"ebbl",), "satin": (b"ChFX",),
    "color_overlay": (b"SoFi", b"solidFillMulti"), "gradient_overlay": (b"GrFl", b"gradientFillMulti"),
    "pattern_overlay": (b"patternFill",), "stroke": (b"FrFX", b"frameFXMulti"),
}  # fmt: skip
#: value → the descriptor keys that may hold it, the first that an effect has
VALUES: Final[dict[str, tuple[bytes, ...]]] = {
    "opacity": (b"Opct",), "size": (b"Sz  ", b"blur"), "distance": (b"Dstn",), "angle": (b"lagl", b"Angl"),
}  # fmt: skip
COLOUR: Final = (b"Rd  ", b"Grn ", b"Bl  ")
#: what only the 8-bit engine draws
SOFT: Final = frozenset({"drop_shadow", "inner_shadow", "outer_glow", "inner_glow", "bevel", "satin"})


def read_effects(record: LayerRecord) -> list[dict[str, Any]]:
    """Effects that the layer has, top first: name, enabled, and their values where they have them.

    Colours are ``#rrggbb``, opacity percent, size and distance pixels, angle degrees; empty where the block
    can't be read.
    """
    found: list[dict[str, Any]] = []
    blocks = [block for key in reversed(BLOCKS) if (block := record.block(key)) is not None]
    for block in blocks[:1]:
        try:
            data = _parsed(block)
            shown = bool(plain(data).get("masterFXSwitch", True))
            found = [_told(name, part, shown=shown) for name in KEYS for part in _parts(data, name)]
        except Exception:  # a hostile descriptor raises anything  # noqa: BLE001
            return []
    return found


def _told(name: str, part: Any, *, shown: bool) -> dict[str, Any]:  # noqa: ANN401 - a psd-tools descriptor
    values = plain(part)
    told: dict[str, Any] = {"effect": name, "enabled": shown and bool(values.get("enab", True))}
    for value, keys in VALUES.items():
        key = next((key for key in keys if key in part), None)
        if key is not None:
            told[value] = round(float(values[key.decode().strip()]), 3)
    colour = values.get("Clr")
    if isinstance(colour, dict) and {"Rd", "Grn", "Bl"} <= colour.keys():
        told["color"] = "#" + "".join(
            f"{round(min(255, max(0, float(colour[key])))):02x}" for key in ("Rd", "Grn", "Bl")
        )
    if name == "stroke":
        told["position"] = {"OutF": "outside", "InsF": "inside", "CtrF": "center"}.get(values.get("Styl"), "")
    return told


def reach(effects: list[dict[str, Any]]) -> tuple[int, int, int, int]:
    """How far the enabled effects draw beyond a layer's pixels: left, top, right, bottom."""
    sides = [0.0, 0.0, 0.0, 0.0]
    for effect in effects:
        if not effect["enabled"]:
            continue
        size = effect.get("size", 0.0)
        if effect["effect"] == "drop_shadow":
            angle, far = math.radians(effect.get("angle", 90.0)), effect.get("distance", 0.0)
            x, y = -far * math.cos(angle), far * math.sin(angle)
            found = (size - x, size - y, size + x, size + y)
        elif effect["effect"] == "outer_glow":
            found = (size, size, size, size)
        elif effect["effect"] == "stroke":
            out = {"outside": size, "center": size / 2}.get(effect.get("position", ""), 0.0)
            found = (out, out, out, out)
        elif effect["effect"] == "bevel":
            # Only outer kinds draw outside; the block does not tell here which one, so all are given room.
            found = (size, size, size, size)
        else:
            continue
        sides = [max(a, b) for a, b in zip(sides, found, strict=True)]
    left, top, right, bottom = (math.ceil(round(side, 6)) for side in sides)
    return left, top, right, bottom


def set_effect(
    document: Document, layer: Layer, name: str, index: int, wanted: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """Set values of the ``index``-th effect ``name``: what may differ now, and the effect as it is then.

    ``wanted``: enabled, color, opacity, size, distance, angle; absent ones stay. Raises the capability's
    failures; the document is untouched then.
    """
    refuse_locked(layer)
    edits: list[tuple[Block, Any]] = []
    hit = False
    for block in layer.record.blocks:
        if block.key not in BLOCKS:
            continue
        data = _readable(block, layer)
        prove_rewritable(block.data, data.tobytes(), "the layer's effects", described(layer))
        parts = _parts(data, name)
        if index < len(parts):
            _write(parts[index], name, wanted, layer)
            edits.append((block, data))
            hit = True
    if not hit:
        have = ", ".join(effect["effect"] for effect in read_effects(layer.record)) or "none"
        raise OperationFailed(
            "photoshop.effect_missing",
            f"the layer has no {name.replace('_', ' ')}" + (f" number {index}" if index else ""),
            where=described(layer),
            mend=f"add it in the template; effects that are there: {have}",
            value=name,
        )
    meant = []
    info = document.container.layer_info
    key = layer_keys(info.layers if info else [])[layer.index]
    for block, data in edits:
        block.replace(data.tobytes())
        meant.append(f"layer/{key}/block/{block.key.decode()}")
    now = [effect for effect in read_effects(layer.record) if effect["effect"] == name]
    # Facts go into digests, which hold no floats.
    told = {key: f"{value:g}" if isinstance(value, float) else value for key, value in now[index].items()}
    return meant, told


def _readable(block: Block, layer: Layer) -> Any:  # noqa: ANN401 - a psd-tools descriptor
    try:
        return _parsed(block)
    except Exception as fault:  # a hostile descriptor raises anything
        raise OperationFailed(
            "photoshop.not_rewritable", "the layer's effects can't be read", where=described(layer),
            mend="save the template again in Photoshop, then try again",
        ) from fault  # fmt: skip


def _parsed(block: Block) -> Any:  # noqa: ANN401 - as above
    from psd_tools.psd.descriptor import DescriptorBlock2

    return DescriptorBlock2.frombytes(block.data)


def _parts(data: Any, name: str) -> list[Any]:  # noqa: ANN401 - a psd-tools descriptor
    """The effects of one kind that were really added."""
    found = []
    for key in KEYS[name]:
        if key in data:
            part = data[key]
            found += [part] if hasattr(part, "classID") else list(part)
    return [part for part in found if b"present" not in part or bool(part[b"present"].value)]


def _write(part: Any, name: str, wanted: Mapping[str, Any], layer: Layer) -> None:  # noqa: ANN401 - as above
    def lacks(value: str) -> OperationFailed:
        return OperationFailed(
            "photoshop.effect_value",
            f"this {name.replace('_', ' ')} has no {value}",
            where=described(layer),
            mend="give only values that it has",
            value=value,
        )

    for value, given in wanted.items():
        if value == "enabled":
            if b"enab" not in part:
                raise lacks(value)
            part[b"enab"].value = bool(given)
        elif value == "color":
            colour = part.get(b"Clr ")
            if colour is None or any(key not in colour for key in COLOUR):
                raise lacks(value)
            for key, at in zip(COLOUR, (1, 3, 5), strict=True):
                colour[key].value = float(int(str(given)[at : at + 2], 16))
        else:
            found = next((key for key in VALUES[value] if key in part), None)
            if found is None:
                raise lacks(value)
            part[found].value = float(given)
            if value == "angle" and b"uglg" in part:
                # An angle of its own, no longer the document's global light.
                part[b"uglg"].value = False
