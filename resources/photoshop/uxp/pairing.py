"""Pairing: a token that is shown once, and two proofs of it that never carry it.

Rules kept here: the token is 32 random bytes and is not stored on our side; what is stored (owner-only)
is a hash that recognises the plugin's proof and the key of our own, as in SCRAM-SHA-256 (RFC 5802, RFC
7677; a random token needs no iterations). Neither side obeys the other before it has seen its proof, so that
a stranger on the port learns nothing and commands nobody. Comparison is in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from pydantic import Field, ValidationError

from fabric_dagster.contracts.base import Document
from fabric_dagster.errors import InvalidDocument, Refused, UsageFault
from resources.files.durable import write_durably
from resources.files.paths import is_link
from resources.keys import close_to_others, exposure, private_folder
from resources.photoshop.uxp.methods import PROTOCOL

if TYPE_CHECKING:
    from pathlib import Path

TOKEN_BYTES: Final = 32
FILE: Final = "pairing.json"
MOST_BYTES: Final = 4096
#: The plugin's manifest names exactly this address: UXP allows no other.
PORT: Final = 47823


class Pairing(Document):
    """``pairing.json``: what recognises the paired plugin. It holds no token."""

    SCHEMA: ClassVar[str] = "fabric.photoshop-pairing.v1"

    schema_: Literal["fabric.photoshop-pairing.v1"] = Field(alias="schema")
    stored_key: str = Field(pattern=r"^[0-9a-f]{64}$")
    server_key: str = Field(pattern=r"^[0-9a-f]{64}$")
    paired_at: str

    def session_of(self, words: bytes, proof: str) -> str | None:
        """The session's name where ``proof`` shows that the plugin knows the token, else ``None``."""
        mask = _mac(bytes.fromhex(self.stored_key), words)
        client = bytes(a ^ b for a, b in zip(bytes.fromhex(proof), mask, strict=True))
        if not hmac.compare_digest(hashlib.sha256(client).hexdigest(), self.stored_key):
            return None
        return hashlib.sha256(words + b"\n" + proof.encode()).hexdigest()[:32]

    def signature(self, words: bytes) -> str:
        """Our own proof."""
        return _mac(bytes.fromhex(self.server_key), words).hex()


def _mac(key: bytes, words: bytes) -> bytes:
    return hmac.digest(key, words, "sha256")


def pairing_of(token: str, now: str) -> Pairing:
    """What is stored of ``token`` (64 hex digits)."""
    raw = bytes.fromhex(token)
    stored = hashlib.sha256(_mac(raw, b"Client Key")).hexdigest()
    return Pairing(
        schema_="fabric.photoshop-pairing.v1",
        stored_key=stored,
        server_key=_mac(raw, b"Server Key").hex(),
        paired_at=now,
    )


def words_of(schema: str, ours: str, theirs: str) -> bytes:
    """What both proofs are about: protocol, schema and both nonces."""
    return f"{PROTOCOL}\n{schema}\n{ours}\n{theirs}".encode()


def proof_of(token: str, words: bytes) -> str:
    """The plugin's proof: for tests, and as the definition of what the plugin computes."""
    client = _mac(bytes.fromhex(token), b"Client Key")
    mask = _mac(hashlib.sha256(client).digest(), words)
    return bytes(a ^ b for a, b in zip(client, mask, strict=True)).hex()


def pair(folder: Path, now: str) -> str:
    """Draw a new token and store what recognises it; an older pairing ends. The token, to be shown once."""
    private_folder(folder)
    token = secrets.token_hex(TOKEN_BYTES)
    document = pairing_of(token, now).body()
    target = folder / FILE
    write_durably(target, (json.dumps(document, indent=2, sort_keys=True) + "\n").encode())
    close_to_others(target)
    return token


def load(folder: Path) -> Pairing:
    """The pairing in ``folder``.

    Raises ``UsageFault`` (``uxp.not_paired``), ``Refused`` (``uxp.pairing_exposed``) when others can read
    it, ``InvalidDocument`` (``uxp.pairing_broken``).
    """
    path = folder / FILE
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except OSError as fault:
        raise UsageFault(
            "uxp.not_paired", "no Photoshop plugin is paired with this home", where=str(path),
            mend="run `fabric photoshop pair` and give the plugin the token that it shows",
        ) from fault  # fmt: skip
    with open(handle, "rb") as reader:  # noqa: PTH123 - a descriptor, opened without following links
        found = os.fstat(reader.fileno())
        why = "is a link" if is_link(path.lstat()) else exposure(found)
        if why is not None:
            raise Refused(
                "uxp.pairing_exposed",
                f"the pairing {why}",
                where=str(path),
                mend="pair again with `fabric photoshop pair`",
            )
        data = reader.read(MOST_BYTES + 1)
    try:
        return Pairing.model_validate(json.loads(data))
    except (ValidationError, ValueError) as fault:
        raise InvalidDocument(
            "uxp.pairing_broken", "the pairing is damaged", where=str(path),
            mend="pair again with `fabric photoshop pair`",
        ) from fault  # fmt: skip
