"""Layer comps from nothing: the document's list and each layer's states, as Photoshop keeps them."""

from __future__ import annotations

from psd_tools.psd import descriptor as d
from psd_tools.psd.tagged_blocks import MetadataSetting, MetadataSettings

from resources.photoshop.psd.container import Resource, parse
from resources.photoshop.psd.tagged import Block


def null(items):
    """A descriptor of no class."""
    return d.Descriptor(name="\0", classID=b"null", items=items)


def offset(x: int, y: int):
    """A place's difference."""
    return null([(b"Hrzn", d.Integer(x)), (b"Vrtc", d.Integer(y))])


def with_comps(
    data: bytes, comps: list[tuple[int, str, int]], states: dict[int, list[tuple[int, dict]]]
) -> bytes:
    """The document with comps (id, name, what they record) and layers' entries (comp id, what differs).

    A value is ``True`` or ``False`` for ``enab``, a pair for ``Ofst``, or a descriptor.
    """
    container = parse(data)
    listed = [
        null([(b"Nm  ", d.String(name + "\0")), (b"compID", d.Integer(number)),
              (b"capturedInfo", d.Integer(records))])
        for number, name, records in comps
    ]  # fmt: skip
    made = d.DescriptorBlock(
        version=16, name="\0", classID=b"CompList", items=[(b"list", d.List(listed))]
    ).tobytes()
    resource = Resource(b"8BIM", 1065, b"\0\0", b"")
    resource.replace(made)
    container.resources.append(resource)
    for layer in container.layer_info.layers:
        if layer.id not in states:
            continue
        entries = []
        for number, said in states[layer.id]:
            items = [(key, _value(value)) for key, value in said.items()]
            entries.append(null([*items, (b"compList", d.List([d.Integer(number)]))]))
        body = d.DescriptorBlock(
            version=16, name="\0", classID=b"null",
            items=[(b"LyrI", d.Integer(layer.id)), (b"layerSettings", d.List(entries))],
        )  # fmt: skip
        metadata = MetadataSettings([MetadataSetting(b"8BIM", b"cmls", False, body)]).tobytes()
        layer.blocks.append(Block(b"8BIM", b"shmd", metadata + bytes(-len(metadata) % 4)))
    container.layer_info.touched = True
    return container.dump()


def _value(value):
    if isinstance(value, bool):
        return d.Bool(value=value)
    return offset(*value) if isinstance(value, tuple) else value
