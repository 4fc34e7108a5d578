"""State diagrams and decision tables, from the supervisor's own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.contracts.specialist import TRANSITIONS
from fabric_dagster.governance.authority import CODES
from fabric_dagster.governance.lifecycle import LIFECYCLE, NEXT
from fabric_dagster.governance.roles import SIGNED_BY, TABLE
from fabric_dagster.supervisor.machine import ENDED, RUN, TASK
from fabric_dagster.supervisor.reconciliation import DECISIONS

if TYPE_CHECKING:
    from collections.abc import Mapping


def diagram(table: Mapping[tuple[str, str], str]) -> str:
    """A Mermaid state diagram; events between two states share an arrow, those that stay are a note."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), following in table.items():
        arrows.setdefault((state, following), []).append(event)
    lines = ["```mermaid", "stateDiagram-v2"]
    first = next(iter(table))[0]
    lines += [f"    [*] --> {first}"] if first else []
    for (state, following), events in arrows.items():
        if state == following:
            lines += [f"    note right of {state}", "        goes on with", *(f"        {e}" for e in events)]
            lines.append("    end note")
        else:
            lines.append(f"    {state or '[*]'} --> {following} : {'<br/>'.join(events)}")
    going_on = {state for state, _ in table}
    lines += [f"    {state} --> [*]" for state in sorted({*table.values()} - going_on)]
    return "\n".join([*lines, "```"])


def _table(table: Mapping[tuple[str, str], str]) -> str:
    rows = [
        f"| {state or '(nothing)'} | `{event}` | {following} |" for (state, event), following in table.items()
    ]
    return "\n".join(["| state | event | state |", "|---|---|---|", *rows])


def decisions() -> str:
    """What reconciliation decides, as a table."""
    rows = [
        f"| {standing} | {'yes' if undoing else 'no'} | {decision} |"
        for (standing, undoing), decision in DECISIONS.items()
    ]
    return "\n".join(["| what stands there | was it being taken back? | decision |", "|---|---|---|", *rows])


def recommendations() -> str:
    """What a result of each status may recommend, as a table."""
    rows = [f"| {status} | {', '.join(sorted(names))} |" for status, names in TRANSITIONS.items()]
    return "\n".join(["| status | may recommend |", "|---|---|", *rows])


def authority() -> str:
    """Who may do what, as a table."""
    rows = []
    for action, row in TABLE.items():
        by_access: dict[str, list[str]] = {}
        for role, access in row.items():
            by_access.setdefault(access, []).append(role)
        said = "; ".join(
            f"**{access}**: {'every role' if len(roles) == len(TABLE['spine.read']) else ', '.join(roles)}"
            for access, roles in by_access.items()
        )
        rows.append(f"| `{action}` | {said} |")
    return "\n".join(["| action | allowed |", "|---|---|", *rows])


def page() -> str:
    """All of it as one page."""
    signed = "\n".join(f"| `{event}` | `{action}` |" for event, action in SIGNED_BY.items())
    nexts = "\n".join(f"| {state} | {text.format(graph='GRAPH')} |" for state, text in NEXT.items())
    codes = "\n".join(f"| `{code}` | {text} |" for code, text in CODES.items())
    return f"""# State tables

From `fabric_dagster/supervisor/machine.py`. What a table does not list cannot happen.

## A run

{diagram(RUN)}

{_table(RUN)}

A run rests, without a new ticket revision or a person's decision, in: {", ".join(sorted(ENDED))}.
## A task (one attempt at one sealed partition)

{diagram(TASK)}

{_table(TASK)}

## A specialist's result

From `fabric_dagster/contracts/specialist.py`. A result recommends exactly one transition of its
status's row; the supervisor decides which follows.

{recommendations()}

## Reconciliation

From `fabric_dagster/supervisor/reconciliation.py`. An identified validator looks; this decides. Anything else
(`foreign`, or `partial` that the journal cannot bring back) stays unresolved until a person says what holds.

{decisions()}

## A graph's lifecycle

From `fabric_dagster/governance/lifecycle.py`. A graph is meant by its exact digest: another revision is
another graph, and begins as a candidate. A candidate has no event at all. An event counts only if what it
says holds (`governance/history.py`) and its signer may say it.

{diagram(LIFECYCLE)}

{_table(LIFECYCLE)}

| state | what a person does next |
|---|---|
{nexts}

What must be so for a graph to execute, each with the code of its refusal:

| code | what must be so |
|---|---|
{codes}

## Authority

From `fabric_dagster/governance/roles.py`. What the table does not say is denied.

{authority()}

An event counts only if its signer may do what it records; one that is not listed counts for nothing:

| event | action |
|---|---|
{signed}
"""
