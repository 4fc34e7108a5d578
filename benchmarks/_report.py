"""What a benchmark hands back: figures as data, tables for people. Nothing here passes or fails.

Times on a shared machine wander, so variants are measured in turn within one run and compared pair by pair:
a ratio is the median of the rounds' own ratios, with the smallest, the quartiles and the largest beside it.
"""

from __future__ import annotations

import os
import platform
import statistics
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass
class Table:
    """Rows of text under a title."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def text(self) -> str:
        """The table in columns; the first is aligned left, the others right."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        shown = [
            "  ".join(
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, *(f"  {line}" for line in shown)])


@dataclass
class Report:
    """One benchmark's outcome."""

    name: str
    about: str
    #: everything that was measured, as JSON.
    figures: dict[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "benchmark": self.name,
            "about": self.about,
            "machine": machine(),
            "figures": self.figures,
            "notes": self.notes,
        }

    def text(self) -> str:
        """The form for people."""
        head = f"{self.name}: {self.about}"
        return "\n\n".join([head, *(table.text() for table in self.tables), *self.notes])


@dataclass(frozen=True)
class Spread:
    """A sample: median, quartiles, ends."""

    median: float
    lower: float
    upper: float
    least: float
    most: float
    count: int

    @classmethod
    def of(cls, sample: Iterable[float]) -> Spread:
        """The spread of ``sample``, which holds at least one value."""
        values = sorted(sample)
        if len(values) > 1:
            lower, _, upper = statistics.quantiles(values, n=4, method="inclusive")
        else:
            lower = upper = values[0]
        return cls(statistics.median(values), lower, upper, values[0], values[-1], len(values))

    def as_dict(self) -> dict[str, float]:
        """The JSON form, to four significant places."""
        return {key: float(f"{value:.4g}") for key, value in asdict(self).items()}

    def shown(self, digits: int = 2, unit: str = "") -> str:
        """``median (lower to upper)``."""
        return f"{self.median:.{digits}f}{unit} ({self.lower:.{digits}f} to {self.upper:.{digits}f})"


def ratios(mine: Sequence[float], base: Sequence[float]) -> Spread:
    """Round by round, ``mine`` over ``base``."""
    return Spread.of(a / b for a, b in zip(mine, base, strict=True))


def machine() -> dict[str, Any]:
    """What it ran on; the load says how far to trust single times."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": None if load is None else round(load, 2),
    }
