"""A governed world in memory: the supervisor's services, and the oracle that watches every effect.

``effect`` is called by the hands at the moment at which they would change something. What must hold then is
written down here once more, from the events alone and without the supervisor's own code.
"""

import base64
import contextlib
import zlib
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from governed import STEPS

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.contracts.commission import Commission, Scope
from fabric_dagster.contracts.evidence import CheckVerdict, Verdict
from fabric_dagster.contracts.ticket import Ticket, TicketFile
from fabric_dagster.digests import digest_bytes, digest_file
from fabric_dagster.errors import FabricError, Refused
from fabric_dagster.governance.trust import IDENTITIES, TrustRoot, keyid_of
from fabric_dagster.supervisor import controls
from fabric_dagster.supervisor.execution import run_partition
from fabric_dagster.supervisor.judging import judge_side
from fabric_dagster.supervisor.opening import open_run
from fabric_dagster.supervisor.projection import fold
from fabric_dagster.supervisor.services import Services
from fabric_dagster.supervisor.workflows import load_workflows
from fabric_dagster.validators.verdicts import sign_verdict
from fakes.hands import FakeHands, Killed
from fakes.spine import MemoryEventStore
from resources.keys import KeySigner

PACKS = Path(__file__).resolve().parents[2] / "packs"
GRAPH = "CreateOfferIconAndIntegrate@1"
ZERO = "sha256:" + "0" * 64
#: where the Unity hands write; elsewhere is out of scope.
PLACE = "Assets/Art"


@cache
def workflow():
    """The sample workflow, compiled once."""
    return load_workflows([PACKS])[GRAPH]


@cache
def signers():
    """Every identity with a key of its own."""
    found = {}
    for number, identity in enumerate(IDENTITIES):
        key = Ed25519PrivateKey.from_private_bytes(bytes([number + 1]) * 32)
        public = key.public_key().public_bytes_raw()
        found[identity] = KeySigner(identity, keyid_of(public), public, key)
    return found


@cache
def trust_root():
    """The pinned keys of ``signers``."""
    return TrustRoot.model_validate(
        {
            "schema": TrustRoot.SCHEMA,
            "version": 1,
            "identities": {
                name: {
                    "roles": [name],
                    "keys": [{"keyid": s.keyid, "public": base64.b64encode(s.public).decode()}],
                }
                for name, s in signers().items()
            },
        }
    )


class PlainArtifacts:
    """Bytes by digest in a folder, without the care for a disk that fails."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put_bytes(self, data):
        """Store."""
        digest = digest_bytes(data)
        target = self.folder / digest[7:]
        if not target.exists():
            target.write_bytes(data)
        return digest

    def put_file(self, path):
        """Store a file's bytes."""
        return self.put_bytes(path.read_bytes())

    def get(self, digest):
        """The bytes."""
        return (self.folder / digest[7:]).read_bytes()

    def path(self, digest):
        """A file that holds them."""
        assert self.has(digest), digest
        return self.folder / digest[7:]

    def has(self, digest):
        """Whether they are there."""
        return (self.folder / digest[7:]).is_file()


class World:
    """Everything outside of the supervisor; attributes are what may go wrong."""

    def __init__(self, folder, approval="none"):
        self.folder, self.approval = folder, approval
        self.certified = self.commissioned = True
        #: point → what happens there, once: an exception to raise, or something to call.
        self.plan = {}
        self.verdicts, self.holds = True, True
        self.place, self.art = PLACE, "art"
        self.journals, self.effects, self.locks = {}, [], []
        self.serves = {
            name: frozenset(c.id for c in capabilities().values() if c.application == name)
            for name in ("photoshop", "unity")
        }
        for name in ("project", "templates", "deliveries", "pictures"):
            (folder / name).mkdir(parents=True)
        compiled = workflow().compiled
        for template in workflow().pack.pack.templates.values():
            (folder / "templates" / template.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / "templates" / template.file).write_bytes(template.file.encode())
        self.commission = Commission(
            schema_="fabric.commission.v1",
            workspace="default",
            reference=compiled.reference,
            graph=compiled.digest,
            pack=workflow().pack.digest,
            certificate=ZERO,
            scope=Scope(
                project=ZERO,
                templates={
                    item.file: digest_file(folder / "templates" / item.file)
                    for item in workflow().pack.pack.templates.values()
                },
                writes=("Assets",),
            ),
            effects=compiled.graph.effects,
            approval=approval,
            sops={},
            providers={},
            expires="2099-01-01T00:00:00Z",
            commissioner="commissioner",
        )
        self.store = MemoryEventStore(trust_root())
        self.services = Services(
            store=self.store,
            artifacts=PlainArtifacts(folder / "artifacts"),
            trust=trust_root(),
            runtime=signers()["runtime"],
            judge=self,
            provider=self.provider,
            authorize=self.authorize,
            manifest=dict,
            hold=self.hold,
            project=folder / "project",
            templates=folder / "templates",
            stages=folder / "stages",
        )

    # -- ports

    def provider(self, application, run, key):
        """The hands of an application; a delivery lies in a folder of the run's own."""
        root = (
            self.folder / "project"
            if application == "unity"
            else self.folder / "deliveries" / key / run[7:19]
        )
        return FakeHands(application, root, self)

    def authorize(self, _workflow):
        """A commission in force, or refused."""
        if not self.certified:
            raise Refused("authority.uncertified", "planted")
        if not self.commissioned:
            raise Refused("authority.uncommissioned", "planted")
        return self.commission

    @contextlib.contextmanager
    def hold(self, name, look=lambda: None, patience=None):
        """A lock; who holds it may hold it again."""
        _ = look, patience
        self.locks.append(name)
        try:
            yield
        finally:
            self.locks.remove(name)

    def judge(self, evidence, _out):
        """The validator's program."""
        self.at("judge")
        checks = tuple(
            CheckVerdict(
                id=item.id, after=item.after, blocking=item.blocking, passed=self.verdicts, summary="x"
            )
            for item in evidence.checks
        )
        verdict = Verdict(
            schema_="fabric.verdict.v1",
            run=evidence.run,
            graph=evidence.graph,
            side=evidence.side,
            evidence=evidence.digest,
            passed=bool(checks) and (self.verdicts or not any(c.blocking for c in checks)),
            checks=checks,
        )
        return sign_verdict(verdict, evidence, signers()["validator"])

    def observer(self, _root):
        """The validator's program as a signer of what stands there."""
        return signers()["validator"]

    def ticket(self, key, title):
        """A ticket and its picture."""
        picture = self.folder / "pictures" / f"{zlib.crc32(title.encode())}.png"
        picture.write_bytes(title.encode())
        file = TicketFile(
            path="attachment:art.png",
            digest=digest_file(picture),
            size=len(title),
            format="png",
            width=8,
            height=8,
        )
        inputs = {
            "offer_id": "starter_pack",
            "category": "offer.bundle",
            "art": file.path,
            "title": title,
        }
        ticket = Ticket(schema_="fabric.ticket.v1", key=key, graph=GRAPH, inputs=inputs, files={"art": file})
        return ticket, {"art": picture}

    # -- the line's calls, without Dagster

    def open(self, title="One", key="OFFER-1"):
        """The ticket comes in; its run's digest."""
        ticket, pictures = self.ticket(key, title)
        return open_run(self.services, workflow(), ticket, pictures).run.run

    def do(self, run, step):
        """One step of the line."""
        services, flow = self.services, workflow()
        if step.endswith(" checks"):
            return judge_side(services, flow, run, step.partition(" ")[0])
        named = {
            "ticket_brief": controls.lay_brief,
            "asset_decision": controls.make_decision,
        }
        if step in named:
            return named[step](services, flow, run)
        if step == "icon_handoff":
            return controls.seal_handoff(services, flow, run, step)
        if step == "verdict":
            return controls.complete(services, flow, run, step)
        return run_partition(services, flow, run, step)

    def go(self, run, until="verdict"):
        """Every step up to and including ``until``; the run afterwards."""
        for step in STEPS[: STEPS.index(until) + 1]:
            self.do(run, step)
        return self.services.reload(run)

    # -- what goes wrong, and what must hold

    def at(self, point):
        """Something may happen here."""
        found = self.plan.pop(point, None)
        if isinstance(found, BaseException):
            raise found
        if found is not None:
            found()

    def broken(self):
        """Whether what was written is not as planned, this once."""
        found, self.holds = not self.holds, True
        return found

    def run_of(self, transaction):
        """The run whose commit this is."""
        begun = [
            e for e in self.store.events if e.type == "commit.begun" and e.body["transaction"] == transaction
        ]
        assert len(begun) == 1, "an effect without exactly one commit.begun"
        return begun[0], fold(self.store.read(begun[0].stream))

    def effect(self, hands, staged, transaction):
        """An effect is about to happen: everything that must allow it does, right now."""
        begun, run = self.run_of(transaction)
        assert self.certified
        assert self.commissioned
        assert not self._stopped(), "effects are stopped"
        mine = [e for e in self.store.events if e.stream == begun.stream]
        assert mine[-1] == begun, "something was appended between commit.begun and the commit"
        asked = [e.actor for e in mine if e.type == "cancel.requested"]
        assert not {"runtime", "operator", "admin"} & set(asked), "a cancelled run commits"
        assert run.state in {"running", "awaiting_approval"}
        assert transaction not in self.effects, "an effect happens twice"
        self.effects.append(transaction)
        if hands.application != "unity":
            return
        assert all(c.path.startswith("Assets/") for c in staged.changes), "out of scope"
        assert all(
            hands.standing(task.transaction, task.changes) != "after"
            for task in run.tasks
            if task.task.partition == "unity_1" and task.transaction not in {None, transaction}
        ), "an older attempt's effect still stands"
        (handoff,) = run.handoffs.values()
        side = run.task("photoshop_1")
        assert handoff.artifact.digest in {item.digest for item in side.result.artifacts}
        if self.approval == "visual":
            given = [e for e in mine if e.type == "approval.given"]
            subject = (handoff.artifact.digest, side.task.plan)
            approved = {(e.body["picture"], e.body["plan"]) for e in given if e.actor == "approver"}
            assert subject in approved, "nobody approved that picture"

    def _stopped(self):
        standing = set()
        for event in self.store.events:
            if event.stream == "stop":
                (standing.add if event.type == "stop.engaged" else standing.discard)(event.body["kind"])
        return "effects" in standing


def outcome(call):
    """What a call came to: its error's code, ``killed``, or ``done``."""
    try:
        call()
    except Killed:
        return "killed"
    except FabricError as fault:
        return fault.code
    return "done"
