"""How much of a hostile file is read before it is refused."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one document.

    ``pixels`` bounds canvas and every layer's rectangle, ``total_pixels`` the sum over all channels;
    ``seconds`` and ``memory`` (bytes of address space beyond the worker's own) bound one request.
    """

    file_bytes: int = 2 << 30
    pixels: int = 200_000_000
    total_pixels: int = 3_000_000_000
    layers: int = 8_000
    nesting: int = 64
    seconds: float = 120.0
    memory: int = 6 << 30

    def as_dict(self) -> dict[str, float]:
        """The JSON form, for the worker."""
        return asdict(self)
