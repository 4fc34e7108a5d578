"""Fonts by their exact PostScript names: configured folders first, then the system's, then the built-in one.

Rules kept here: a font is what its own ``name`` table says, never its file's name; the first folder that
has it wins, files in the order of their names; an unreadable file is passed over; nothing is substituted.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES: Final = {".ttf", ".otf", ".ttc", ".otc"}
POSTSCRIPT_NAME: Final = 6
LARGEST: Final = 64 << 20
MOST_FILES: Final = 20_000
SHOWN: Final = 3


@dataclass(frozen=True)
class Font:
    """One face: its bytes, its number within a collection, and where it was found."""

    name: str
    data: bytes
    number: int
    #: the file's name (``built-in`` for the face that the program carries)
    source: str

    @cached_property
    def digest(self) -> str:
        """Digest of the file."""
        return digest_bytes(self.data)

    @cached_property
    def shaped(self) -> Any:  # noqa: ANN401 - a uharfbuzz font, which has no types
        """The HarfBuzz font, scaled to its own units."""
        import uharfbuzz as hb  # type: ignore[import-untyped]

        font = hb.Font(hb.Face(hb.Blob(self.data), self.number))
        font.scale = (self.units, self.units)
        return font

    @cached_property
    def units(self) -> int:
        """Units of the em square."""
        import uharfbuzz as hb

        return int(hb.Face(hb.Blob(self.data), self.number).upem)

    @cached_property
    def descent(self) -> float:
        """How far the font reaches below the baseline, in ems."""
        return abs(float(self.shaped.get_font_extents("ltr").descender)) / self.units

    @cached_property
    def ascent(self) -> float:
        """How far the font reaches above the baseline, in ems."""
        return float(self.shaped.get_font_extents("ltr").ascender) / self.units

    @cached_property
    def letter_height(self) -> float:
        """The height of ``d`` in ems: where the first line of a text box stands (measured, see docs)."""
        glyph = self.shaped.get_nominal_glyph(ord("d")) or self.shaped.get_nominal_glyph(ord("H"))
        extents = self.shaped.get_glyph_extents(glyph) if glyph else None
        return float(extents.y_bearing) / self.units if extents else self.ascent


class FontBook:
    """Where fonts are looked for."""

    def __init__(self, folders: Iterable[Path | str] = (), *, system: bool = True) -> None:
        self.folders = tuple(Path(folder) for folder in folders)
        self.system = system

    def find(self, name: str) -> Font:
        """The face ``name``; raises ``photoshop.font_missing`` with that very name and near ones."""
        for path, number in self._index.get(name, ()):
            try:
                data = path.read_bytes()
            except OSError:
                continue
            return Font(name, data, number, path.name)
        carried = _carried()
        if name == carried.name:
            return carried
        raise OperationFailed(
            "photoshop.font_missing",
            f"the font with the PostScript name {name!r} is not here",
            mend=f"put its file into the fonts folder{self._near(name)}",
            value=name,
        )

    def has(self, name: str) -> bool:
        """Whether the face is there."""
        return name in self._index or name == _carried().name

    @cached_property
    def _index(self) -> dict[str, list[tuple[Path, int]]]:
        found: dict[str, list[tuple[Path, int]]] = {}
        for folder in (*self.folders, *(system_folders() if self.system else ())):
            for path in _files(folder):
                for number, name in enumerate(_names(path)):
                    found.setdefault(name, []).append((path, number))
        return found

    def _near(self, name: str) -> str:
        import difflib

        close = difflib.get_close_matches(name, self._index, n=SHOWN, cutoff=0.6)
        return f"; near ones here: {', '.join(close)}" if close else ""


def system_folders() -> tuple[Path, ...]:
    """Where this operating system keeps its fonts."""
    home = Path.home()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("WINDIR", "C:\\Windows")) / "Fonts",
            home / "AppData/Local/Microsoft/Windows/Fonts",
        )
    if sys.platform == "darwin":
        return home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")
    return home / ".local/share/fonts", Path("/usr/local/share/fonts"), Path("/usr/share/fonts")


def _files(folder: Path) -> Iterator[Path]:
    """Font files under ``folder``, by name; nothing where it can't be read."""
    if not folder.is_dir():
        return
    count = 0
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > MOST_FILES:
                return
            path = Path(root) / name
            if path.suffix.lower() in SUFFIXES and path.is_file():
                yield path


def _names(path: Path) -> tuple[str, ...]:
    """The PostScript name of each face in a file; empty names for what can't be read."""
    try:
        known = path.stat()
    except OSError:
        return ()
    return _read_names(str(path), known.st_size, known.st_mtime_ns) if known.st_size <= LARGEST else ()


@lru_cache(maxsize=MOST_FILES)
def _read_names(path: str, size: int, changed: int) -> tuple[str, ...]:
    """Remembered by the file's size and time, since a warm worker asks again for each document."""
    _ = size, changed
    from fontTools.ttLib import (  # type: ignore[import-untyped]
        TTCollection,
        TTFont,
        TTLibError,
    )

    try:
        if Path(path).suffix.lower() in {".ttc", ".otc"}:
            with TTCollection(path, lazy=True) as collection:
                return tuple(_name_of(face) for face in collection.fonts)
        with TTFont(path, lazy=True) as face:
            return (_name_of(face),)
    except (TTLibError, OSError, ValueError, KeyError, AssertionError, IndexError, OverflowError):
        return ()


def _name_of(face: Any) -> str:  # noqa: ANN401 - a fontTools font, which has no types
    return str(face["name"].getDebugName(POSTSCRIPT_NAME) or "")


@lru_cache(maxsize=1)
def _carried() -> Font:
    """The face that comes with Pillow, on every system the same."""
    from fontTools.ttLib import TTFont
    from PIL import ImageFont

    # Only the fallback of builds without FreeType has no bytes; the pinned wheels are built with it.
    data = bytes(getattr(ImageFont.load_default(16), "font_bytes", b""))
    with TTFont(io.BytesIO(data), lazy=True) as face:
        return Font(_name_of(face), data, 0, "built-in")
