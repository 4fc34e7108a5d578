"""What the validator saw at a target whose commit has no known end: it looks by itself, then signs the event.

Rules kept here:

* Asked to sign, it reads the bytes that lie there now and signs only where the event says what it saw: all
  files as written, or all as before. It is told what would follow from either, and sees that this is so.
* It signs an observation, the checkpoint of the log that ends with it, and nothing else: no other type of
  event, nobody else's name, no other form.
* Nothing is written, finished or repaired here.
"""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.digests import digest_file, pae
from fabric_dagster.errors import CheckFailed
from fabric_dagster.spine.checkpoints import PAYLOAD_TYPE as CHECKPOINT
from fabric_dagster.spine.events import PAYLOAD_TYPE, decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.spine.ports import Event, Signer

TYPE = "reconciliation.observed"
#: (what stands there, was it being taken back?) → what follows.
DECISIONS: Mapping[tuple[str, bool], str] = {
    ("after", False): "adopted",
    ("before", False): "dismissed",
    ("after", True): "adopted",
    ("before", True): "compensated",
}
_HEAD = re.compile(rb"DSSEv1 [0-9]+ [!-~]+ [0-9]+ ")


def sign_observation(message: bytes, root: Path, signer: Signer, checkpoint: bytes | None = None) -> bytes:
    """The signature of ``signer`` under the event in ``message``, if it says what stands under ``root``.

    ``message`` is the event's pre-authentication encoding, as every signer gets it; with a ``checkpoint``,
    that is signed instead, if the log ends with the event. ``CheckFailed`` (``validator.no_observation``,
    ``validator.other_standing``) otherwise.
    """
    event = decode(_payload(PAYLOAD_TYPE, message))
    _observed(event, root, signer)
    if checkpoint is None:
        return signer.sign(message)
    end = json.loads(_payload(CHECKPOINT, checkpoint))
    place = (event.workspace, event.branch, event.position, event.digest)
    if tuple(end.get(name) for name in ("workspace", "branch", "position", "head")) != place:
        raise _refused("the checkpoint is not that of the observation")
    return signer.sign(checkpoint)


def _payload(kind: str, message: bytes) -> bytes:
    """What stands in a pre-authentication encoding of type ``kind``."""
    head = _HEAD.match(message)
    payload = message[head.end() :] if head else b""
    if pae(kind, payload) != message:
        raise _refused("this is no event, and no checkpoint")
    return payload


def _observed(event: Event, root: Path, signer: Signer) -> None:
    """See that ``event`` says what stands under ``root``."""
    if event.type != TYPE or (event.actor, event.keyid) != (signer.identity, signer.keyid):
        raise _refused("this is no observation of the validator's")
    try:
        said = event.body["standing"], event.body["decision"]
        account = event.body["account"]
        looked, compensating = Path(account["root"]), bool(account["compensating"])
        seen = standing(root, account["files"])
    except (KeyError, TypeError) as fault:
        raise _refused("the observation lacks what it is about") from fault
    if looked != root or "note" in account:
        raise _refused("the observation is of another place, or somebody's word")
    if said != (seen, DECISIONS.get((seen, compensating))):
        raise CheckFailed(
            "validator.other_standing",
            f"the validator finds the target {seen}, and was to sign that it is {said[0]} ({said[1]})",
            where=str(root),
            mend="look at it, then let an operator give an account of it",
        )


def standing(root: Path, files: list[dict[str, Any]]) -> str:
    """``after``, ``before``, ``partial`` or ``foreign``: how the files under ``root`` stand now."""
    found = {item["path"]: _digest(root, item["path"]) for item in files}
    after = [found[item["path"]] == item.get("after") for item in files]
    before = [found[item["path"]] == item.get("before") for item in files]
    if all(after):
        return "after"
    if all(before):
        return "before"
    known = all(one or other for one, other in zip(after, before, strict=True))
    return "partial" if known else "foreign"


def _digest(root: Path, path: str) -> str | None:
    """The digest of a regular file; ``None`` where there is none, and no digest's text for anything else."""
    inside = PurePosixPath(path)
    if inside.is_absolute() or ".." in inside.parts or ":" in path or "\\" in path:
        raise _refused("a path leads out of the target")
    file = root / inside
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return None
    return digest_file(file) if stat.S_ISREG(mode) else "no regular file"


def _refused(what: str) -> CheckFailed:
    return CheckFailed("validator.no_observation", f"the validator does not sign that: {what}")
