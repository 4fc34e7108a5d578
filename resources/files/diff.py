"""An exact unified diff of two versions of a file, for people: every changed byte of a text shows."""

from __future__ import annotations

from difflib import SequenceMatcher

CONTEXT = 3
NO_NEWLINE = "\\ No newline at end of file\n"


def unified(path: str, before: bytes | None, after: bytes | None) -> str:
    """``git``-like diff of one file; empty where nothing changed. ``None``: it is not there."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    head = f"--- {'a/' + path if before is not None else '/dev/null'}\n"
    head += f"+++ {'b/' + path if after is not None else '/dev/null'}\n"
    if old is None or new is None:
        sizes = f"{len(before or b'')} → {len(after or b'')} bytes"
        return head + f"Binary files differ ({sizes})\n"
    return head + _hunks(old, new)


def _lines(data: bytes | None) -> list[str] | None:
    """Lines with their ends; ``None`` for what is no UTF-8 text."""
    if data is None:
        return []
    if b"\0" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    *whole, last = text.split("\n")
    return [line + "\n" for line in whole] + ([last] if last else [])


def _hunks(old: list[str], new: list[str]) -> str:
    # Common ends are cut off first: the matcher's time grows with the square of what it compares.
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    first = max(start - CONTEXT, 0)
    rest = max(end - CONTEXT, 0)
    a, b = old[first : len(old) - rest], new[first : len(new) - rest]
    out: list[str] = []
    for group in SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(CONTEXT):
        (_, a1, _, b1, _), (_, _, a2, _, b2) = group[0], group[-1]
        out.append(f"@@ -{_range(a1 + first, a2 + first)} +{_range(b1 + first, b2 + first)} @@\n")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                out += [_marked(" ", line) for line in a[i1:i2]]
                continue
            out += [_marked("-", line) for line in a[i1:i2]]
            out += [_marked("+", line) for line in b[j1:j2]]
    return "".join(out)


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n{NO_NEWLINE}"
