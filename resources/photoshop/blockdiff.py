"""What differs between two PSDs, block by block: the gate that every save passes.

A key names one block: ``header``, ``colour_data``, ``resource/1039``, ``layer/12/record``,
``layer/12/channel/-1``, ``layer/12/block/SoLd``, ``layer/12/mask``, ``layers/order``, ``global/lnk2``,
``global_mask``, ``merged_image``. A layer's id names it; layers without one are named by position
(``#3``). Repeated keys get a count (``global/Txt2~2``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import Fault, OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from resources.photoshop.psd.container import Container
    from resources.photoshop.psd.layers import LayerRecord


@dataclass(frozen=True, slots=True)
class BlockChange:
    """One block that is not the same: digests and sizes of both sides, ``None`` where it is absent."""

    key: str
    before: str | None
    after: str | None
    before_bytes: int
    after_bytes: int

    @property
    def kind(self) -> str:
        """``changed``, ``added`` or ``removed``."""
        return "added" if self.before is None else "removed" if self.after is None else "changed"

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "block": self.key,
            "change": self.kind,
            "before_bytes": self.before_bytes,
            "after_bytes": self.after_bytes,
        }


def blocks(container: Container) -> dict[str, bytes]:
    """Every block of a document by key. Together they are the whole file, lengths and padding aside."""
    found: dict[str, bytes] = {}

    def put(key: str, data: bytes) -> None:
        count = 1
        name = key
        while name in found:
            count += 1
            name = f"{key}~{count}"
        found[name] = data

    put("header", container.header.dump())
    put("colour_data", container.colour_data)
    for resource in container.resources:
        put(f"resource/{resource.id}", resource.signature + resource.name + resource.data)
    put("resources/tail", container.resources_tail)
    info = container.layer_info
    if info is not None:
        names = layer_keys(info.layers)
        put("layers/order", "\n".join(names).encode() + b"\n" + str(info.count < 0).encode())
        for name, layer in zip(names, info.layers, strict=True):
            _layer(name, layer, put)
    if container.global_mask is not None:
        put("global_mask", container.global_mask)
    for block in container.blocks:
        if block is not container.deep_block:
            put(f"global/{_shown(block.key)}", block.signature + block.data.rstrip(b"\0"))
    put("section/tail", container.section_tail)
    put("merged_image", container.compression.to_bytes(2, "big") + container.image)
    return found


def layer_keys(layers: Iterable[LayerRecord]) -> list[str]:
    """The name of each layer in block keys: its id, or ``#position``; repeated ids get a count."""
    seen: dict[str, int] = {}
    names = []
    for position, layer in enumerate(layers):
        name = f"#{position}" if layer.id is None else str(layer.id)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}~{seen[name]}")
    return names


def _layer(name: str, layer: LayerRecord, put: Any) -> None:  # noqa: ANN401 - a local function
    look = f"{layer.top} {layer.left} {layer.bottom} {layer.right}"
    put(f"layer/{name}/rectangle", look.encode())
    flags = bytes([layer.opacity, layer.clipping, layer.flags, layer.filler])
    put(f"layer/{name}/look", layer.signature + layer.blend + flags)
    put(f"layer/{name}/name", layer.name)
    put(f"layer/{name}/mask", layer.mask)
    put(f"layer/{name}/ranges", layer.ranges)
    for channel in layer.channels:
        put(f"layer/{name}/channel/{channel.id}", channel.data)
    for block in layer.blocks:
        put(f"layer/{name}/block/{_shown(block.key)}", block.signature + block.data)
    put(f"layer/{name}/tail", layer.tail)


def _shown(key: bytes) -> str:
    return key.decode("latin-1").strip()


def diff(before: Container, after: Container) -> list[BlockChange]:
    """Every block that differs, sorted by key."""
    return changes_between(blocks(before), blocks(after))


def changes_between(old: dict[str, bytes], new: dict[str, bytes]) -> list[BlockChange]:
    """``diff`` of what ``blocks`` gave."""
    changes = []
    for key in sorted(old.keys() | new.keys()):
        first, second = old.get(key), new.get(key)
        if first != second:
            changes.append(
                BlockChange(
                    key,
                    None if first is None else digest_bytes(first),
                    None if second is None else digest_bytes(second),
                    len(first or b""),
                    len(second or b""),
                )
            )
    return changes


def gate(changes: Iterable[BlockChange], meant: Iterable[str]) -> None:
    """Refuse the save if a block changed that no operation named (``meant`` are glob patterns).

    Raises ``photoshop.unexpected_change`` with every such block.
    """
    patterns = list(meant)
    stray = [change for change in changes if not any(fnmatchcase(change.key, p) for p in patterns)]
    if stray:
        mend = "nothing was written; report this with the template"
        what = "an edit would change a block that it must not touch"
        raise OperationFailed.of(
            [Fault("photoshop.unexpected_change", f"{what} ({c.kind})", c.key, mend) for c in stray]
        )
