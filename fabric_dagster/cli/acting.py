"""Acting as an identity: where a command finds its key and its authority, and where its refusal is recorded.

A command that signs does all that it does inside ``with acting(home, ACTION, IDENTITY) as act``. The key is
loaded and the table is asked on the way in; whatever is ``Refused`` inside leaves as an event
``authority.refused`` and then as exit code 3.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fabric_dagster.errors import FabricError, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import EventStore, Signer
    from resources.home import Home

AsOption = Annotated[str, typer.Option("--as", help="Who acts: signs with that identity's key.")]


@dataclass(frozen=True, slots=True)
class Act:
    """What an act is done with: the log, the trust root as it stands there, and who signs."""

    store: EventStore
    trust: TrustRoot
    signer: Signer


@contextlib.contextmanager
def acting(
    home: Home, action: str, identity: str, *, store: EventStore | None = None, **about: str
) -> Iterator[Act]:
    """Sign as ``identity`` with the authority for ``action``; what is refused inside is recorded.

    ``store`` is the home's log where it is open already. ``about`` names what the act is about, as text:
    ``reference``, ``graph``, ``run``. Raises ``Refused`` (``authority.*``, ``keys.exposed``) and
    ``UsageFault`` (``keys.missing``).
    """
    from fabric_dagster.governance.roles import require
    from resources.keys import load_signer
    from resources.ledger.store import SqlEventStore
    from resources.setup import keys_folder

    log = home.open_ledger() if store is None else store
    # The log's root is followed to its newest version; a file's alone knows of no key's end.
    trust = log.trust if isinstance(log, SqlEventStore) else home.trust_root()
    try:
        try:
            signer = load_signer(keys_folder(home, identity), identity)
            require(trust, signer, action)
            yield Act(log, trust, signer)
        except Refused as fault:
            _record(home, log, action, identity, fault, about)
            raise
    finally:
        if store is None and isinstance(log, SqlEventStore):
            log.close()


def _record(
    home: Home, log: EventStore, action: str, identity: str, fault: Refused, about: dict[str, str]
) -> None:
    """Record the refusal as the first of the home's identities whose key is here; none is no matter."""
    from fabric_dagster.governance.refusals import record_refusal
    from resources.keys import load_signer
    from resources.setup import keys_folder

    for who in dict.fromkeys(("runtime", identity)):
        with contextlib.suppress(FabricError):
            signer = load_signer(keys_folder(home, who), who)
            if record_refusal(log, signer, action, fault, actor=identity, **about) is not None:
                return
