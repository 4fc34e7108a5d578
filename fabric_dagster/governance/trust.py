"""``fabric.trust-root.v1``: which key is whose, and which roles it holds.

Rules kept here:

* A key is known by its digest (``keyid``); what an event or envelope says about its key is a hint, and only
  a key that is pinned here verifies anything.
* An identity may hold several keys. A key belongs to one identity, is never taken out again, and ends in one
  of two ways: *retired*, what it signed before still stands; *revoked*, what it signed before can still be
  read, and nothing that it signed lets anything execute any more.
* Where a key ended is a position on the log at hand: the place of the event that recorded the version of the
  trust root which ended it (``rotation.py``). Until that place is known, an ended key verifies nothing.
* The runtime's identity holds no other role: who executes never grants, judges or approves.
* Bytes in, verified object out: no files are read here.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, cast, get_args

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import Field, PrivateAttr, ValidationError, model_validator

from fabric_dagster.contracts.base import Contract, Digest, Document
from fabric_dagster.digests import digest_bytes
from fabric_dagster.documents import Source, complaints
from fabric_dagster.errors import InvalidDocument

Role = Literal[
    "runtime",
    "builder",
    "validator",
    "certifier",
    "publisher",
    "commissioner",
    "approver",
    "operator",
    "admin",
]
RUNTIME: Role = "runtime"
#: Every identity that ``fabric init`` makes, each with the role of its name.
IDENTITIES: tuple[Role, ...] = get_args(Role)
KEY_BYTES = 32
MAX_BYTES = 1 << 20


def keyid_of(public: bytes) -> str:
    """The name of an Ed25519 public key: the digest of its 32 raw bytes."""
    return digest_bytes(public)


@lru_cache(maxsize=256)
def _public_key(raw: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(raw)


class KeyEnd(Contract):
    """How, why and with which version of the trust root a key ended."""

    how: Literal["retired", "revoked"]
    version: int = Field(ge=2)
    reason: str = Field(min_length=1, max_length=300)
    #: of a revoked key: not even what it signed before its end verifies.
    everything: bool = False


class TrustedKey(Contract):
    """A pinned public key: 32 raw bytes in base64, under their digest; active until it is ended."""

    keyid: Digest
    public: str
    ended: KeyEnd | None = None

    @property
    def status(self) -> Literal["active", "retired", "revoked"]:
        """What the key is now."""
        return "active" if self.ended is None else self.ended.how

    @property
    def raw(self) -> bytes:
        """The 32 bytes of the key."""
        return base64.b64decode(self.public)

    @model_validator(mode="after")
    def _is_what_it_says(self) -> TrustedKey:
        try:
            raw = base64.b64decode(self.public, validate=True)
        except binascii.Error as fault:
            msg = "the public key is not base64"
            raise ValueError(msg) from fault
        if len(raw) != KEY_BYTES or keyid_of(raw) != self.keyid:
            msg = "the public key has not 32 bytes with the digest that keyid gives"
            raise ValueError(msg)
        return self


class TrustedIdentity(Contract):
    """What an identity may be and with which keys."""

    roles: tuple[Role, ...] = Field(min_length=1, strict=False)
    keys: tuple[TrustedKey, ...] = Field(min_length=1, strict=False)


class TrustRoot(Document):
    """The pinned document ``trust.json``."""

    SCHEMA: ClassVar[str] = "fabric.trust-root.v1"

    schema_: Literal["fabric.trust-root.v1"] = Field(alias="schema")
    version: int = Field(ge=1, le=100_000)
    #: digest of the version before; none for the first.
    previous: Digest | None = None
    identities: dict[str, TrustedIdentity]
    #: version → position of the event that recorded it, on the log that this root was opened for.
    _positions: Mapping[int, int] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _well_formed(self) -> TrustRoot:
        if (self.version == 1) != (self.previous is None):
            msg = "the first version names no version before it, and every later one does"
            raise ValueError(msg)
        for name, identity in self.identities.items():
            if RUNTIME in identity.roles and len(set(identity.roles)) > 1:
                msg = f"{name} is the runtime and holds another role: who executes grants nothing"
                raise ValueError(msg)
            if any(key.ended is not None and key.ended.version > self.version for key in identity.keys):
                msg = f"a key of {name} is ended by a version that is not there yet"
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _one_owner_a_key(self) -> TrustRoot:
        owners = [key.keyid for identity in self.identities.values() for key in identity.keys]
        if len(owners) != len(set(owners)):
            msg = "a key belongs to two identities, or stands twice"
            raise ValueError(msg)
        return self

    @property
    def positions(self) -> Mapping[int, int]:
        """Version → where it was recorded on the log at hand; empty for a root that was only read."""
        return self._positions

    def placed(self, positions: Mapping[int, int]) -> TrustRoot:
        """This root as it stands on a log."""
        root = self.model_copy()
        root._positions = dict(positions)  # noqa: SLF001 - of our own copy
        return root

    @cached_property
    def _owners(self) -> Mapping[str, tuple[str, bytes]]:
        return {
            key.keyid: (name, key.raw) for name, identity in self.identities.items() for key in identity.keys
        }

    @cached_property
    def _ends(self) -> Mapping[str, KeyEnd]:
        keys = (key for identity in self.identities.values() for key in identity.keys)
        return {key.keyid: key.ended for key in keys if key.ended is not None}

    def ended(self, keyid: str) -> KeyEnd | None:
        """How the key ended; ``None`` for one that is active, or unknown."""
        return self._ends.get(keyid)

    def active(self, keyid: str) -> bool:
        """Whether the key is pinned and may sign now."""
        return keyid in self._owners and keyid not in self._ends

    def revoked(self, keyid: str) -> bool:
        """Whether the key was revoked: nothing that it signed, whenever it was, grants anything now."""
        end = self._ends.get(keyid)
        return end is not None and end.how == "revoked"

    def valid_at(self, keyid: str, position: int) -> bool:
        """Whether the key could sign what stands at ``position`` of the log at hand."""
        end = self._ends.get(keyid)
        if end is None:
            return keyid in self._owners
        last = self._positions.get(end.version)
        return not end.everything and last is not None and position <= last

    def identity_of(self, keyid: str) -> str | None:
        """Whose key ``keyid`` is, or ``None`` for a key that is not pinned."""
        owner = self._owners.get(keyid)
        return None if owner is None else owner[0]

    def roles(self, identity: str) -> frozenset[Role]:
        """The roles of ``identity``; none for one that is unknown."""
        known = self.identities.get(identity)
        return frozenset(() if known is None else known.roles)

    def verify(self, who: str, signature: bytes, message: bytes) -> bool:
        """Whether the key ``who`` (or any key of the identity ``who``) signed ``message``."""
        return self.signed_by(who, signature, message) is not None

    def signed_by(self, who: str, signature: bytes, message: bytes) -> str | None:
        """The keyid among ``who``'s keys under which ``signature`` verifies, or ``None``."""
        if who in self._owners:
            candidates = [who]
        else:
            known = self.identities.get(who)
            candidates = [] if known is None else [key.keyid for key in known.keys]
        for keyid in candidates:
            try:
                _public_key(self._owners[keyid][1]).verify(signature, message)
            except (InvalidSignature, ValueError):
                continue
            return keyid
        return None

    def signed_by_role(self, role: Role, signature: bytes, message: bytes) -> tuple[str, str] | None:
        """(identity, keyid) of whoever holds ``role`` and signed ``message``, or ``None``.

        Ended keys count: whether such a signature still stands is for ``active`` or ``valid_at`` to say.
        """
        for name, identity in sorted(self.identities.items()):
            if role in identity.roles and (keyid := self.signed_by(name, signature, message)):
                return name, keyid
        return None

    def to_bytes(self) -> bytes:
        """The file's bytes: JSON for people, UTF-8, one line feed a line."""
        return (json.dumps(self.body(), indent=2, sort_keys=True) + "\n").encode()

    @classmethod
    def parse(cls, data: bytes, name: str) -> TrustRoot:
        """The trust root in ``data``; ``InvalidDocument`` (``trust.invalid``, ``document.*``) otherwise."""
        if len(data) > MAX_BYTES:
            raise InvalidDocument("trust.invalid", "the trust root is larger than 1 MiB", where=name)
        try:
            value = json.loads(data)
            return cls.model_validate(value)
        except ValidationError as fault:
            raise InvalidDocument.of(list(complaints(fault, Source(name, None, {})))) from None
        except (ValueError, RecursionError) as fault:
            raise InvalidDocument(
                "trust.invalid",
                "the trust root is no JSON document",
                where=name,
                mend="restore it from a backup",
            ) from fault

    @classmethod
    def of(cls, public_keys: Mapping[str, bytes], version: int = 1) -> TrustRoot:
        """A trust root in which every identity holds the role of its name and one key (32 raw bytes)."""
        identities: dict[str, Any] = {
            name: {
                "roles": [cast("Role", name)],
                "keys": [{"keyid": keyid_of(raw), "public": base64.b64encode(raw).decode()}],
            }
            for name, raw in public_keys.items()
        }
        return cls.model_validate({"schema": cls.SCHEMA, "version": version, "identities": identities})
