"""A text layer's blocks as a ``TextModel``; what can't be drawn here is refused by name.

psdparse reads runs and paragraphs; the kind of text (point, frame, on a path), strokes and antialiasing it
does not tell: those come from the text engine's own data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.errors import OperationFailed
from resources.photoshop.type.style import ParagraphStyle, Style, TextModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resources.photoshop.psd.layers import LayerRecord

POINT, FRAME = 0, 1
UPRIGHT: Final = "horizontal"
NO_WARP: Final = "warpNone"
NO_ANTIALIAS: Final = 0
FOUR, SIX = 4, 6
#: no number of a text that can be drawn reaches this; what is no number does not stay below it
ABSURD: Final = 1e6


def engine_of(record: LayerRecord) -> Mapping[str, Any]:
    """The text engine's data of a layer as plain values; raises ``photoshop.text_unreadable``."""
    from psd_tools.psd.engine_data import EngineData
    from psd_tools.psd.tagged_blocks import TypeToolObjectSetting

    block = record.block(b"TySh")
    if block is None:
        raise unreadable("it holds only the text of Photoshop 5")
    try:
        setting = TypeToolObjectSetting.frombytes(block.data)
        found: Any = setting.text_data[b"EngineData"].value
        return dict(_plain(EngineData.frombytes(found) if isinstance(found, bytes) else found))
    except Exception as fault:  # a hostile descriptor raises anything
        raise unreadable("its text engine's data can't be read") from fault


def _plain(value: Any) -> Any:  # noqa: ANN401 - the engine's data hold anything
    from psd_tools.psd import engine_data

    if isinstance(value, engine_data.Dict):
        return {str(getattr(key, "value", key)): _plain(item) for key, item in value.items()}
    if isinstance(value, engine_data.List):
        return [_plain(item) for item in value]
    return getattr(value, "value", value)


def read_text(seen: Any, record: LayerRecord) -> TextModel:  # noqa: ANN401 - psdparse's layer
    """The model of a text layer; ``seen`` is psdparse's view of it.

    Raises ``photoshop.text_unreadable``, ``text_vertical``, ``text_warped``, ``text_on_path`` or
    ``text_style``.
    """
    try:
        text = seen.text
    except Exception as fault:  # its exceptions are of any kind
        raise unreadable("its runs can't be read") from fault
    if not text or not text.get("runs") or not text.get("transform"):
        raise unreadable("it has no runs")
    if text.get("orientation") != UPRIGHT:
        raise OperationFailed(
            "photoshop.text_vertical", "vertical text can't be drawn here", mend="set it horizontally"
        )
    warp = (text.get("warp") or {}).get("style", NO_WARP)
    if warp != NO_WARP:
        raise OperationFailed(
            "photoshop.text_warped", f"warped text ({warp}) can't be drawn here", mend="remove the warp"
        )
    engine = engine_of(record)
    body = str(text.get("text", "")).rstrip("\0").removesuffix("\r")
    try:
        model = _model(text, body, engine)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as fault:
        raise unreadable("its style holds what is no style") from fault
    numbers = [
        *model.transform, *(model.frame or ()),
        *(n for _, s in model.runs for n in (s.size, s.leading or 0, s.tracking, s.across, s.down, s.shift)),
        *(n for _, p in model.paragraphs for n in (p.auto_leading, p.before, p.after, p.start_indent)),
    ]  # fmt: skip
    if len(model.transform) != SIX or not all(abs(number) < ABSURD for number in numbers):
        raise unreadable("its sizes are absurd")
    return model


def _model(text: Mapping[str, Any], body: str, engine: Mapping[str, Any]) -> TextModel:
    return TextModel(
        text=body.replace("\r", "\n").replace("\x03", "\n"),
        runs=_runs(body, text["runs"], engine),
        paragraphs=_paragraphs(body, text.get("paragraphs") or ()),
        transform=tuple(float(value) for value in text["transform"]),  # type: ignore[arg-type]
        frame=_frame(engine),
        smooth=_dig(engine, "EngineDict", "AntiAlias", fallback=FOUR) != NO_ANTIALIAS,
    )


def unreadable(why: str) -> OperationFailed:
    """The refusal of text that can't be understood."""
    return OperationFailed(
        "photoshop.text_unreadable", f"this text can't be read: {why}", mend="set it once more in Photoshop"
    )


def _dig(value: Any, *keys: str | int, fallback: Any = None) -> Any:  # noqa: ANN401 - the engine's data
    for key in keys:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return fallback
    return value


def _frame(engine: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    """The frame of paragraph text in the layer's pixels, or ``None`` for point text."""
    shape = _dig(engine, "EngineDict", "Rendered", "Shapes", "Children", 0, fallback={})
    kind = _dig(shape, "ShapeType", fallback=_dig(shape, "Cookie", "Photoshop", "ShapeType", fallback=POINT))
    if kind == POINT:
        return None
    if kind != FRAME:
        raise OperationFailed(
            "photoshop.text_on_path", "text on a path can't be drawn here", mend="use point or paragraph text"
        )
    box = _dig(shape, "Cookie", "Photoshop", "BoxBounds", fallback=())
    if len(box) != FOUR:
        raise unreadable("its frame is missing")
    left, top, right, bottom = (float(side) for side in box)
    return left, top, right, bottom


def _runs(
    body: str, runs: Sequence[Mapping[str, Any]], engine: Mapping[str, Any]
) -> tuple[tuple[int, Style], ...]:
    found, at = [], 0
    units = body.encode("utf-16-le")
    for number, run in enumerate(runs):
        stored = _dig(engine, "EngineDict", "StyleRun", "RunArray", number, "StyleSheet", "StyleSheetData",
                      fallback={})  # fmt: skip
        length = _characters(units, at, int(run["length"]))
        at += int(run["length"])
        found.append((length, _style(run, stored)))
    return tuple(found)


def _characters(units: bytes, start: int, length: int) -> int:
    """How many characters a run of UTF-16 units has."""
    return len(units[2 * start : 2 * (start + length)].decode("utf-16-le", errors="replace"))


def _style(run: Mapping[str, Any], stored: Mapping[str, Any]) -> Style:
    if not run.get("font") or not run.get("size_px") or not run.get("color"):
        raise unreadable("a run has no font, size or colour")
    if stored.get("StrokeFlag") is True or stored.get("FillFlag") is False:
        raise OperationFailed(
            "photoshop.text_style", "outlined letters can't be drawn here", mend="use a plain fill"
        )
    colour = [float(value) for value in run["color"]]
    leading = run.get("leading")
    return Style(
        font=str(run["font"]), size=float(run["size_px"]),
        colour=(colour[0], colour[1], colour[2], colour[3] if len(colour) == FOUR else 1.0),
        leading=None if leading is None else float(leading), tracking=float(run.get("tracking") or 0),
        kerning=bool(run.get("auto_kerning", True)), ligatures=bool(run.get("ligatures", True)),
        across=float(run.get("horizontal_scale") or 1), down=float(run.get("vertical_scale") or 1),
        shift=float(run.get("baseline_shift") or 0), bold=stored.get("FauxBold") is True,
        italic=stored.get("FauxItalic") is True, underline=bool(run.get("underline")),
        strikethrough=bool(run.get("strikethrough")), caps=int(run.get("font_caps") or 0),
        script=int(run.get("font_baseline") or 0),
    )  # fmt: skip


def _paragraphs(body: str, sheets: Sequence[Mapping[str, Any]]) -> tuple[tuple[int, ParagraphStyle], ...]:
    found, at = [], 0
    units = body.encode("utf-16-le")
    for sheet in sheets:
        length = _characters(units, at, int(sheet["length"]))
        at += int(sheet["length"])
        made = ParagraphStyle(
            align=int(sheet.get("justification") or 0), auto_leading=float(sheet.get("auto_leading") or 1.2),
            first_indent=float(sheet.get("first_line_indent") or 0),
            start_indent=float(sheet.get("start_indent") or 0),
            end_indent=float(sheet.get("end_indent") or 0), before=float(sheet.get("space_before") or 0),
            after=float(sheet.get("space_after") or 0),
        )  # fmt: skip
        found.append((length, made))
    return tuple(found) or ((len(body), ParagraphStyle()),)
