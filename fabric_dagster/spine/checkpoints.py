"""Signed heads, kept outside the store: how a cut tail is seen.

A chain proves what is in it, never that nothing was cut off its end. A checkpoint says "at this position
stood this digest", signed by whoever appended last; a log that ends before it, or has another digest there,
was cut or replaced.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabric_dagster.digests import canonical, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed

if TYPE_CHECKING:
    from fabric_dagster.spine.events import Trust
    from fabric_dagster.spine.ports import Signer

PAYLOAD_TYPE = "application/vnd.fabric.checkpoint.v1+json"
SCHEMA = "fabric.checkpoint.v1"
MAX_BYTES = 16 << 10


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of one log: ``position`` events, the last with digest ``head``."""

    workspace: str
    branch: str
    position: int
    head: str


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> bytes:
    """The file's bytes: a DSSE envelope in JSON."""
    body = {
        "schema": SCHEMA,
        "workspace": checkpoint.workspace,
        "branch": checkpoint.branch,
        "position": checkpoint.position,
        "head": checkpoint.head,
    }
    envelope = dsse_sign(PAYLOAD_TYPE, canonical(body), signer.keyid, signer.sign)
    return json.dumps(envelope).encode() + b"\n"


def open_checkpoint(data: bytes, trust: Trust, workspace: str, branch: str) -> Checkpoint:
    """The checkpoint in ``data``, of exactly this log; ``CheckFailed`` (``spine.checkpoint``) otherwise."""
    try:
        if len(data) > MAX_BYTES:
            raise _refused("it is too large")
        envelope: Any = json.loads(data)
        keyid = str(envelope["signatures"][0]["keyid"])
        payload = dsse_open(
            envelope,
            PAYLOAD_TYPE,
            lambda signature, message: (
                trust.identity_of(keyid) is not None and trust.verify(keyid, signature, message)
            ),
        )
        body = json.loads(payload)
        found = Checkpoint(body["workspace"], body["branch"], body["position"], body["head"])
        if body["schema"] != SCHEMA or (found.workspace, found.branch) != (workspace, branch):
            raise _refused("it belongs to another log")
        if type(found.position) is not int or not isinstance(found.head, str):
            raise _refused("it is malformed")
        if not trust.valid_at(keyid, found.position):
            raise _refused("a key that had ended before signed it")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as fault:
        raise _refused("it is no checkpoint") from fault
    except CheckFailed as fault:
        if fault.code == "spine.checkpoint":
            raise
        raise _refused("its signature does not verify with a trusted key") from fault
    return found


def _refused(what: str) -> CheckFailed:
    return CheckFailed(
        "spine.checkpoint",
        f"the checkpoint of the event log is refused: {what}",
        mend="find out why first; then move the file away and run `fabric spine verify`",
    )
