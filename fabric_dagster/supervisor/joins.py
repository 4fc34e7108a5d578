"""Joins: which partitions give nothing in a run, what may go on without them, and who serves an ``any`` join.

Rules kept here:

* A partition that failed for good where an ``any`` join has another way is *absent*: its failure is data of
  it (``failure.absorbed`` on the spine), and so is the absence of whatever needs it.
* A failure is absorbed only where the run can still come to its verdict; otherwise it ends the run.
* A join waits until each of its parents is done or absent, so that the order of finishing decides nothing:
  of those that are done, the first by its id serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import CheckFailed, Fault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabric_dagster.graphs.compiled import CompiledGraph, CompiledPartition
    from fabric_dagster.supervisor.records import RunRecord


def without(compiled: CompiledGraph, gone: Iterable[str]) -> frozenset[str]:
    """The partitions ``gone``, and all that cannot run without them."""
    lost = set(gone)
    for part in compiled.partitions:
        if lost & set(part.required) or any(lost >= set(group) for group in part.alternatives):
            lost.add(part.id)
    return frozenset(lost)


def absent(compiled: CompiledGraph, run: RunRecord) -> frozenset[str]:
    """The partitions that give nothing in this run, and are not waited for."""
    return without(compiled, run.absorbed) if run.absorbed else frozenset()


def absence(compiled: CompiledGraph, run: RunRecord, partition: str) -> list[Fault]:
    """Why ``partition`` gives nothing in this run, as data; nothing where it gives something, or may yet."""
    if partition not in absent(compiled, run):
        return []
    own = run.absorbed.get(partition)
    faults = own or [fault for found in run.absorbed.values() for fault in found]
    return [Fault(**item) for item in faults]


def absorbs(compiled: CompiledGraph, run: RunRecord, partition: str) -> bool:
    """Whether the run can come to its verdict though ``partition`` failed."""
    return compiled.verdict not in without(compiled, {*run.absorbed, partition})


def is_done(compiled: CompiledGraph, run: RunRecord, partition: str) -> bool:
    """Whether what ``partition`` gives is there."""
    if partition in absent(compiled, run):
        return False
    control = compiled.partition(partition).capabilities[0].partition("@")[0]
    if control == "fabric.asset_decision":
        return run.decision is not None
    if control == "fabric.seal_handoff":
        return partition in run.handoffs
    if control == "fabric.ticket_brief":
        return True
    task = run.task(partition)
    return task is not None and task.state == "succeeded"


def require_order(compiled: CompiledGraph, run: RunRecord, partition: CompiledPartition) -> None:
    """A partition runs after what it needs, whatever Dagster was asked to run."""
    gone = absent(compiled, run)
    undone = [need for need in partition.required if not is_done(compiled, run, need)]
    for group in partition.alternatives:
        undone += [need for need in group if need not in gone and not is_done(compiled, run, need)]
        if gone >= set(group):
            undone.append(group[0])
    if undone:
        raise CheckFailed(
            "supervisor.out_of_order",
            f"{partition.id} needs {undone[0]}, which is not done",
            where=run.key,
            mend="materialize the whole workflow for this ticket",
        )


def serving(compiled: CompiledGraph, run: RunRecord, node: str) -> str:
    """The parent node that serves the ``any`` join ``node``."""
    for need in sorted(compiled.nodes[node].needs):
        if is_done(compiled, run, compiled.partition_of(need).id):
            return need
    raise CheckFailed("supervisor.no_output", f"no parent of {node} is done", where=run.key)


def lineage(compiled: CompiledGraph, run: RunRecord, partition: str) -> frozenset[str]:
    """``partition`` and every partition that it stands on: of an ``any`` join only the one that serves."""
    found: set[str] = set()
    waiting = [partition]
    while waiting:
        part = compiled.partition(waiting.pop())
        if part.id in found:
            continue
        found.add(part.id)
        waiting += part.required
        for node in part.nodes:
            if compiled.nodes[node].join == "any":
                waiting.append(compiled.partition_of(serving(compiled, run, node)).id)
    return frozenset(found)
