"""The trust root's versions: each is signed by an admin of the one before and recorded on the log.

Rules kept here:

* ``trust.pinned`` begins a log's chain with the version that was pinned there; each ``trust.rotated`` holds
  the next version in a DSSE envelope, signed with an admin key that was active in the one before. One event a
  version, on the stream ``trust``.
* A successor names the digest of the one before and takes nothing out: no identity, no key, and no end of a
  key. Keys are added and ended; that is all that a version can do.
* A file ``trust.json`` that is behind the log is followed to its newest version; one that is no version of
  the log's chain is refused.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

from fabric_dagster.digests import canonical, dsse_open, dsse_sign
from fabric_dagster.errors import CheckFailed, InvalidDocument, Refused
from fabric_dagster.governance.roles import require
from fabric_dagster.governance.trust import KeyEnd, TrustedIdentity, TrustedKey, TrustRoot, keyid_of
from fabric_dagster.spine.ports import TRUST_STREAM, NewEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabric_dagster.governance.trust import Role
    from fabric_dagster.spine.ports import Event, EventStore, Signer

PAYLOAD_TYPE = "application/vnd.fabric.trust-root.v1+json"
PINNED, ROTATED = "trust.pinned", "trust.rotated"
#: beyond every position
LAST = 2**53


def pinning(root: TrustRoot) -> NewEvent:
    """The event that begins the chain of a log with ``root``."""
    body = {"version": root.version, "digest": root.digest}
    return NewEvent(TRUST_STREAM, PINNED, body, f"trust.pinned:{root.digest}")


def with_key(root: TrustRoot, identity: str, public: bytes) -> TrustRoot:
    """The successor in which ``identity`` holds one more active key (32 raw bytes).

    Raises ``Refused`` (``keys.unknown_identity``, ``keys.taken``).
    """
    known = _identity(root, identity)
    keyid = keyid_of(public)
    if root.identity_of(keyid) is not None:
        raise Refused("keys.taken", "this key is pinned already", value=keyid, mend="make a new key")
    key = TrustedKey(keyid=keyid, public=base64.b64encode(public).decode())
    return _changed(root, {identity: (*known.keys, key)})


def without_key(
    root: TrustRoot,
    keyid: str,
    how: Literal["retired", "revoked"],
    reason: str,
    *,
    everything: bool = False,
) -> TrustRoot:
    """The successor in which the key has ended. A retired key may be revoked later; nothing comes back.

    Raises ``Refused`` (``keys.unknown``, ``keys.ended``, ``keys.last_admin``).
    """
    owner = root.identity_of(keyid)
    if owner is None:
        raise Refused("keys.unknown", "no such key is pinned", value=keyid, mend="see `fabric keys list`")
    before = root.ended(keyid)
    if before is not None and not (before.how == "retired" and how == "revoked"):
        raise Refused("keys.ended", f"the key was {before.how} already", value=keyid, mend="nothing to do")
    end = KeyEnd(how=how, version=_next(root)[0], reason=reason, everything=everything)
    if before is not None and not everything:
        # What it signed after it had retired never stood: the end stays where it was.
        end = end.model_copy(update={"version": before.version})
    keys = tuple(
        key.model_copy(update={"ended": end}) if key.keyid == keyid else key
        for key in root.identities[owner].keys
    )
    changed = _changed(root, {owner: keys})
    if not any(changed.active(key) for key in _admin_keys(changed)):
        raise Refused(
            "keys.last_admin",
            "no admin key would be left, and nobody could change the trust root again",
            value=keyid,
            mend="make another first: `fabric keys rotate admin`",
        )
    return changed


def _admin_keys(root: TrustRoot) -> list[str]:
    holders = (item for item in root.identities.values() if "admin" in item.roles)
    return [key.keyid for item in holders for key in item.keys]


def _identity(root: TrustRoot, name: str) -> TrustedIdentity:
    try:
        return root.identities[name]
    except KeyError:
        raise Refused(
            "keys.unknown_identity",
            "the trust root knows no such identity",
            value=name,
            mend=f"use one of: {', '.join(sorted(root.identities))}",
        ) from None


def _next(root: TrustRoot) -> tuple[int, str | None]:
    """Number and predecessor of the next version; changes to one that is not recorded yet go into it."""
    if root.version > 1 and root.version not in root.positions:
        return root.version, root.previous
    return root.version + 1, root.digest


def _changed(root: TrustRoot, keys: Mapping[str, tuple[TrustedKey, ...]]) -> TrustRoot:
    """The next version, with other keys."""
    version, previous = _next(root)
    identities = {
        name: item.model_copy(update={"keys": keys[name]}) if name in keys else item
        for name, item in root.identities.items()
    }
    body = {
        "schema": TrustRoot.SCHEMA,
        "version": version,
        "previous": previous,
        "identities": {name: item.body() for name, item in identities.items()},
    }
    return TrustRoot.model_validate(body).placed(root.positions)


def sign_root(root: TrustRoot, signer: Signer) -> dict[str, Any]:
    """The envelope in which a version travels."""
    return dsse_sign(PAYLOAD_TYPE, canonical(root.body()), signer.keyid, signer.sign)


def record(store: EventStore, signer: Signer, present: TrustRoot, following: TrustRoot) -> TrustRoot:
    """Record ``following`` as the version after ``present``; it, placed on the log.

    Raises ``Refused`` (``authority.*``, ``trust.not_successor``), ``Conflict`` where another was faster.
    """
    require(present, signer, "keys.rotate")
    envelope = sign_root(following, signer)
    succeed(present, envelope)
    body = {"version": following.version, "digest": following.digest, "envelope": envelope}
    expected = {TRUST_STREAM: len(present.positions)}
    new = [NewEvent(TRUST_STREAM, ROTATED, body)]
    if not present.positions:
        new.insert(0, pinning(present))
    stored = store.append(new, signer=signer, expected=expected)
    recorded = {int(event.body["version"]): event.position for event in stored}
    return following.placed({**present.positions, **recorded})


def succeed(present: TrustRoot, envelope: Mapping[str, Any]) -> TrustRoot:
    """The version in ``envelope``, if it is a lawful successor of ``present``.

    Raises ``Refused`` (``trust.not_successor``).
    """

    def verify(signature: bytes, message: bytes) -> bool:
        found = present.signed_by_role("admin", signature, message)
        return found is not None and present.active(found[1])

    try:
        following = TrustRoot.parse(dsse_open(envelope, PAYLOAD_TYPE, verify), "the new trust root")
    except (CheckFailed, InvalidDocument) as fault:
        raise _no_successor(fault.faults[0].what) from fault
    if (following.version, following.previous) != (present.version + 1, present.digest):
        raise _no_successor(f"it does not follow version {present.version}")
    for name, identity in present.identities.items():
        later = following.identities.get(name)
        if later is None or later.roles != identity.roles:
            raise _no_successor(f"it takes {name} away or changes its roles")
        kept = {key.keyid: key for key in later.keys}
        for key in identity.keys:
            there = kept.get(key.keyid)
            if there is None or (key.status == "revoked" and there.ended != key.ended):
                raise _no_successor(f"it takes back a key of {name} or the end of one")
            if key.status == "retired" and there.status == "active":
                raise _no_successor(f"it makes a retired key of {name} active again")
    return following


def _no_successor(why: str) -> Refused:
    return Refused(
        "trust.not_successor",
        f"the new trust root is refused: {why}",
        mend="let an admin of the present one sign the next version: `fabric keys rotate`",
    )


def followed(
    root: TrustRoot, read: Callable[[TrustRoot, int], Event | None], keeper: Role = "admin"
) -> TrustRoot:
    """The newest version on the log that ``root`` is a version of, with the place of every version.

    ``read`` gives the first event of the stream ``trust`` after a position, opened under a root. ``keeper``
    is the role of whoever keeps the log; what makes a version lawful is its envelope, always an admin's.
    Raises ``Refused``: ``trust.not_pinned`` where ``root`` is no version of the log's chain, or the chain was
    written by one who may not; ``trust.not_successor`` where a version does not follow the one before. A
    log without a chain (one that is just being made) takes the root as it is.
    """
    present = root
    chain: list[Event] = []
    positions: dict[int, int] = {}
    while (event := read(_open_ended(present, positions), max(positions.values(), default=0))) is not None:
        version, envelope = event.body.get("version"), event.body.get("envelope", {})
        # Whoever holds any pinned key can write anything here.
        if event.type not in {PINNED, ROTATED} or type(version) is not int or not isinstance(envelope, dict):
            raise _not_pinned(f"event {event.position} of its chain, by {event.actor}, is no version")
        if chain and version != max(positions) + 1:
            raise _not_pinned(f"version {version} does not follow in its chain")
        positions[version] = event.position
        chain.append(event)
        if version > root.version:
            present = succeed(present, envelope)
    placed = present.placed(positions)
    if any(
        keeper not in placed.roles(event.actor) or not placed.valid_at(event.keyid, event.position)
        for event in chain
    ):
        raise _not_pinned("its chain was written by one who may not")
    recorded = {event.body["version"]: event.body.get("digest") for event in chain}
    if chain and recorded.get(root.version) != root.digest:
        raise _not_pinned(f"version {root.version} of it is none that was recorded there")
    return placed


def _open_ended(root: TrustRoot, positions: Mapping[int, int]) -> TrustRoot:
    """``root`` while the chain itself is being read: a version that was not met yet may stand anywhere."""
    return root.placed(dict.fromkeys(range(1, root.version + 1), LAST) | dict(positions))


def _not_pinned(why: str) -> Refused:
    return Refused(
        "trust.not_pinned",
        f"the trust root is not the one of this log: {why}",
        mend="restore trust.json from a backup; find out who changed it first",
    )
