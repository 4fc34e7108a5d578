"""A run from its ticket to its end, step by step and without Dagster, as often as it takes.

A walk goes on from wherever a run stands, does what a person is asked to do (an approval, a look at an
unknown completion), and ends when the run has ended. It is cheap: a process of its own walks from a prepared
home until it is killed, and the test's process, which keeps its workers warm, walks on.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import disturbed
import governed
import psycopg  # noqa: F401 - loaded once, before the processes are forked
import pytest

from fabric_dagster.errors import FabricError
from fabric_dagster.supervisor.approvals import decide
from fabric_dagster.supervisor.cancelling import follow, request_cancel
from fabric_dagster.supervisor.failures import reopen
from fabric_dagster.supervisor.machine import ENDED
from fabric_dagster.supervisor.reconciliation import reconcile
from fabric_dagster.supervisor.stages import tidy
from resources.home import Home
from resources.supervision.assembly import hall as open_hall
from resources.validator.client import ValidatorClient

#: every process draws the same random choices with this.
SALT = "walk"
ROUNDS = 12


@dataclass(frozen=True)
class Walk:
    """What is to happen on the way."""

    #: of ``disturbed.PLANTS``: what goes wrong.
    plant: str = "good"
    #: how the run ends.
    end: str = "completed"
    #: whether the picture that waits is approved; else a retake is asked for.
    approves: bool = True
    #: the step before which an operator cancels.
    cancels: str = ""


def walk(hall, ticket, way, seams=lambda _name: None):
    """Walk ``way`` until the run of ``ticket`` has ended; the run."""
    services, workflow = hall.services, hall.workflow(governed.GRAPH)
    run = governed.opened(hall, ticket)
    record = services.reload(run)
    if record.state == "failed":
        reopen(services, workflow, record, "operator")
    for _ in range(ROUNDS):
        record = services.reload(run)
        if record.state in ENDED:
            with services.alone(run):
                tidy(services, record)
            return record
        try:
            _steps(hall, run, way, seams)
        except FabricError as fault:
            _answer(hall, run, way, fault)
    pytest.fail(f"the run does not end: {services.reload(run).state}")
    return record


def _steps(hall, run, way, seams):
    """Every step of the line, each as Dagster would ask for it."""
    for step in governed.STEPS:
        if step == way.cancels:
            _cancel(hall, run, seams)
        seams(f"before step {step}")
        governed.do(hall, run, step)
        seams(f"after step {step}")


def _cancel(hall, run, seams):
    seams("before step cancel")
    request_cancel(hall.services, run, hall.home.signer("operator"), "no longer wanted")
    with hall.services.alone(run):
        follow(hall.services, hall.services.reload(run))
    seams("after step cancel")


def _answer(hall, run, way, fault):
    """What a person does about a step that did not go on; where nothing is to be done, the run has moved."""
    if fault.code == "run.reconciliation_required":
        reconcile(hall.services, run)
    elif fault.code == "approval.missing":
        note = "as it was asked for" if way.approves else "warmer"
        decide(hall.services, run, hall.home.signer("approver"), given=way.approves, note=note)


def killed(home, ticket, way, output, seam=None, **noted):
    """What a process of its own does: walk, and be killed on the way; ``noted`` are files, and the delay."""
    with Path(output).open("a", encoding="utf-8") as writer:
        os.dup2(writer.fileno(), 1)
        os.dup2(writer.fileno(), 2)
    seams = disturbed.Seams(seam, **noted)
    patch = pytest.MonkeyPatch()
    disturbed.PLANTS[way.plant](patch)
    disturbed.put_in(seams, patch)
    disturbed.fix_choices(SALT, patch)
    # Who dies before a verdict needs no program for it.
    patch.setattr(ValidatorClient, "start", lambda _self: None)
    walk(open_hall(Home(home).path), ticket, way, seams)
    seams.wait()
    sys.stdout.flush()
    sys.stderr.flush()
    ValidatorClient(home / "validator").close()
    os._exit(0)
