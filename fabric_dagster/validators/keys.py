"""The validator's own key: made once, read once by its program, never anywhere else.

Rules kept here:

* ``VALIDATOR_HOME/keys/validator.key`` is PKCS #8 PEM holding an Ed25519 key, readable by its owner only
  (the format of every key of the house); an exposed one is not used. Windows has no such modes: there
  ``icacls`` closes the folder when the key is made, and loading does not check.
* A key is never overwritten.
"""

from __future__ import annotations

import getpass
import os
import stat
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fabric_dagster.errors import OperationFailed, Refused, UsageFault
from fabric_dagster.governance.trust import keyid_of

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = "validator"
MAX_BYTES = 4096
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class ValidatorKey:
    """The signing identity (``fabric_dagster.spine.ports.Signer``)."""

    keyid: str
    #: 32 raw bytes
    public: bytes
    _key: Ed25519PrivateKey = field(repr=False)
    identity: str = IDENTITY

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature (64 bytes) of ``message``."""
        return self._key.sign(message)


def key_file(home: Path) -> Path:
    """Where the key lies."""
    return home / "keys" / f"{IDENTITY}.key"


def load_key(home: Path) -> ValidatorKey:
    """The key in ``home``.

    Raises ``UsageFault`` (``validator.no_key``), ``Refused`` (``validator.key_exposed``) or
    ``OperationFailed`` (``validator.key_unreadable``).
    """
    path = key_file(home)
    try:
        if path.is_symlink():
            raise _unreadable(path, "the key file is a link")
        with path.open("rb") as reader:
            mode = os.fstat(reader.fileno()).st_mode
            data = reader.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageFault(
            "validator.no_key",
            "the validator has no key here",
            where=str(path),
            mend="run `fabric init`, or `python -m fabric_dagster.validators keygen`",
        ) from None
    if os.name != "nt" and mode & OTHERS:
        raise Refused(
            "validator.key_exposed",
            f"the validator's key can be read or changed by others (mode {stat.S_IMODE(mode):04o})",
            where=str(path),
            mend="if nobody used it, run `chmod 600` on it; otherwise make a new key",
        )
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as fault:
        raise _unreadable(path, "the file is no private key") from fault
    if len(data) > MAX_BYTES or not isinstance(key, Ed25519PrivateKey):
        raise _unreadable(path, "the file is no Ed25519 key")
    return _of(key)


def make_key(home: Path) -> ValidatorKey:
    """Make the key of a new home; ``OperationFailed`` (``validator.key_exists``) if there is one."""
    path = key_file(home)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    if os.name == "nt":
        _close(path.parent)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except FileExistsError:
        raise OperationFailed(
            "validator.key_exists", "there is a key already", where=str(path), mend="keep it"
        ) from None
    with os.fdopen(handle, "wb") as writer:
        writer.write(pem)
        writer.flush()
        os.fsync(writer.fileno())
    return _of(key)


def _of(key: Ed25519PrivateKey) -> ValidatorKey:
    public = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return ValidatorKey(keyid_of(public), public, key)


def _close(folder: Path) -> None:
    command = ["icacls", str(folder), "/inheritance:r", "/grant:r", f"{getpass.getuser()}:(OI)(CI)F"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:  # noqa: S603 - fixed program
        raise OperationFailed(
            "validator.key_exposed",
            "icacls could not close the key folder to other users",
            where=str(folder),
            mend="use a folder on an NTFS drive that you own",
        )


def _unreadable(path: Path, what: str) -> OperationFailed:
    return OperationFailed(
        "validator.key_unreadable", what, where=str(path), mend="restore the key from a backup"
    )
