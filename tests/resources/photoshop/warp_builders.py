"""Bent smart objects: a custom mesh or a quilt in the placement, and the raster that it gives."""

from __future__ import annotations

import math

import numpy as np
from psd_tools.psd import descriptor as d
from psd_tools.psd.tagged_blocks import SmartObjectLayerData
from psd_tools.terminology import Unit

from resources.photoshop.document import build
from resources.photoshop.layer_pixels import write_picture
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.reproduction import original, placed_picture
from resources.photoshop.smartobjects import links, placement


def _floats(values):
    return d.UnitFloats(unit=Unit.Pixels, values=[float(v) for v in values])


def _rectangle(width: float, height: float):
    items = [(b"Top ", d.Double(0.0)), (b"Left", d.Double(0.0)), (b"Btom", d.Double(height)),
             (b"Rght", d.Double(width))]  # fmt: skip
    return d.Descriptor(name="\0", classID=b"classFloatRect", items=items)


def _warp(width: float, height: float, patches: int, kind: bytes):
    """A mesh of ``patches`` by ``patches``, pushed down in the middle."""
    count = 3 * patches + 1
    across, down = np.meshgrid(np.linspace(0, width, count), np.linspace(0, height, count))
    bent = down + height * 0.12 * np.sin(across / width * math.pi)
    mesh = d.ObjectArray(
        items_count=count * count, name="\0", classID=b"rationalPoint",
        items=[(b"Hrzn", _floats(across.ravel())), (b"Vrtc", _floats(bent.ravel()))],
    )  # fmt: skip
    items: list = [(b"meshPoints", mesh)]
    for key, side in ((b"quiltSliceX", width), (b"quiltSliceY", height)) if patches > 1 else ():
        cuts = _floats(np.linspace(0, side, patches + 1))
        slices = d.ObjectArray(items_count=patches + 1, name="\0", classID=key, items=[(key, cuts)])
        items.insert(0, (key, slices))
    inner = d.Descriptor(name="\0", classID=b"customEnvelopeWarp", items=items)
    told = [
        (b"warpStyle", d.Enumerated(typeID=b"warpStyle", enum=b"warpCustom")),
        (b"warpValue", d.Double(0.0)), (b"warpPerspective", d.Double(0.0)),
        (b"warpPerspectiveOther", d.Double(0.0)),
        (b"warpRotate", d.Enumerated(typeID=b"Ornt", enum=b"Hrzn")),
        (b"bounds", _rectangle(width, height)), (b"uOrder", d.Integer(4)), (b"vOrder", d.Integer(4)),
    ]  # fmt: skip
    if patches > 1:
        told += [(b"deformNumRows", d.Integer(count)), (b"deformNumCols", d.Integer(count))]
    return d.Descriptor(name="\0", classID=kind, items=[*told, (b"customEnvelopeWarp", inner)])


def with_warp(data: bytes, identifier: int, *, patches: int = 1) -> bytes:
    """The document with a smart object bent; its raster is drawn through the mesh."""
    container = parse(data)
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    block = record.block(b"SoLd")
    stored = SmartObjectLayerData.frombytes(block.data)
    size = stored.data[b"Sz  "]
    width, height = float(size[b"Wdth"].value), float(size[b"Hght"].value)
    key = b"warp" if patches == 1 else b"quiltWarp"
    stored.data[key] = _warp(width, height, patches, key)
    block.data = stored.tobytes()
    document = build(container)
    layer = next(layer for layer in document.walk() if layer.id == identifier)
    placed = placement(record)
    picture = original(links(container)[placed.uuid], document, Limits())
    write_picture(layer.record, *placed_picture(picture, placed), container.header)
    container.layer_info.touched = True
    return container.dump()
