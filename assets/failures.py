"""A typed error of ours as a Dagster failure that says the same, and is never retried by Dagster."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import dagster as dg

from fabric_dagster.errors import FabricError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fabric_dagster.errors import Fault


def fault_table(faults: Iterable[Fault]) -> dg.TableMetadataValue:
    """Faults as rows: what, where, mend, code."""
    return dg.MetadataValue.table(
        [dg.TableRecord({"what": f.what, "where": f.where, "mend": f.mend, "code": f.code}) for f in faults]
    )


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Turn ``FabricError`` into ``dg.Failure``; mutations get no automatic retry."""
    try:
        yield
    except FabricError as fault:
        raise dg.Failure(
            description="\n".join(map(str, fault.faults)),
            metadata={
                "code": fault.code,
                "exit_code": fault.exit_code,
                "faults": fault_table(fault.faults),
            },
            allow_retries=False,
        ) from fault
