"""``fabric qualify``: a candidate over its frozen corpus, as far as it goes without any effect."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.acting import AsOption
from fabric_dagster.cli.output import HomeOption, JsonFlag, emit, note, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.contracts.qualification import Qualification


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("qualify")(qualify)


def qualify(
    graph: Annotated[str, typer.Argument(help="Name@MAJOR")],
    *,
    corpus: Annotated[
        str | None, typer.Option("--corpus", help="The corpus; default: the pack's one for this graph.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="Processes that share the cases.")] = 1,
    identity: AsOption = "builder",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """No-write qualification: every case through every partition, plan and control; records the digest."""
    from fabric_dagster.cli.acting import acting
    from fabric_dagster.cli.finding import find_workflow, open_hall
    from fabric_dagster.errors import CheckFailed, Fault
    from fabric_dagster.governance.certification import record_qualification
    from fabric_dagster.governance.qualification import qualify as walk

    hall = open_hall(home)
    workflow = find_workflow(hall, graph)
    compiled = workflow.compiled
    with acting(
        hall.home, "graph.qualify", identity, reference=compiled.reference, graph=compiled.digest
    ) as act:
        note(f"qualifying {compiled.reference} {compiled.digest[:19]}")
        with _each(jobs) as each:
            found = walk(workflow.pack, compiled, hall.bindings(workflow), corpus, each=each)
        event = record_qualification(act.store, act.signer, found, act.trust) if found.passed else None
    document = {
        "reference": found.reference,
        "graph": found.graph,
        "passed": found.passed,
        "results": found.digest,
        "corpus": found.corpus,
        "cases": [case.body() for case in found.cases],
        "event": None if event is None else event.position,
    }
    emit(document, as_json=as_json, human=lambda: _print(found, identity))
    if not found.passed:
        where = f"{workflow.pack.pack.name}: {found.reference}"
        mend = "mend the pack, or the corpus where it expects the wrong thing"
        raise CheckFailed.of(
            Fault("qualification.failed", f"case {case.id}: {case.why}", where, mend)
            for case in found.cases
            if not case.passed
        )


@contextlib.contextmanager
def _each(jobs: int) -> Iterator[Any]:
    """``map``, or that of a pool of processes."""
    if jobs == 1:
        yield map
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs) as pool:
        yield pool.map


def _print(found: Qualification, identity: str) -> None:
    for case in found.cases:
        state = "ok  " if case.passed else "FAIL"
        said = case.rule or ", ".join(case.codes)
        say(f"{state}  {case.id:<24} {case.outcome:<9} {said}")
        for partition in case.controls:
            plan = case.plans.get(partition)
            say(f"          {partition:<20} {'plan ' + plan[:19] if plan else 'control'}")
    if found.passed:
        say(f"\n{found.reference} {found.graph[:19]} is qualified by {identity}: {len(found.cases)} cases,")
        say(f"nothing written. Results {found.digest[:19]}.")
        say(f"Next: `fabric validator review {found.reference}`, by the validator.")
