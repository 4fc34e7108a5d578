"""``Packages/manifest.json``: one dependency more, spliced; nothing else of the file is written again.

Rules kept here: strict JSON with unique keys, or nothing is done; a BOM, line ends, indentation and whatever
stands behind stay. A project that has the dependency already is refused: it is somebody else's.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from fabric_dagster.errors import OperationFailed

PATH: Final = "Packages/manifest.json"
LOCK: Final = "Packages/packages-lock.json"
LARGEST: Final = 4 << 20
STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
OPENING: Final = re.compile(r'"dependencies"\s*:\s*\{')


def parsed(data: bytes, where: str) -> dict[str, Any]:
    """The object in ``data``; ``OperationFailed`` (``unity.manifest_damaged``) where it is no strict JSON."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise ValueError("a key stands twice in one object")
        return found

    if len(data) > LARGEST:
        raise _damaged(where, "it is too large")
    try:
        document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=pairs)
    except (ValueError, RecursionError) as fault:
        raise _damaged(where, f"it is no strict JSON: {fault}") from None
    if not isinstance(document, dict) or not isinstance(document.get("dependencies"), dict):
        raise _damaged(where, "it has no dependencies")
    return document


def _damaged(where: str, what: str) -> OperationFailed:
    return OperationFailed("unity.manifest_damaged", what, where=where, mend="mend it by hand")


def with_dependency(data: bytes, name: str, value: str) -> bytes:
    """``data`` with one dependency more, as the first; every other byte stays."""
    document = parsed(data, PATH)
    if name in document["dependencies"]:
        raise OperationFailed(
            "unity.package_present",
            "the project has this package already",
            where=PATH,
            value=name,
            mend="remove it, or restore what an earlier deployment left: `fabric unity restore`",
        )
    text = data.decode("utf-8")  # the BOM stays a character of it
    start = next(match.end() for match in OPENING.finditer(text) if _top_level(text, match.start()))
    entry = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
    space = re.compile(r"\s*").match(text, start)
    gap = space[0] if space else ""
    if document["dependencies"]:
        made = f"{text[:start]}{gap}{entry},{text[start:]}"
    else:
        newline = "\r\n" if "\r\n" in text else "\n"
        made = f"{text[:start]}{newline}    {entry}{newline}  {text[start + len(gap) :]}"
    after = parsed(made.encode(), PATH)
    if after.pop("dependencies") != {name: value, **document.pop("dependencies")} or after != document:
        raise OperationFailed(
            "unity.manifest_damaged", "the splice would change more than meant", where=PATH,
            mend="mend the manifest's form by hand",
        )  # fmt: skip
    return made.encode()


def without_dependency(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A copy of a parsed manifest or lock without ``name``."""
    left = {key: value for key, value in document["dependencies"].items() if key != name}
    return {**document, "dependencies": left}


def _top_level(text: str, at: int) -> bool:
    """Whether an offset lies in the outermost object and in no text."""
    before = STRING.sub("", text[:at])
    return '"' not in before and before.count("{") - before.count("}") == 1
