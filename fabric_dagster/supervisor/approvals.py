"""Visual approval: a person's signed decision on one exact picture, between its checks and its handoff.

Rules kept here:

* Where the commission says ``approval: visual``, no handoff is sealed without an approval in force.
* A decision binds the picture's bytes and the bound plan that made them. Another picture, or the same under
  another plan, is another question; nothing that was decided about the old one carries over.
* An approval is believed for its signature by an approver who did not open the run: never for the state that
  the run is in, and never because Dagster was asked to go on.
* Nothing waits in a process: what waits is an event, and the run goes on from the spine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric_dagster.errors import FabricError, Fault, NeedsPerson, Refused, UsageFault
from fabric_dagster.governance.roles import lawful, require
from fabric_dagster.graphs.case import SEAL
from fabric_dagster.supervisor.execution import admit
from fabric_dagster.supervisor.failures import dependants
from fabric_dagster.supervisor.joins import absent
from fabric_dagster.supervisor.machine import ENDED
from fabric_dagster.supervisor.services import Step
from fabric_dagster.supervisor.stages import tidy

if TYPE_CHECKING:
    from fabric_dagster.contracts.commission import Commission
    from fabric_dagster.contracts.specialist import ArtifactRef
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.graphs.compiled import CompiledGraph
    from fabric_dagster.spine.ports import Signer
    from fabric_dagster.supervisor.records import ApprovalRecord, RunRecord
    from fabric_dagster.supervisor.services import Services
    from fabric_dagster.supervisor.workflows import Workflow


@dataclass(frozen=True, slots=True)
class Gate:
    """A handoff, and the artifact that it seals."""

    handoff: str
    #: the sealed partition that makes the artifact.
    side: str
    node: str
    name: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What a decision is about: the artifact as it was made, and the digest of the bound plan."""

    artifact: ArtifactRef
    plan: str


def gates(compiled: CompiledGraph) -> tuple[Gate, ...]:
    """Every handoff of ``compiled``, in order."""
    found = []
    for part in compiled.partitions:
        if part.capabilities[0] == SEAL:
            node, name = compiled.sealed_by(part.id)
            found.append(Gate(part.id, compiled.partition_of(node).id, node, name))
    return tuple(found)


def picture_of(run: RunRecord, gate: Gate) -> Picture | None:
    """The picture that stands before ``gate`` now: of its side's newest task, if that succeeded."""
    task = run.task(gate.side)
    if task is None or task.state != "succeeded" or task.result is None:
        return None
    made = (item for item in task.result.artifacts if (item.node, item.name) == (gate.node, gate.name))
    artifact = next(made, None)
    return None if artifact is None else Picture(artifact, task.task.plan)


def in_force(trust: TrustRoot, run: RunRecord, picture: Picture) -> ApprovalRecord | None:
    """The approval of exactly this picture under exactly this plan, if a person with that right gave it."""
    record = _newest(run, picture)
    if record is None or record.state != "given" or record.decided is None:
        return None
    event, opened = record.decided, run.opened
    own = opened.actor == event.actor or opened.keyid == event.keyid
    return None if own or not lawful(event, trust) else record


def _newest(run: RunRecord, picture: Picture) -> ApprovalRecord | None:
    subject = (picture.artifact.digest, picture.plan)
    return next((item for item in reversed(run.approvals) if (item.picture, item.plan) == subject), None)


def wanted(compiled: CompiledGraph, run: RunRecord, trust: TrustRoot, commission: Commission) -> list[str]:
    """The partitions that a Dagster run is to be asked for now, in order.

    Without visual approval all of them. With it, nothing from a closed gate on, and nothing that was done
    before a gate whose picture was asked about: that was verified and judged. A gate that was passed once
    and whose side is made again is asked for; the seal looks whether the new picture is the old.
    """
    everything = [part.id for part in compiled.partitions]
    if commission.approval != "visual":
        return everything
    held: set[str] = set()
    settled: set[str] = set()
    gone = absent(compiled, run)
    for gate in gates(compiled):
        if gate.handoff in gone:
            continue
        picture = picture_of(run, gate)
        if picture is not None and _newest(run, picture) is not None:
            settled |= _above(compiled, gate.handoff)
        if picture is not None and in_force(trust, run, picture) is not None:
            continue
        if picture is not None or not any(item.node == gate.handoff for item in run.approvals):
            held.update(dependants(compiled, gate.handoff))
    return [part for part in everything if part not in held | settled]


def _above(compiled: CompiledGraph, partition: str) -> set[str]:
    """Everything upstream of ``partition``."""
    found: set[str] = set()
    stack = list(compiled.partition(partition).needs)
    while stack:
        part = stack.pop()
        if part not in found:
            found.add(part)
            stack += compiled.partition(part).needs
    return found


def ask(services: Services, workflow: Workflow, run_id: str) -> None:
    """Ask for every decision that is due, once: the pictures that are made and passed their checks."""
    with services.alone(run_id):
        run = services.reload(run_id)
        if run.state in ENDED or run.state == "reconciliation_required":
            return
        _ask(services, workflow, run, admit(services, workflow, run))


def _ask(services: Services, workflow: Workflow, run: RunRecord, commission: Commission) -> None:
    if commission.approval != "visual":
        return
    for gate in gates(workflow.compiled):
        picture = picture_of(run, gate)
        if picture is None or gate.handoff in run.handoffs or in_force(services.trust, run, picture):
            continue
        if workflow.compiled.validators.get(gate.side):
            verdict = run.verdict(gate.side)
            if verdict is None or not verdict.passed:
                continue
        newest = _newest(run, picture)
        if newest is not None and newest.state == "requested":
            continue
        body = {
            "side": gate.side,
            "node": gate.handoff,
            "picture": picture.artifact.digest,
            "plan": picture.plan,
        }
        services.append(run, "approval.requested", body)


def require_approval(
    services: Services, workflow: Workflow, run: RunRecord, commission: Commission, handoff: str
) -> str | None:
    """The digest of the event that approves what ``handoff`` seals; ``None`` where none is asked for.

    ``NeedsPerson`` (``approval.missing``) otherwise, whatever Dagster was asked to run; the question is then
    on the spine.
    """
    if commission.approval != "visual":
        return None
    gate = next(item for item in gates(workflow.compiled) if item.handoff == handoff)
    picture = picture_of(run, gate)
    record = None if picture is None else in_force(services.trust, run, picture)
    if record is not None and record.decided is not None:
        return record.decided.digest
    _ask(services, workflow, run, commission)
    raise missing(run)


def waiting(run: RunRecord) -> list[ApprovalRecord]:
    """The questions that wait for a person: about pictures that still stand as they were asked about."""
    found = []
    for item in run.approvals:
        task = run.task(item.side)
        stands = task is not None and task.state == "succeeded" and task.task.plan == item.plan
        made = task.result.artifacts if stands and task is not None and task.result is not None else ()
        if item.state == "requested" and any(ref.digest == item.picture for ref in made):
            found.append(item)
    return found


def missing(run: RunRecord) -> FabricError:
    """The exact blocker: which pictures wait, and the command that decides."""
    mend = "look at it with `fabric show {0}`, then `fabric approve {0} --as approver --note TEXT`"
    faults = [
        Fault(
            "approval.missing",
            f"the picture of {item.side} waits for a visual approval",
            run.key,
            mend.format(run.run[7:19]) + ", or `fabric retake`",
            item.picture,
        )
        for item in waiting(run)
    ]
    lacking = Fault("approval.missing", "no approval of the picture is in force", run.key, "run it again")
    return NeedsPerson.of(faults or [lacking])


def decide(
    services: Services, run_id: str, approver: Signer, *, given: bool, note: str, picture: str | None = None
) -> tuple[RunRecord, ApprovalRecord]:
    """Record ``approver``'s decision on the picture that waits; the run, and what was decided.

    ``picture`` is the digest (or its beginning) that the person looked at; needed where several wait. A
    retake needs a ``note`` and ends the run: a changed ticket, or running it again, makes a new one.

    ``authority.denied``, ``authority.not_independent`` (exit 3); ``approval.nothing_waits``,
    ``approval.which``, ``approval.no_note`` (exit 2); ``approval.other_picture`` (exit 3).
    """
    require(services.trust, approver, "run.approve")
    if not given and not note.strip():
        raise UsageFault(
            "approval.no_note", "a retake must say what is to be changed", mend="give it with --note"
        )
    with services.alone(run_id):
        run = services.reload(run_id)
        if run.opened.actor == approver.identity or run.opened.keyid == approver.keyid:
            raise Refused(
                "authority.not_independent",
                "who opened the run cannot approve its picture",
                where=run.key,
                mend="sign as another approver",
            )
        record = _meant(run, picture)
        services.artifacts.path(record.picture)  # what is signed is there, with these very bytes
        body = {
            "side": record.side,
            "node": record.node,
            "picture": record.picture,
            "plan": record.plan,
            "note": note.strip(),
        }
        kind = "approval.given" if given else "approval.retaken"
        services.append_all(run, Step(kind, body), signer=approver)
        if not given:
            tidy(services, run)
        decided = next(item for item in reversed(run.approvals) if item.state != "requested")
        return run, decided


def _meant(run: RunRecord, picture: str | None) -> ApprovalRecord:
    open_ = waiting(run)
    if not open_:
        raise UsageFault(
            "approval.nothing_waits",
            f"the run is {run.state}; no picture waits for a decision",
            where=run.key,
            mend=f"see `fabric show {run.run[7:19]}`",
        )
    digest = "" if picture is None else picture.removeprefix("sha256:").lower()
    shortest = 6
    if picture is not None:
        found = [item for item in open_ if len(digest) >= shortest and item.picture[7:].startswith(digest)]
        if not found:
            raise Refused(
                "approval.other_picture",
                "the picture that waits is another one",
                where=run.key,
                value=picture,
                mend=f"look at {', '.join(item.picture for item in open_)} and decide on that",
            )
        return found[0]
    if len({item.picture for item in open_}) > 1:
        raise UsageFault(
            "approval.which",
            "several pictures wait",
            where=run.key,
            mend=f"name one with --picture: {', '.join(item.picture for item in open_)}",
        )
    return open_[0]
