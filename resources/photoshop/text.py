"""Set a text layer's words and draw it again: ``photoshop.set_text@1``.

Rules kept here: nothing is changed before the font is found, the words are shaped and they fit; the words
take the style of the first run and the first paragraph; the result says that it was redrawn headlessly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import Fault, OperationFailed
from resources.photoshop import parsed
from resources.photoshop.blockdiff import layer_keys
from resources.photoshop.layer_pixels import (
    described,
    pixel_blocks,
    refuse_locked,
    require_rgb,
    write_picture,
    wrong_kind,
)
from resources.photoshop.type.draw import draw
from resources.photoshop.type.layout import Laid, lay_out
from resources.photoshop.type.read import read_text, unreadable
from resources.photoshop.type.write import alone, write_boxes, write_words

if TYPE_CHECKING:
    from resources.photoshop.document import Document, Layer
    from resources.photoshop.psd.limits import Limits
    from resources.photoshop.type.fonts import FontBook
    from resources.photoshop.type.style import TextModel


def set_text(
    document: Document, layer: Layer, text: str, book: FontBook, limits: Limits, *, cut: bool
) -> tuple[list[str], dict[str, Any]]:
    """Put ``text`` into ``layer``: what may differ now, and facts. ``cut`` lets a frame cut lines off.

    Raises the capability's failures; the document is untouched then.
    """
    if layer.kind != "text":
        raise wrong_kind(layer, "a text layer")
    require_rgb(document)
    refuse_locked(layer, "pixels")
    try:
        model = model_of(document, layer).with_text(text)
        laid = lay_out(model, book)
        _refuse_overflow(laid, cut=cut)
        picture, left, top = draw(laid, model.transform, smooth=model.smooth, pixels=limits.pixels)
        mirrored = write_words(document.container, layer.record, text)
    except OperationFailed as error:
        raise OperationFailed.of(
            [Fault(f.code, f.what, f.where or described(layer), f.mend, f.value) for f in error.faults]
        ) from error
    header = document.container.header
    write_picture(layer.record, picture, left, top, header)
    write_boxes(layer.record, model.frame or laid.extent, _ink(layer, model))
    info = document.container.layer_info
    key = layer_keys(info.layers if info else [])[layer.index]
    meant = [*pixel_blocks(key), f"layer/{key}/block/TySh"]
    meant += ["global/Txt2"] if mirrored else []
    font = book.find(model.runs[0][1].font)
    bounds = dict(zip(("left", "top", "right", "bottom"), layer.bounds, strict=True))
    return meant, {
        "redrawn": "headless",
        "font": {"name": font.name, "file": font.source, "digest": font.digest},
        "bounds": bounds,
        "lines": laid.lines,
        "overflow": laid.cut,
        "text_engine_data": mirrored,
    }


def model_of(document: Document, layer: Layer) -> TextModel:
    """The text of a layer as it is; raises the reader's refusals."""
    opened = parsed.load(alone(document.container, layer.record).dump())
    if opened is None or not opened.layers:
        raise unreadable("the layer's text can't be opened")
    return read_text(opened.layers[0], layer.record)


def _refuse_overflow(laid: Laid, *, cut: bool) -> None:
    if laid.cut and not cut:
        raise OperationFailed(
            "photoshop.text_overflow",
            f"the layer's box holds {laid.lines - laid.cut} of {laid.lines} lines of this text",
            mend="shorten the text, or enlarge the layer's box in the template",
            value=str(laid.cut),
        )


def _ink(layer: Layer, model: TextModel) -> tuple[float, float, float, float]:
    """The layer's rectangle in the text's own pixels."""
    xx, xy, yx, yy, tx, ty = model.transform
    area = xx * yy - xy * yx
    if not area:
        return 0.0, 0.0, 0.0, 0.0
    left, top, right, bottom = layer.bounds
    corners = [(x - tx, y - ty) for x in (left, right) for y in (top, bottom)]
    across = [(yy * x - yx * y) / area for x, y in corners]
    down = [(xx * y - xy * x) / area for x, y in corners]
    return min(across), min(down), max(across), max(down)
