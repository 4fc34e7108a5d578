"""Rotating and revoking keys of a home: the trust root's next version, and the files that follow it.

Rules kept here:

* The log comes first: a version is recorded there, then the files follow. Interrupted in between, ``finish``
  brings the files to where the log is; every ``fabric keys`` command begins with it.
* A new key lies as ``IDENTITY.next.key`` until the log pins it; the old one is kept under its own name, since
  a key file is never overwritten.
* A validator with a home of its own is not written to from here: it follows by the envelope that an admin
  hands over. The one in this home's own folder is told through its program.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import Refused, UsageFault
from fabric_dagster.governance.rotation import ROTATED, record, with_key, without_key
from fabric_dagster.governance.trust import KEY_BYTES, TrustRoot
from fabric_dagster.spine.ports import TRUST_STREAM
from resources.keys import generate_key, key_path, load_signer
from resources.reviewer.client import ask
from resources.reviewer.desk import replace_root
from resources.setup import keys_folder

if TYPE_CHECKING:
    from fabric_dagster.spine.ports import EventStore, Signer
    from resources.home import Home

NEXT = "next"
SHOWN = 12


def rotate(
    home: Home,
    store: EventStore,
    root: TrustRoot,
    admin: Signer,
    identity: str,
    *,
    public: bytes | None = None,
    keep: bool = False,
    reason: str = "routine rotation",
) -> TrustRoot:
    """Give ``identity`` a new key: made here, or ``public`` (32 raw bytes) of one made where it is used.

    Its active keys retire, but with ``keep`` (a spare). Raises ``Refused`` (``authority.*``, ``keys.*``).
    """
    if identity not in root.identities:
        known = ", ".join(sorted(root.identities))
        raise UsageFault(
            "keys.unknown_identity", "no such identity is pinned", value=identity, mend=f"use one of: {known}"
        )
    if public is None:
        public = _next_key(home, identity).public
    old = [key.keyid for key in root.identities[identity].keys if root.active(key.keyid)] if not keep else []
    following = with_key(root, identity, public)
    for keyid in old:
        following = without_key(following, keyid, "retired", reason)
    return record(store, admin, root, following)


def revoke(
    store: EventStore, root: TrustRoot, admin: Signer, word: str, reason: str, *, everything: bool = False
) -> TrustRoot:
    """Revoke the key whose keyid begins with ``word``.

    With ``everything``, not even what it signed before verifies; ``Refused`` (``keys.signed_events``) for a
    key that signed events of this log, which could not be read any more then.
    """
    keyid = find_key(root, word)
    if everything and any(event.keyid == keyid for event in store.read()):
        raise Refused(
            "keys.signed_events",
            "events of this log are signed with that key, and would not verify any more",
            value=keyid,
            mend="revoke it without --everything: nothing that it signed grants anything then",
        )
    return record(store, admin, root, without_key(root, keyid, "revoked", reason, everything=everything))


def find_key(root: TrustRoot, word: str) -> str:
    """The pinned key whose keyid begins with ``word``; ``UsageFault`` (``keys.unknown``)."""
    beginning = word.removeprefix("sha256:")
    known = [key.keyid for identity in root.identities.values() for key in identity.keys]
    found = [keyid for keyid in known if beginning and keyid[7:].startswith(beginning)]
    if len(found) != 1:
        what = f"{len(found)} keys begin so" if found else "no such key is pinned"
        raise UsageFault("keys.unknown", what, value=word, mend="see `fabric keys list`")
    return found[0]


def read_public(text: str) -> bytes:
    """The 32 raw bytes of a public key in base64; ``UsageFault`` (``keys.bad_public``)."""
    import base64
    import binascii

    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != KEY_BYTES:
        raise UsageFault(
            "keys.bad_public",
            "this is no Ed25519 public key in base64",
            value=text,
            mend="`fabric validator keygen` prints one",
        )
    return raw


def _next_key(home: Home, identity: str) -> Any:  # noqa: ANN401 - a KeySigner
    """The key that waits to be pinned; one that an interrupted rotation left is used."""
    folder = keys_folder(home, identity)
    if key_path(folder, f"{identity}-{NEXT}").exists():
        return load_signer(folder, f"{identity}-{NEXT}")
    return generate_key(folder, f"{identity}-{NEXT}")


def envelopes(store: EventStore, after: int = 0) -> list[tuple[int, dict[str, Any]]]:
    """Every recorded version later than ``after``, with the envelope in which it travels."""
    return [
        (int(event.body["version"]), dict(event.body["envelope"]))
        for event in store.read(TRUST_STREAM, types=[ROTATED])
        if int(event.body["version"]) > after
    ]


def finish(home: Home, store: EventStore, root: TrustRoot) -> list[str]:
    """Bring the home's files to where the log is; what was done, for people."""
    done = []
    if home.trust_root().digest != root.digest:
        replace_root(home.path, root)
        done.append(f"trust.json is version {root.version}")
    done += _follow_validator(home, store, root)
    for identity in root.identities:
        if (promoted := _promote_waiting(home, identity, root)) is not None:
            done.append(promoted)
    return done


def _follow_validator(home: Home, store: EventStore, root: TrustRoot) -> list[str]:
    """Bring the validator in this home's own folder to ``root``; what was done, for people.

    Its log takes a version only under a key that the version before has as active. Where that key had ended
    already (revoked as stolen, or retired for one that lies elsewhere), the log stays as evidence in a folder
    of its own, and a new one begins with the new key and the present version.
    """
    pinned = home.validator / "trust.json"
    if not pinned.is_file():
        return []
    known = TrustRoot.parse(pinned.read_bytes(), str(pinned))
    key = key_path(keys_folder(home, "validator"), "validator")
    if not key.exists():
        # Its owner took it away: that validator follows by the envelope which an admin hands over.
        return []
    untold = envelopes(store, known.version)
    if untold and not known.active(load_signer(key.parent, "validator").keyid):
        return _begin_validator_anew(home, known, root)
    done = []
    for version, envelope in untold:
        _tell_validator(home, envelope)
        done.append(f"the validator's pinned trust root is version {version}")
    return done


def _begin_validator_anew(home: Home, known: TrustRoot, root: TrustRoot) -> list[str]:
    """The pinned root is written last: interrupted before, all of it is done again by the next command."""
    done = []
    if (home.validator / "ledger").exists():
        kept = home.validator / f"ledger-until-version-{known.version}"
        (home.validator / "ledger").rename(kept)
        done.append(f"the validator's log until now is kept at {kept}; its new key begins another")
    if (promoted := _promote_waiting(home, "validator", root)) is not None:
        done.append(promoted)
    replace_root(home.validator, root)
    return [*done, f"the validator's pinned trust root is version {root.version}"]


def _promote_waiting(home: Home, identity: str, root: TrustRoot) -> str | None:
    """Put the key that waits for ``identity`` in its place, once the log pins it."""
    folder = keys_folder(home, identity)
    waiting = key_path(folder, f"{identity}-{NEXT}")
    if not waiting.exists():
        return None
    keyid = load_signer(folder, f"{identity}-{NEXT}").keyid
    if not root.active(keyid) or root.identity_of(keyid) != identity:
        return None
    return _promote(folder, identity, waiting, root, keyid)


def _tell_validator(home: Home, envelope: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory(prefix="fabric-trust-") as folder:
        file = Path(folder) / "envelope.json"
        file.write_text(json.dumps(envelope), encoding="utf-8")
        ask(home.validator, "trust", str(file))


def _promote(folder: Path, identity: str, waiting: Path, root: TrustRoot, keyid: str) -> str:
    """Put a pinned new key in its place; the old one keeps its bytes under another name."""
    place = key_path(folder, identity)
    if place.exists():
        old = load_signer(folder, identity).keyid
        if root.active(old):  # a spare: the present key stays the one that is used
            spare = key_path(folder, f"{identity}-{keyid[7 : 7 + SHOWN]}")
            waiting.rename(spare)
            return f"the spare key of {identity} lies at {spare}: keep it elsewhere"
        place.rename(key_path(folder, f"{identity}-{old[7 : 7 + SHOWN]}"))
    waiting.rename(place)
    return f"{identity} signs with {keyid} from now on"
