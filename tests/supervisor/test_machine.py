"""The two state machines are their tables: what they list happens, everything else is refused."""

import itertools
from typing import get_args

import pytest

from fabric_dagster.contracts.supervisor_run import RunState, TaskState
from fabric_dagster.errors import CheckFailed
from fabric_dagster.supervisor.machine import ENDED, RUN, TASK, transition

TABLES = {"run": (RUN, get_args(RunState)), "task": (TASK, get_args(TaskState))}


@pytest.mark.parametrize("name", TABLES)
def test_listed_and_unlisted(name):
    """Every pair of state and event either moves as listed or is a broken history, with its place."""
    table, states = TABLES[name]
    events = sorted({event for _, event in table})
    refused = 0
    for state, event in itertools.product(("", *states), events):
        if (state, event) in table:
            assert table[state, event] == transition(table, state, event, "here")
            continue
        refused += 1
        with pytest.raises(CheckFailed) as found:
            transition(table, state, event, "event 7")
        assert ("supervisor.impossible_history", "event 7") == (found.value.code, found.value.faults[0].where)
    assert refused == (len(states) + 1) * len(events) - len(table)


@pytest.mark.parametrize("name", TABLES)
def test_states_are_the_contracts(name):
    """The tables lead to no state that the contract does not name."""
    table, states = TABLES[name]
    assert set(table.values()) <= set(states)


def test_completed_is_the_end():
    """Nothing moves a completed, superseded or cancelled run; a person or a newer ticket moves the others."""
    left = {(state, event) for state, event in RUN if state in ENDED}
    newer = {("failed", "run.superseded"), ("stopped", "run.superseded")}
    assert {("failed", "run.reopened")} | newer == left


def test_every_open_state_can_be_cancelled():
    """A cancellation may be asked for wherever a run goes on, and is followed wherever no end is unknown."""
    going_on = {state for state in get_args(RunState) if state not in ENDED}
    assert going_on == {state for state, event in RUN if event == "cancel.requested"}
    assert going_on - {"reconciliation_required"} == {
        state for state, event in RUN if event == "run.cancelled"
    }


def test_commit_is_never_left_by_a_guess():
    """From a begun commit only a result, a compensation or a person's look leads on."""
    assert {"task.succeeded", "task.failed", "reconciliation.required", "compensation.done"} == {
        event for state, event in TASK if state == "committing"
    }
