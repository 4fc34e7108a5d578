"""The rules of a block's values, one function a type of input field (``contracts/skill_graph.py``).

Nothing is coerced: a number where text is expected is refused with how to write it. Lengths count
characters after NFC. Patterns hold for the whole value.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from fabric_dagster.contracts.skill_graph import InputField
from fabric_dagster.errors import Fault
from fabric_dagster.tickets.characters import refused, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fabric_dagster.contracts.expert_pack import ExpertPack

SLUG = "[a-z][a-z0-9_]*"
#: (code, what, mend) of one complaint.
Complaint = tuple[str, str, str]


def complaints(value: Any, rule: InputField, pack: ExpertPack) -> Iterator[Complaint]:  # noqa: ANN401
    """What is wrong with ``value`` under ``rule``; files are looked at elsewhere."""
    if not isinstance(value, str):
        yield _wrong_type(value, rule)
        return
    for index, code, mend in refused(value):
        # Escapes of a quoted scalar can spell what the block's own characters may not hold.
        yield code, f"{title_of(value[index])} stands at character {index + 1} of the value", mend
        return
    yield from _RULES[rule.type](unicodedata.normalize("NFC", value), rule, pack)


def _wrong_type(value: Any, rule: InputField) -> Complaint:  # noqa: ANN401 - whatever YAML held
    kind = _KINDS.get(type(value), type(value).__name__)
    if value is None:
        return "ticket.wrong_type", "the value is missing", "write a value after the colon or remove the key"
    if isinstance(value, list | dict):
        return (
            "ticket.wrong_type",
            f"a {kind} stands where {_NAMES[rule.type]} is expected",
            "write one value",
        )
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return (
        "ticket.wrong_type",
        f"a {kind} stands where {_NAMES[rule.type]} is expected",
        f'if it is meant as text, quote it: "{shown[:40]}"',
    )


_KINDS = {bool: "truth value", int: "number", list: "list", dict: "mapping"}
_NAMES = {"slug": "a slug", "taxonomy_id": "a taxonomy id", "picture": "a path", "text": "text"}


def _slug(value: str, rule: InputField, _pack: ExpertPack) -> Iterator[Complaint]:
    pattern = rule.pattern or SLUG
    if not re.fullmatch(pattern, value) or not rule.min_length <= len(value) <= rule.max_length:
        yield (
            "ticket.bad_slug",
            f"it is no slug of the form {pattern}",
            "use lower-case letters, digits and _",
        )


def _taxonomy_id(value: str, _rule: InputField, pack: ExpertPack) -> Iterator[Complaint]:
    if value not in pack.taxonomy:
        known = ", ".join(pack.taxonomy)
        yield "ticket.unknown_category", f"pack {pack.name!r} has no such category", f"use one of: {known}"


def _text(value: str, rule: InputField, _pack: ExpertPack) -> Iterator[Complaint]:
    size = len(value)
    if not rule.min_length <= size <= rule.max_length:
        span = f"{rule.min_length} to {rule.max_length}"
        yield (
            "ticket.bad_length",
            f"it has {size} characters; {span} are allowed",
            "shorten it" if size else "",
        )
    elif size and not value.strip():
        yield "ticket.bad_length", "it holds nothing but spaces", "write what people shall read"
    if rule.pattern is not None and not re.fullmatch(rule.pattern, value):
        yield "ticket.bad_text", f"it does not have the form {rule.pattern}", ""


def _picture(value: str, _rule: InputField, _pack: ExpertPack) -> Iterator[Complaint]:
    if not value:
        yield "ticket.unsafe_path", "the path is empty", "write attachment:NAME"


_RULES: Mapping[str, Callable[[str, InputField, ExpertPack], Iterator[Complaint]]] = {
    "slug": _slug,
    "taxonomy_id": _taxonomy_id,
    "picture": _picture,
    "text": _text,
}


def key_faults(
    values: Mapping[str, Any],
    fields: Mapping[str, InputField],
    where: Callable[[str | None], str],
) -> Iterator[Fault]:
    """Keys that the graph does not know, and those that it needs."""
    for key, value in values.items():
        if key not in fields:
            near = difflib.get_close_matches(key.casefold(), fields, n=1)
            mend = f"did you mean {near[0]!r}?" if near else f"use only: {', '.join(fields)}"
            yield Fault("ticket.unknown_key", f"unknown key {key!r}", where(key), mend, str(value))
    for key, rule in fields.items():
        if rule.required and key not in values:
            mend = f"add '{key}: …' ({rule.description or rule.type})"
            yield Fault("ticket.missing_key", f"the key {key!r} is missing", where(None), mend)
