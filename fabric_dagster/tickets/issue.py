"""A Jira issue as its REST API returns it, reduced to what a ticket may come from.

Rules kept here:

* The bytes are hostile: size and depth are limited before a value is built; keys that stand twice, numbers
  that JSON does not have and text that is not UTF-8 are refused.
* v3 (description in ADF) and v2 (wiki markup) are told apart by the description's own type.
* Unknown fields are ignored: an issue holds hundreds, and none of them has authority.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from fabric_dagster.errors import Fault, InvalidDocument
from fabric_dagster.tickets.adf import adf_blocks
from fabric_dagster.tickets.blocks import Block
from fabric_dagster.tickets.wiki import wiki_blocks

MAX_BYTES = 4 << 20
MAX_DEPTH = 200
MAX_DIGITS = 20
KEY = re.compile(r"[A-Z][A-Z0-9_]{0,30}-[1-9][0-9]{0,9}")
#: possessive, so that a hostile string costs no memory for backtracking.
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue. ``name`` is the file it came from; ``blocks`` are the description's code blocks in order."""

    name: str
    key: str
    summary: str
    #: file names that Jira lists; evidence for people, since the files beside the issue decide.
    attachments: tuple[str, ...]
    blocks: tuple[Block, ...]
    #: the description's text outside of code blocks, for hints only.
    prose: str = ""


def read_issue(data: bytes, name: str) -> Issue:
    """The issue in ``data``; raises ``InvalidDocument`` with every fault of its shape."""
    document = _read_json(data, name)
    fields = document.get("fields") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(fields, dict):
        raise InvalidDocument(
            "ticket.not_an_issue",
            "this JSON is no Jira issue: it has no 'fields' object",
            where=name,
            mend="save the issue as GET /rest/api/3/issue/KEY returns it",
        )
    faults: list[Fault] = []
    key = document.get("key")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        faults.append(
            Fault(
                "ticket.bad_key",
                "'key' is no issue key",
                name,
                "an issue key looks like OFFER-101",
                None if key is None else str(key),
            )
        )
    summary = fields.get("summary")
    if summary is not None and not isinstance(summary, str):
        faults.append(Fault("ticket.not_an_issue", "'fields.summary' is no text", name, "", str(summary)))
    blocks, prose = _description(fields.get("description"), name, faults)
    attachments = _attachments(fields.get("attachment"), name, faults)
    if faults:
        raise InvalidDocument.of(faults)
    return Issue(name, str(key), _plain(summary), attachments, blocks, prose)


def _description(value: Any, name: str, faults: list[Fault]) -> tuple[tuple[Block, ...], str]:  # noqa: ANN401
    """Code blocks and prose of a description; its type says which markup it is."""
    if value is None:
        return (), ""
    if isinstance(value, str):
        return wiki_blocks(value)
    if isinstance(value, dict) and value.get("type") == "doc":
        try:
            return adf_blocks(value)
        except InvalidDocument as fault:
            faults.extend(Fault(f.code, f.what, name, f.mend, f.value) for f in fault.faults)
            return (), ""
    faults.append(
        Fault(
            "ticket.not_an_issue",
            "'fields.description' is neither wiki markup nor an Atlassian document",
            name,
            "save the issue as Jira's REST API returns it",
        )
    )
    return (), ""


def _attachments(value: Any, name: str, faults: list[Fault]) -> tuple[str, ...]:  # noqa: ANN401
    if value is None:
        return ()
    if not isinstance(value, list):
        faults.append(Fault("ticket.not_an_issue", "'fields.attachment' is no list", name))
        return ()
    named = (item.get("filename") for item in value if isinstance(item, dict))
    return tuple(_plain(item) for item in named if isinstance(item, str))


def _plain(text: str | None) -> str:
    """Text that can be encoded: lone surrogates, which JSON can spell, become U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text or "")


def _read_json(data: bytes, name: str) -> Any:  # noqa: ANN401 - any JSON value
    if len(data) > MAX_BYTES:
        raise InvalidDocument(
            "ticket.too_large",
            f"the issue has {len(data)} bytes; at most {MAX_BYTES} are read",
            where=name,
            mend="fetch it without comments and change log",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise InvalidDocument(
            "ticket.encoding",
            "the issue is not UTF-8",
            where=f"{name}:{line}",
            mend="save it as UTF-8",
            value=repr(data[fault.start : fault.start + 4]),
        ) from None
    if _depth(data) > MAX_DEPTH:
        raise InvalidDocument(
            "ticket.too_deep",
            f"the issue nests deeper than {MAX_DEPTH} levels",
            where=name,
            mend="no editor writes that; file the ticket again",
        )
    try:
        return json.loads(
            text,
            object_pairs_hook=lambda pairs: _mapping(pairs, name),
            parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else digits,
            parse_float=str,
            parse_constant=lambda word: _no_constant(word, name),
        )
    except json.JSONDecodeError as fault:
        raise InvalidDocument(
            "ticket.json",
            f"the issue is no JSON: {fault.msg}",
            where=f"{name}:{fault.lineno}",
            mend="save the issue as Jira's REST API returns it",
        ) from None


def _depth(data: bytes) -> int:
    """How deep brackets nest outside of strings, without building anything."""
    depth = deepest = 0
    for byte in _STRINGS.sub(b"", data):
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _mapping(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) == len(pairs):
        return built
    keys = [key for key, _ in pairs]
    twice = next(key for index, key in enumerate(keys) if key in keys[:index])
    raise InvalidDocument(
        "ticket.json_duplicate_key",
        "a key stands twice in one JSON object",
        where=name,
        mend="no REST API writes that; fetch the issue again",
        value=twice,
    )


def _no_constant(word: str, name: str) -> NoReturn:
    raise InvalidDocument("ticket.json", "JSON has no such number", where=name, value=word)
