"""Key files: one Ed25519 key an identity, readable by its owner only.

Rules kept here:

* A key file is PKCS #8 PEM, ``IDENTITY.key``, mode 0600 in a folder of mode 0700. A key that others can read
  is not loaded. On Windows, where modes mean nothing, the folder's inherited permissions are removed and
  only the current user is granted access (``icacls``); loading does not check that there.
* A key is never overwritten and never leaves its ``Signer``.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import secrets
import stat
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from fabric_dagster.errors import OperationFailed, Refused, UsageFault
from fabric_dagster.governance.trust import keyid_of
from resources.files.durable import flush_folder, put_new
from resources.files.paths import is_link

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = re.compile(r"[a-z][a-z0-9_-]{0,39}")
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class KeySigner:
    """An identity that can sign (``fabric_dagster.spine.ports.Signer``)."""

    identity: str
    keyid: str
    public: bytes
    _key: Ed25519PrivateKey = field(repr=False)

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature (64 bytes) of ``message``."""
        return self._key.sign(message)

    def __reduce__(self) -> str:
        """Refuse to be pickled: a key does not travel."""
        msg = "a signer cannot be pickled"
        raise TypeError(msg)


def signer_of(identity: str, key: Ed25519PrivateKey) -> KeySigner:
    """A signer of ``identity`` over a key that is already in memory."""
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return KeySigner(identity, keyid_of(public), public, key)


def key_path(keys_folder: Path, identity: str) -> Path:
    """Where the key of ``identity`` lies; ``UsageFault`` for what is no identity's name."""
    if not IDENTITY.fullmatch(identity):
        raise UsageFault(
            "keys.bad_identity",
            "this is no identity's name",
            value=identity,
            mend="use small letters, digits, '-' and '_'",
        )
    return keys_folder / f"{identity}.key"


def private_folder(folder: Path) -> None:
    """Make ``folder`` (and its parents) if needed, and close it to everybody but its owner."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if is_link(folder.lstat()):
        raise OperationFailed(
            "keys.symlink", "the key folder is a link", where=str(folder), mend="use a real folder"
        )
    close_to_others(folder)


def close_to_others(path: Path) -> None:
    """Take everybody's but the owner's access away; on Windows by ``icacls``, which must succeed."""
    if os.name == "nt":
        rights = "(OI)(CI)F" if path.is_dir() else "F"
        done = subprocess.run(  # noqa: S603 - fixed program, our own path
            ["icacls", str(path), "/inheritance:r", "/grant:r", f"{getpass.getuser()}:{rights}"],  # noqa: S607
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise OperationFailed(
                "keys.not_private",
                "icacls could not close it to other users",
                where=str(path),
                mend="set FABRIC_HOME to a folder on an NTFS drive that you own",
            )
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & OTHERS:
        path.chmod(mode & ~OTHERS)


def generate_key(folder: Path, identity: str) -> KeySigner:
    """Make the key of ``identity`` in ``folder``; ``OperationFailed`` (``keys.exists``) if there is one."""
    target = key_path(folder, identity)
    private_folder(folder)
    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    temporary = folder / f".{identity}.{secrets.token_hex(8)}.tmp"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(handle, "wb") as writer:  # noqa: PTH123 - a descriptor, opened owner-only above
            writer.write(data)
            writer.flush()
            os.fsync(writer.fileno())
        put_new(temporary, target)
    except FileExistsError:
        raise OperationFailed(
            "keys.exists",
            "there is a key of this identity already",
            where=str(target),
            mend="keep it: a key is never overwritten",
        ) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    close_to_others(target)
    flush_folder(folder)
    return signer_of(identity, key)


def load_signer(keys_folder: Path, identity: str) -> KeySigner:
    """The signer of ``identity``.

    Raises ``UsageFault`` (``keys.missing``), ``Refused`` (``keys.exposed``) when others can read the key, and
    ``OperationFailed`` (``keys.unreadable``) when the file is no Ed25519 key.
    """
    path = key_path(keys_folder, identity)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        if is_link(path.lstat()):
            raise _unreadable(path, "the key file is a link")
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise UsageFault(
            "keys.missing",
            f"{identity} has no key here",
            where=str(path),
            mend="restore it from a backup, or make a new home with `fabric init`",
        ) from None
    with open(handle, "rb") as reader:  # noqa: PTH123 - a descriptor, opened without following links
        # The descriptor is asked, not the name: what is checked is what is read.
        found = os.fstat(reader.fileno())
        if (why := exposure(found)) is not None:
            raise Refused(
                "keys.exposed",
                f"the private key of {identity} {why}",
                where=str(path),
                mend=f"if nobody used it, run `chmod 600 {path.name}`; otherwise make a new key",
            )
        data = reader.read(MAX_BYTES + 1)
    try:
        if len(data) > MAX_BYTES:
            raise _unreadable(path, "the file is larger than a key")
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as fault:
        raise _unreadable(path, "the file is no private key") from fault
    if not isinstance(key, Ed25519PrivateKey):
        raise _unreadable(path, "the key is not an Ed25519 key")
    return signer_of(identity, key)


def exposure(found: os.stat_result) -> str | None:
    """Why a file with this ``stat`` is not its owner's alone, or ``None``; always ``None`` on Windows."""
    if os.name == "nt":
        return None
    if not stat.S_ISREG(found.st_mode):
        return "is no regular file"
    if found.st_mode & OTHERS:
        return f"can be read or changed by others (mode {stat.S_IMODE(found.st_mode):04o})"
    if found.st_uid not in {os.geteuid(), 0}:
        return "belongs to another user"
    return None


def _unreadable(path: Path, what: str) -> OperationFailed:
    return OperationFailed("keys.unreadable", what, where=str(path), mend="restore the key from a backup")
