"""Layer effects from nothing: the descriptor blocks that Photoshop writes for them."""

from __future__ import annotations

from psd_tools.psd import descriptor as d
from psd_tools.terminology import Unit

from resources.photoshop.psd.container import parse
from resources.photoshop.psd.tagged import Block

FLOATS = {b"lagl": Unit.Angle, b"Opct": Unit.Percent, b"Ckmt": Unit.Pixels, b"blur": Unit.Pixels,
          b"Dstn": Unit.Pixels, b"Sz  ": Unit.Pixels}  # fmt: skip


def colour(red: float, green: float, blue: float):
    """An RGB colour."""
    items = [(b"Rd  ", d.Double(red)), (b"Grn ", d.Double(green)), (b"Bl  ", d.Double(blue))]
    return d.Descriptor(name="\0", classID=b"RGBC", items=items)


def effect(kind: bytes, **values):
    """One effect; names are descriptor keys, numbers take their unit."""
    items = [(b"enab", d.Bool(value=values.pop("enab", True))), (b"present", d.Bool(value=True)),
             (b"Md  ", d.Enumerated(typeID=b"BlnM", enum=b"Nrml"))]  # fmt: skip
    for name, value in values.items():
        key = name.encode().ljust(4)
        if key in FLOATS:
            items.append((key, d.UnitFloat(unit=FLOATS[key], value=float(value))))
        elif isinstance(value, bool):
            items.append((key, d.Bool(value=value)))
        elif isinstance(value, bytes):
            items.append((key, d.Enumerated(typeID=key, enum=value)))
        else:
            items.append((key, value))
    return d.Descriptor(name="\0", classID=kind, items=items)


def shadow(size: float = 4, distance: float = 6, tone=(0, 0, 0), **more):
    """A drop shadow, straight down."""
    return effect(
        b"DrSh", Clr=colour(*tone), Opct=75, uglg=False, lagl=90, Dstn=distance, Ckmt=0, blur=size, **more
    )


def stroke(size: float = 5, tone=(255, 0, 0)):
    """A stroke outside of the shape."""
    return effect(b"FrFX", Styl=b"OutF", PntT=b"SClr", Opct=100, Sz=size, Clr=colour(*tone))


def with_effects(
    data: bytes, identifier: int, effects: dict[bytes, object], *, key: bytes = b"lfx2"
) -> bytes:
    """The document with a layer's effects block made of ``effects``; a list makes it one of several."""
    container = parse(data)
    record = next(layer for layer in container.layer_info.layers if layer.id == identifier)
    items = [(b"Scl ", d.UnitFloat(unit=Unit.Percent, value=100.0)), (b"masterFXSwitch", d.Bool(value=True))]
    items += [(k, d.List(v) if isinstance(v, list) else v) for k, v in effects.items()]
    made = d.DescriptorBlock2(version=0, data_version=16, name="\0", classID=b"null", items=items).tobytes()
    record.blocks.insert(0, Block(b"8BIM", key, made + bytes(-len(made) % 4)))
    container.layer_info.touched = True
    return container.dump()


def with_shadow(data: bytes, identifier: int, **values) -> bytes:
    """The document with a drop shadow on a layer."""
    return with_effects(data, identifier, {b"DrSh": shadow(**values)})
