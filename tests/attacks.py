"""What somebody with all rights on the ledger's database can do to ten events without a pinned key.

The log holds events 1 to 10, on two streams by turns; each body is its number, beginning with 0.
"""

import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import create_engine, text

from fabric_dagster.digests import canonical, digest_bytes
from fabric_dagster.spine.events import message
from resources.keys import signer_of


class Attacker:
    """The database as somebody with all its rights has it; the walls are down."""

    def __init__(self, url):
        self.engine = create_engine(url)
        if url.startswith("sqlite"):
            for name in ("no_update", "no_delete", "no_gap"):
                self(f"DROP TRIGGER events_{name}")
        else:
            self("ALTER TABLE events DISABLE TRIGGER USER")

    def __call__(self, statement, **values):
        """Run one statement; its rows."""
        with self.engine.begin() as connection:
            found = connection.execute(text(statement), values)
            return found.fetchall() if found.returns_rows else []

    def payload(self, position):
        """The signed bytes of one event."""
        return self("SELECT payload FROM events WHERE position = :at", at=position)[0][0]

    def put(self, position, payload):
        """Other bytes, with the digest that they have."""
        statement = "UPDATE events SET payload = :payload, digest = :digest WHERE position = :at"
        self(statement, payload=payload, digest=digest_bytes(payload), at=position)


def edit_body(raw):
    """Change a value inside an event's signed bytes, and the digest with it."""
    raw.put(4, raw.payload(4).replace(b'"number":3', b'"number":9'))


def edit_bytes_alone(raw):
    """Change the signed bytes and leave the digest."""
    changed = raw.payload(4).replace(b'"number":3', b'"number":9')
    raw("UPDATE events SET payload = :p WHERE position = 4", p=changed)


def no_event(raw):
    """Other JSON where an event was."""
    raw.put(4, b'{"schema":"fabric.event.v1"}')


def move_column(raw):
    """Let an index column say something else than the signed bytes."""
    raw("UPDATE events SET stream = 'run:9', version = 1 WHERE position = 4")


def rename_type(raw):
    """Hide an event from queries by type."""
    raw("UPDATE events SET type = 'task.hidden' WHERE position = 4")


def free_key(raw):
    """Free an idempotency key, so that its act could be done again."""
    raw("UPDATE events SET idempotency_key = NULL WHERE position = 4")


def delete_row(raw):
    """Remove an event from the middle."""
    raw("DELETE FROM events WHERE position = 4")


def swap_rows(raw):
    """Exchange two events."""
    for old, new in ((4, 100), (5, 4), (100, 5)):
        raw("UPDATE events SET position = :new WHERE position = :old", old=old, new=new)


def move_to_another_workspace(raw):
    """Take an event out of this log and into another."""
    raw("UPDATE events SET workspace = 'other' WHERE position = 4")


def rechain_without_key(raw):
    """Rewrite an event and every later link, with a key of the attacker's own."""
    attacker = signer_of("runtime", Ed25519PrivateKey.generate())
    previous = digest_bytes(raw.payload(3))
    for position in range(4, 11):
        document = json.loads(raw.payload(position))
        document |= {"previous": previous, "body": {"number": 99}, "keyid": attacker.keyid}
        changed = canonical(document)
        raw.put(position, changed)
        signature = attacker.sign(message(changed))
        raw("UPDATE events SET signature = :s WHERE position = :at", s=signature, at=position)
        previous = digest_bytes(changed)


def resign_with_a_stolen_key(raw):
    """One event changed and signed again by whoever has the runtime's key: the next one does not follow."""
    thief = signer_of("runtime", Ed25519PrivateKey.from_private_bytes(b"runtime".ljust(32, b".")))
    changed = raw.payload(4).replace(b'"number":3', b'"number":9')
    raw.put(4, changed)
    raw("UPDATE events SET signature = :s WHERE position = 4", s=thief.sign(message(changed)))


def swap_signatures(raw):
    """Two valid signatures, on each other's events."""
    rows = dict(map(tuple, raw("SELECT position, signature FROM events WHERE position IN (4, 6)")))
    raw("UPDATE events SET signature = :s WHERE position = 4", s=rows[6])
    raw("UPDATE events SET signature = :s WHERE position = 6", s=rows[4])


def empty_bytes(raw):
    """No bytes at all."""
    raw("UPDATE events SET payload = :none WHERE position = 4", none=b"")
    raw("UPDATE events SET signature = :none WHERE position = 6", none=b"")
