"""Other words into a layer's text blocks: ``TySh`` of the layer and ``Txt2`` of the document, both.

Photoshop is reported to prefer ``Txt2``, older readers know only ``TySh``. psdparse rewrites them, in a
document of the one layer without pixels; its answer is taken only if both blocks read back as the words.
"""

from __future__ import annotations

import copy
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from resources.photoshop import parsed
from resources.photoshop.psd.codec import encode
from resources.photoshop.psd.container import RAW, Container, Header, parse
from resources.photoshop.psd.layers import Channel, LayerInfo
from resources.photoshop.type.read import unreadable

if TYPE_CHECKING:
    from resources.photoshop.psd.layers import LayerRecord

TEXT, ENGINE = b"TySh", b"Txt2"
RGB, EIGHT = 3, 8


def write_words(container: Container, record: LayerRecord, text: str) -> bool:
    r"""Put ``text`` (lines by ``\n``) into both blocks, in place; whether the document has a ``Txt2``.

    Raises ``photoshop.text_unreadable`` where either does not read back as the words; nothing is changed
    then.
    """
    words = text.replace("\n", "\r")
    small = alone(container, record)
    opened = parsed.load(small.dump())
    if opened is None:
        raise unreadable("it can't be taken out of the document")
    try:
        opened.set_text(0, words)
    except (RuntimeError, ValueError, IndexError) as fault:
        raise unreadable("its words can't be replaced") from fault
    with tempfile.TemporaryDirectory(prefix="fabric-text-") as folder:
        path = Path(folder) / "text.psd"
        if not opened.save(str(path)):
            raise unreadable("its words can't be written")
        written = parse(path.read_bytes())
    info = written.layer_info
    block = info.layers[0].block(TEXT) if info and info.layers else None
    shared, kept = written.block(ENGINE), container.block(ENGINE)
    if block is None or (kept is None) != (shared is None):
        raise unreadable("its words can't be mirrored into the document's text engine data")
    _prove(written, words)
    own = record.block(TEXT)
    if own is None:
        raise unreadable("it holds only the text of Photoshop 5")
    own.replace(block.data)
    if kept is not None and shared is not None:
        kept.replace(shared.data)
    return kept is not None


def write_boxes(
    record: LayerRecord, box: tuple[float, float, float, float], ink: tuple[float, float, float, float]
) -> None:
    """Record the text's measure (``box``: advance widths and line heights) and the box of its ink.

    Readers take them for the layer's size in its own pixels. Left as they are where the block can't be
    written back unchanged: Photoshop measures again when it opens the text.
    """
    from psd_tools.psd.tagged_blocks import TypeToolObjectSetting

    block = record.block(TEXT)
    if block is None:
        return
    setting: Any = TypeToolObjectSetting.frombytes(block.data)
    if setting.tobytes().rstrip(b"\0") != block.data.rstrip(b"\0"):
        return
    for key, sides in ((b"bounds", box), (b"boundingBox", ink)):
        stored = setting.text_data.get(key)
        if stored is None:
            continue
        for side, value in zip((b"Left", b"Top ", b"Rght", b"Btom"), sides, strict=True):
            if side in stored:
                stored[side].value = float(value)
    block.replace(setting.tobytes())


def alone(container: Container, record: LayerRecord) -> Container:
    """A document of one pixel that holds the layer, without its picture, and the text engine's data."""
    layer = copy.copy(record)
    layer.top = layer.left = layer.bottom = layer.right = 0
    layer.channels = [Channel(number, b"\0\0") for number in (-1, 0, 1, 2)]
    layer.mask, layer.clipping = b"", 0
    layer.blocks = [copy.copy(item) for item in record.blocks if item.key in {TEXT, b"luni", b"lyid"}]
    shared = container.block(ENGINE)
    image = encode(_black(), RAW, 1)[2:]
    return Container(
        header=Header(container.header.version, 4, 1, 1, EIGHT, RGB), colour_data=b"", resources=[],
        resources_tail=b"", plain_layers=LayerInfo(-1, [layer], touched=True), global_mask=b"",
        blocks=[copy.copy(shared)] if shared is not None else [], section_tail=b"", compression=RAW,
        image=image,
    )  # fmt: skip


def _black() -> Any:  # noqa: ANN401 - an array
    import numpy as np

    return np.zeros((4, 1), np.uint8)


NOTHING: Final = "\r\0"


def _prove(written: Container, words: str) -> None:
    """Read both blocks with both readers."""
    from psd_tools.psd.tagged_blocks import TypeToolObjectSetting

    opened = parsed.load(written.dump())
    info = written.layer_info
    block = info.layers[0].block(TEXT) if info else None
    if opened is None or block is None:
        raise unreadable("its new words can't be read back")
    try:
        seen = [opened.layers[0].text["text"]]
        setting: Any = TypeToolObjectSetting.frombytes(block.data)
        seen.append(str(setting.text_data[b"Txt "].value))
        shared = opened.text_engine_texts()
        if shared is not None:
            seen.append(shared[opened.layer_text_index(0)])
    except (RuntimeError, KeyError, IndexError, TypeError, ValueError, struct.error) as fault:
        raise unreadable("its new words can't be read back") from fault
    if any(one.rstrip(NOTHING).replace("\n", "\r") != words.rstrip(NOTHING) for one in seen):
        raise unreadable("its new words do not read back")
