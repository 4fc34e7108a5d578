"""What a store says of a log that is not what it must be."""

from __future__ import annotations

from fabric_dagster.errors import CheckFailed
from fabric_dagster.spine.events import AGAIN


def cut(checkpoint: int, position: int, where: str) -> CheckFailed:
    """The log ends before its signed head, or is another log."""
    if checkpoint > position:
        return CheckFailed(
            "spine.cut",
            f"the log has {position} events, and there were {checkpoint}",
            where=where,
            mend="its end was cut off: restore it from a backup",
        )
    return CheckFailed(
        "spine.replaced",
        f"the log's event {checkpoint} is not the one whose digest was signed",
        where=where,
        mend="it was rewritten or replaced: restore it from a backup",
    )


def broken(code: str, what: str, position: int) -> CheckFailed:
    """An event, a column or a link is not what was signed."""
    return CheckFailed(code, f"the event log is not sound: {what}", where=f"event {position}", mend=AGAIN)


def missing(where: str) -> CheckFailed:
    """There is no database, and whoever asks may not make one."""
    return CheckFailed(
        "spine.missing",
        "there is no event log here",
        where=where,
        mend="restore it from a backup; a home that never had one is finished by `fabric init`",
    )
