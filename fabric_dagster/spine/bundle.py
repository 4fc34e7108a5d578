"""``fabric.spine-bundle.v1``: a whole log in one file, for a verifier that has none of our code.

One JSON document a line, UTF-8, each line ended by one line feed:

1. ``{"schema", "workspace", "branch", "events"}``: which log, and how many events follow;
2. ``{"trust": …}``: the trust root under which they were signed. It proves nothing by lying here: a verifier
   compares it with the one that it was given in another way;
3. one DSSE envelope an event, by position: its payload is the event's stored bytes;
4. ``{"checkpoint": …}``: the DSSE envelope of the signed head, so that a cut end is seen.

docs/spine.md says what a verifier must check.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import CheckFailed, FabricError, Fault, InvalidDocument
from fabric_dagster.spine.chain import CLAIMS, MAX_FAULTS, Stretch, compare, join, told
from fabric_dagster.spine.checkpoints import open_checkpoint
from fabric_dagster.spine.events import MAX_PAYLOAD, PAYLOAD_TYPE, decode
from fabric_dagster.spine.ports import SpineReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fabric_dagster.spine.events import Trust
    from fabric_dagster.spine.ports import Event

SCHEMA = "fabric.spine-bundle.v1"
#: An event in base64 within its envelope.
MAX_LINE = MAX_PAYLOAD * 2 + 4096
#: Lines before the first event.
HEADERS = 2


def lines(
    workspace: str,
    branch: str,
    count: int,
    trust: dict[str, Any],
    stored: Iterable[tuple[bytes, bytes]],
    checkpoint: bytes,
) -> Iterator[bytes]:
    """The bundle of ``count`` events, given as (payload, signature) in order, and their signed head."""
    yield _line({"schema": SCHEMA, "workspace": workspace, "branch": branch, "events": count})
    yield _line({"trust": trust})
    for payload, signature in stored:
        entry = {"keyid": decode(payload).keyid, "sig": base64.b64encode(signature).decode()}
        body = base64.b64encode(payload).decode()
        yield _line({"payloadType": PAYLOAD_TYPE, "payload": body, "signatures": [entry]})
    yield _line({"checkpoint": json.loads(checkpoint)})


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def trust_in(head: Iterable[bytes]) -> bytes:
    """The trust root that lies in a bundle, as JSON; ``InvalidDocument`` where there is none."""
    for number, line in enumerate(head, 1):
        document = _document(line, number)
        if number == HEADERS and isinstance(document.get("trust"), dict):
            return json.dumps(document["trust"]).encode()
        if number >= HEADERS:
            break
    raise _bad("it has no trust root", HEADERS)


def events_in(bundle: Iterable[bytes]) -> Iterator[Event]:
    """The events in a bundle, unproven; lines that hold none are passed over."""
    for line in bundle:
        try:
            yield decode(_envelope(json.loads(line))[0])
        except (ValueError, RecursionError, FabricError):
            continue


def verify_bundle(
    bundle: Iterable[bytes], trust: Trust, step: Callable[[int], None] = lambda _n: None
) -> SpineReport:
    """Prove every event in ``bundle`` and that it ends where its checkpoint says. Any doubt is a fault."""
    faults: list[Fault] = []
    stretch = Stretch(0, "")
    keys: set[str] = set()
    try:
        head, end = _read(bundle, trust, stretch, keys, step)
        if end is None:
            faults.append(Fault("spine.unanchored", "the bundle has no checkpoint: its end could be cut"))
        elif head["events"] != stretch.count:
            what = f"the bundle says {head['events']} events and has {stretch.count}"
            faults.append(Fault("spine.cut", what))
        else:
            checkpoint = open_checkpoint(json.dumps(end).encode(), trust, head["workspace"], head["branch"])
            faults += compare(checkpoint, "the bundle", 0, stretch.position, {stretch.position: stretch.head})
            if checkpoint.position != stretch.position:
                faults.append(Fault("spine.cut", "its checkpoint is not that of its last event"))
    except Exception as fault:  # noqa: BLE001 - any exception is a finding
        faults += told(fault)
    faults = [*join({}, [stretch]), *faults]
    return SpineReport(stretch.count, stretch.head, tuple(faults[:MAX_FAULTS]))


def _read(
    bundle: Iterable[bytes],
    trust: Trust,
    stretch: Stretch,
    keys: set[str],
    step: Callable[[int], None],
) -> tuple[dict[str, Any], Any]:
    head: dict[str, Any] = {}
    end: Any = None
    for number, line in enumerate(bundle, 1):
        document = _document(line, number)
        if number == 1:
            head = document
            if head.get("schema") != SCHEMA or head.keys() != {"schema", "workspace", "branch", "events"}:
                raise _bad("its first line is not that of a bundle", number)
        elif number == HEADERS:
            if document.keys() != {"trust"}:
                raise _bad("its second line is no trust root", number)
        elif end is not None:
            raise _bad("something follows its checkpoint", number)
        elif document.keys() == {"checkpoint"}:
            end = document["checkpoint"]
        else:
            _event(document, head, trust, stretch, keys)
            step(stretch.count)
        if len(stretch.faults) >= MAX_FAULTS:
            break
    if not head:
        raise _bad("it is empty", 1)
    return head, end


def _event(
    document: dict[str, Any],
    head: dict[str, Any],
    trust: Trust,
    stretch: Stretch,
    keys: set[str],
) -> None:
    at = stretch.position + 1
    try:
        payload, signature = _envelope(document)
        event = decode(payload)
    except FabricError as fault:
        stretch.count += 1
        stretch.position = at
        stretch.faults += told(fault, f"event {at}")
        return
    # In a bundle there is no column beside the bytes; what is claimed is the place and the log.
    claims = [getattr(event, name) for name in CLAIMS]
    claims[:3] = [head["workspace"], head["branch"], at]
    stretch.add(payload, signature, trust, tuple(claims), {})
    if event.idempotency_key is not None:
        if event.idempotency_key in keys:
            what = "its idempotency key was used before"
            stretch.faults.append(Fault("spine.key_twice", what, f"event {at}"))
        keys.add(event.idempotency_key)


def _envelope(document: Any) -> tuple[bytes, bytes]:  # noqa: ANN401 - any JSON value
    try:
        (entry,) = document["signatures"]
        if document["payloadType"] != PAYLOAD_TYPE:
            raise CheckFailed("spine.bytes", "its payload is of another type")
        payload = base64.b64decode(document["payload"], validate=True)
        return payload, base64.b64decode(entry["sig"], validate=True)
    except (KeyError, TypeError, ValueError) as fault:
        raise CheckFailed("spine.bytes", "it is no DSSE envelope with exactly one signature") from fault


def _document(line: bytes, number: int) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise _bad("a line is too long", number)
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise _bad("a line is no JSON", number) from fault
    if not isinstance(document, dict):
        raise _bad("a line is no JSON object", number)
    return document


def _bad(what: str, line: int) -> InvalidDocument:
    return InvalidDocument(
        "spine.bad_bundle",
        f"the bundle cannot be read: {what}",
        where=f"line {line}",
        mend="export it again with `fabric spine export`",
    )
