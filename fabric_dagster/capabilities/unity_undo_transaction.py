"""``unity.undo_transaction@1``: the registered compensation of a run's Unity transaction."""

from __future__ import annotations

from pydantic import Field

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode


class UndoTransaction(Arguments):
    """``transaction`` is the id under which it was committed."""

    transaction: str = Field(min_length=1, max_length=200)


CAPABILITY = Capability(
    id="unity.undo_transaction@1",
    application="unity",
    summary="Restore what a committed transaction wrote, where every byte is still ours.",
    arguments=UndoTransaction,
    effects=frozenset({"unity.transaction.undo"}),
    preconditions=("the transaction's journal is kept", "every file still is what the transaction wrote"),
    postconditions=("every file is what it was before the transaction",),
    failures=(
        FailureCode(
            "transaction.foreign_bytes", "operator", False, "keep or revert the later change by hand"
        ),
        FailureCode("transaction.unknown", "operator", False, "revert through version control"),
    ),
)
