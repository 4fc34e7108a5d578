"""What the validator's program does with candidate graphs: review, keep, sign.

Rules kept here:

* Everything lies in the validator's own home: ``keys/validator.key``, ``trust.json`` (pinned by a person,
  then followed version by version), ``ledger/`` (its own signed log).
* A review is derived from the pack's bytes alone and kept on the log before anything is signed. A receipt is
  signed only for a review that the log holds; the same review always gives the same receipt.
* A validator whose key the pinned trust root does not have, or has ended, reviews and signs nothing.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fabric_dagster.contracts.qualification import Review
from fabric_dagster.digests import digest_bytes, dsse_open
from fabric_dagster.errors import CheckFailed, InvalidDocument, OperationFailed, UsageFault
from fabric_dagster.governance.receipts import sign_review
from fabric_dagster.governance.roles import require
from fabric_dagster.governance.rotation import PAYLOAD_TYPE, ROTATED, pinning, succeed
from fabric_dagster.governance.trust import MAX_BYTES, TrustRoot
from fabric_dagster.spine.ports import TRUST_STREAM, NewEvent
from fabric_dagster.validators.keys import load_key
from fabric_dagster.validators.review import examine
from resources.files.durable import flush_folder
from resources.ledger.store import SqlEventStore
from resources.pinned import opened_under

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fabric_dagster.validators.keys import ValidatorKey

WORKSPACE = "validator"
RECORDED, ISSUED = "review.recorded", "receipt.issued"
#: how a digest is told by its beginning
SHORTEST = 6


@dataclass(frozen=True, slots=True)
class Recorded:
    """A review on the validator's log."""

    digest: str
    review: Review
    #: digest of the receipt, where one was issued.
    receipt: str | None


class Desk:
    """The opened home of a validator; ``UsageFault`` (``validator.no_trust``, ``validator.no_key``)."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.key: ValidatorKey = load_key(home)
        self.store = opened_under(_pinned(home), self._open, keeper="validator")
        self.trust = self.store.trust
        if self.store.head()[0] == 0:
            self.store.append([pinning(self.trust)], signer=self.key)
            self.store.close()
            self.store = opened_under(self.trust, self._open, keeper="validator")
            self.trust = self.store.trust

    def _open(self, root: TrustRoot) -> SqlEventStore:
        folder = self.home / "ledger"
        folder.mkdir(mode=0o700, exist_ok=True)
        return SqlEventStore(f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}", WORKSPACE, root)

    def close(self) -> None:
        """Close the log."""
        self.store.close()

    def review(self, pack_folder: Path, reference: str, corpus: str | None = None) -> Recorded:
        """Derive the review of a candidate and keep it; ``CheckFailed`` (``review.failed``) if one fails."""
        require(self.trust, self.key, "graph.review")
        review = examine(pack_folder, reference, corpus)
        event = NewEvent(f"graph:{review.graph}", RECORDED, {"review": review.body()}, review.digest)
        self.store.append([event], signer=self.key)
        return Recorded(review.digest, review, None)

    def reviews(self) -> list[Recorded]:
        """Every review on the log, oldest first."""
        issued = {
            str(event.body["review"]): str(event.body["receipt"]) for event in self.store.read(types=[ISSUED])
        }
        found = []
        for event in self.store.read(types=[RECORDED]):
            try:
                review = Review.model_validate(event.body["review"])
            except (ValidationError, KeyError) as fault:
                raise _broken(event.position) from fault
            found.append(Recorded(review.digest, review, issued.get(review.digest)))
        return found

    def sign(self, wanted: str) -> dict[str, Any]:
        """The receipt of a review on the log: its digest (or the beginning of one), or the newest of a graph.

        Raises ``UsageFault`` (``review.unknown``).
        """
        require(self.trust, self.key, "graph.review")
        reviews = self.reviews()
        beginning = wanted.removeprefix("sha256:")
        found = [
            item for item in reviews if len(beginning) >= SHORTEST and item.digest[7:].startswith(beginning)
        ] or [item for item in reviews if item.review.reference == wanted][-1:]
        if len(found) != 1:
            raise UsageFault(
                "review.unknown",
                "the validator's log holds no such review" if not found else "several reviews begin so",
                value=wanted,
                mend="review the graph first: `fabric validator review GRAPH`",
            )
        (item,) = found
        envelope = sign_review(item.review, self.key)
        receipt = digest_bytes(_payload(envelope))
        body = {"review": item.digest, "receipt": receipt}
        stream = f"graph:{item.review.graph}"
        self.store.append([NewEvent(stream, ISSUED, body, f"receipt:{receipt}")], signer=self.key)
        return envelope

    def succeed(self, envelope: Mapping[str, Any]) -> TrustRoot:
        """Follow the trust root to the version in ``envelope``; ``Refused`` (``trust.not_successor``).

        A version that is followed already changes nothing; the pinned file follows the log, where whoever
        wrote there was killed before.
        """
        if any(
            event.body["envelope"] == envelope for event in self.store.read(TRUST_STREAM, types=[ROTATED])
        ):
            replace_root(self.home, self.trust)
            return self.trust
        following = succeed(self.trust, envelope)
        body = {"version": following.version, "digest": following.digest, "envelope": dict(envelope)}
        expected = {TRUST_STREAM: len(self.trust.positions)}
        self.store.append([NewEvent(TRUST_STREAM, ROTATED, body)], signer=self.key, expected=expected)
        replace_root(self.home, following)
        return following


def _payload(envelope: Mapping[str, Any]) -> bytes:
    import base64

    return base64.b64decode(envelope["payload"])


def _broken(position: int) -> CheckFailed:
    return CheckFailed(
        "review.broken",
        "an event of the validator's log holds no review",
        where=f"event {position}",
        mend="restore the validator's home from a backup",
    )


def _pinned(home: Path) -> TrustRoot:
    path = home / "trust.json"
    try:
        with path.open("rb") as reader:
            return TrustRoot.parse(reader.read(MAX_BYTES + 1), str(path))
    except FileNotFoundError:
        raise UsageFault(
            "validator.no_trust",
            "the validator has no trust root pinned",
            where=str(path),
            mend="`fabric validator trust FILE` pins the one that an admin hands over",
        ) from None


def pin_root(home: Path, root: TrustRoot) -> None:
    """Pin the first trust root of a validator's home; ``OperationFailed`` (``validator.pinned``) otherwise.

    This is the ceremony's act of trust: a person compared its digest with the one that the admin read out.
    """
    if (home / "trust.json").exists():
        raise OperationFailed(
            "validator.pinned",
            "a trust root is pinned here already",
            where=str(home / "trust.json"),
            mend="hand over the next version's envelope: `fabric keys export`",
        )
    replace_root(home, root)


def first_root(envelope: Mapping[str, Any]) -> TrustRoot:
    """The version in an envelope, for a home that has none pinned yet: an admin of that version signed it.

    That admin may be anybody's; only the person who compares the digest makes it the right one. Raises
    ``InvalidDocument`` (``trust.invalid``) and ``CheckFailed`` (``envelope.*``).
    """
    try:
        root = TrustRoot.parse(_payload(envelope), "the trust root in the envelope")
    except (KeyError, TypeError, ValueError) as fault:
        raise InvalidDocument("trust.invalid", "this envelope holds no trust root") from fault

    def verify(signature: bytes, message: bytes) -> bool:
        return root.signed_by_role("admin", signature, message) is not None

    dsse_open(envelope, PAYLOAD_TYPE, verify)
    return root


def replace_root(home: Path, root: TrustRoot) -> None:
    """Write the pinned file whole or not at all."""
    temporary = home / f".trust.{secrets.token_hex(4)}.tmp"
    try:
        with temporary.open("xb") as writer:
            writer.write(root.to_bytes())
            writer.flush()
            os.fsync(writer.fileno())
        temporary.replace(home / "trust.json")
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(home)


def read_trust(path: Path) -> TrustRoot | dict[str, Any]:
    """What a person hands over: a whole trust root, or the envelope of a version.

    Raises ``InvalidDocument`` (``trust.invalid``).
    """
    data = path.read_bytes()[: MAX_BYTES + 1]
    try:
        value = json.loads(data) if len(data) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidDocument("trust.invalid", "this is no trust root and no envelope", where=str(path))
    return value if "payloadType" in value else TrustRoot.parse(data, str(path))
