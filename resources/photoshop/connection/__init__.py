"""photoshop-connection as a record: what was reviewed of it, and that nothing of it runs.

Holds ``record.yaml`` and its reader. Must never import the library, open a socket, or take script: the record
is no provider, serves no capability and cannot be bound. To use the library as a transport would take another
review, a handler behind the compiled plan, and a qualification of its own.
"""

from __future__ import annotations

from pathlib import Path

from fabric_dagster.documents import check, load_yaml
from resources.provider_record import ProviderRecord

RECORD = Path(__file__).with_name("record.yaml")


def record() -> ProviderRecord:
    """The validated record."""
    return check(ProviderRecord, load_yaml(RECORD.read_bytes(), str(RECORD)))
