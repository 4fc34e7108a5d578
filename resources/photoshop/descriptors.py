"""Photoshop descriptors as plain data, for reading; edits go through psd-tools' own objects."""

from __future__ import annotations

from typing import Any


def plain(value: Any) -> Any:  # noqa: ANN401 - a descriptor holds anything
    """``value`` as dicts, lists, numbers and text. Keys are stripped of padding; NULs at ends go."""
    from psd_tools.psd import descriptor

    if hasattr(value, "classID") and hasattr(value, "items"):
        return {key.decode("latin-1").strip(): plain(item) for key, item in value.items()}
    if isinstance(value, descriptor.List):
        return [plain(item) for item in value]
    if isinstance(value, descriptor.UnitFloats):
        return list(value.values)
    if hasattr(value, "enum"):
        return bytes(value.enum).decode("latin-1").strip()
    inner = value.value if hasattr(value, "value") else value
    return inner.rstrip("\0") if isinstance(inner, str) else inner
