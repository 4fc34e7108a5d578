"""The same work without governance: what a good technical artist would write by hand.

Same readers, same PSD engine, same Unity transaction, same blind checks; all in this process. No spine, no
signatures, no certificates, no artifact store, no separate programs, no locks, no second look.
"""

# No `from __future__ import annotations`: Dagster reads the contexts' annotations at run time.

import json
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg

from fabric_dagster.contracts.commission import Commission
from fabric_dagster.contracts.evidence import BlindEvidence, CheckRequest, FileFact, Verdict
from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
from fabric_dagster.contracts.ticket import Ticket
from fabric_dagster.digests import digest_file, digest_of
from fabric_dagster.intelligence.decide import decide
from fabric_dagster.supervisor.workflows import Workflow
from fabric_dagster.tickets.files import TicketFiles
from fabric_dagster.tickets.issue import read_issue
from fabric_dagster.tickets.parse import parse_ticket
from fabric_dagster.validators.run import Bench
from resources.photoshop import engine
from resources.photoshop.psd.limits import Limits
from resources.unity.manifest import tree_manifest
from resources.unity.provider import HeadlessUnity

PHOTOSHOP, UNITY = "photoshop_1", "unity_1"
ICON_DOCUMENT, OFFER_OBJECT = "icon.psd", "11400000"


@dataclass
class Desk:
    """One project, worked on by hand-written code."""

    folder: Path
    inbox: Path
    workflow: Workflow
    commission: Commission
    pictures: dict[str, Path] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        """The Unity project."""
        return self.folder / "project"

    @property
    def templates(self) -> Path:
        """The template PSDs."""
        return self.folder / "templates"

    def place(self, key: str) -> Path:
        """Where a ticket's files lie."""
        return self.folder / "deliveries" / key

    def brief(self, key: str) -> Ticket:
        """Read the ticket and note it."""
        path = self.inbox / f"{key}.json"
        issue = read_issue(path.read_bytes(), path.name)
        files = TicketFiles(attachments=path.parent / issue.key, roots=())
        pack = self.workflow.pack.pack
        ticket = parse_ticket(issue, self.workflow.compiled.graph, pack, files, None)
        self.place(key).mkdir(parents=True)
        (self.place(key) / "ticket.json").write_text(ticket.model_dump_json(by_alias=True), encoding="utf-8")
        return ticket

    def ticket(self, key: str) -> Ticket:
        """The noted ticket."""
        text = (self.place(key) / "ticket.json").read_text(encoding="utf-8")
        return Ticket.model_validate_json(text)

    def decide(self, key: str) -> dict[str, Any]:
        """Template, destination and profiles by the pack's rules, noted."""
        decision = decide(self.workflow.pack, self.workflow.compiled.reference, self.ticket(key))
        values = dict(decision.values)
        (self.place(key) / "decision.json").write_text(json.dumps(values), encoding="utf-8")
        return values

    def decision(self, key: str) -> dict[str, Any]:
        """The noted decision."""
        found: dict[str, Any] = json.loads((self.place(key) / "decision.json").read_text(encoding="utf-8"))
        return found

    def art(self, ticket: Ticket) -> Path:
        """The ticket's picture."""
        return self.inbox / ticket.key / ticket.files["art"].path.removeprefix("attachment:")

    def edit(self, key: str) -> dict[str, Any]:
        """The art in a copy of the template, and its export; digests of both."""
        values, ticket, place = self.decision(key), self.ticket(key), self.place(key)
        steps = [
            _step("open_duplicate", source=str(self.templates / values["template"]), copy=ICON_DOCUMENT),
            _step(
                "replace_smart_object",
                layer=values["art_layer"],
                contents=str(self.art(ticket)),
                scope="layer",
            ),
            _step("export_png", preset=values["preset"], out="icon.png"),
        ]
        names = {"smart_object_uuid_1": str(uuid.uuid4())}
        engine.execute(steps, str(place), names, Limits())
        return {name: digest_file(place / name) for name in (ICON_DOCUMENT, "icon.png")}

    def integrate(self, key: str) -> str:
        """The icon imported and wired as one transaction; its diff."""
        values, ticket, place = self.decision(key), self.ticket(key), self.place(key)
        manifest = json.dumps(dict(tree_manifest(self.project)), sort_keys=True)
        (place / "manifest.json").write_text(manifest, encoding="utf-8")
        offer = {"asset": values["offer_asset"], "document": OFFER_OBJECT}
        plan = PhysicalPlan(
            schema_="fabric.physical-plan.v1",
            application="unity",
            operations=(
                _operation(
                    "import_texture",
                    "import_icon",
                    source="icon.png",
                    destination=values["destination"],
                    profile=values["profile"],
                ),
                _operation(
                    "set_property", "wire_icon", **offer, path="icon", value={"$ref": "import_icon.sprite"}
                ),
                _operation(
                    "set_property", "set_title", **offer, path="displayName", value=ticket.inputs["title"]
                ),
            ),
        )
        unity = HeadlessUnity(self.project, self.folder / "journals")
        plan = plan.model_copy(update={"allocations": unity.allocate(plan)})
        staged = unity.stage(plan, place)
        (place / "before").mkdir()
        before = {}
        for number, change in enumerate(staged.changes):
            if change.before is not None:
                shutil.copyfile(self.project / change.path, place / "before" / str(number))
                before[change.path] = f"before/{number}"
        unity.commit(place, staged, key)
        (place / "before.json").write_text(json.dumps(before), encoding="utf-8")
        unity.forget(key)
        return staged.diff

    def check(self, key: str, side: str) -> Verdict:
        """The blind checks of one side, here."""
        ticket, place = self.ticket(key), self.place(key)
        template = self.templates / self.decision(key)["template"]
        made = {"open_template.document": ICON_DOCUMENT, "place_art.document": ICON_DOCUMENT}
        made |= {"export_icon.png": "icon.png"}
        if side == UNITY:
            found = json.loads((place / "before.json").read_text(encoding="utf-8"))
            made |= {f"before:{path}": name for path, name in found.items()}
        else:
            (place / "manifest.json").write_text("{}", encoding="utf-8")
        art = self.art(ticket)
        evidence = BlindEvidence(
            schema_="fabric.blind-evidence.v1",
            run=digest_of("benchmark", key),
            graph=self.workflow.compiled.digest,
            side=side,
            pack=str(self.workflow.pack.folder),
            pack_digest=self.workflow.pack.digest,
            ticket=ticket,
            ticket_files={"art": FileFact(path=str(art), digest=ticket.files["art"].digest)},
            commission=self.commission,
            templates={template.name: _fact(template)},
            project=str(self.project),
            manifest_before=_fact(place / "manifest.json"),
            artifacts={name: _fact(place / file) for name, file in made.items()},
            checks=tuple(
                CheckRequest(
                    id=item.id,
                    after=item.after,
                    blocking=item.blocking,
                    params=self.workflow.pack.pack.checks.get(item.id, {}),
                )
                for item in self.workflow.compiled.validators[side]
            ),
        )
        verdict = Bench().judge(evidence, place / "pictures")
        if not verdict.passed:
            raise RuntimeError([check.summary for check in verdict.checks if not check.passed])
        return verdict


def _step(name: str, **args: Any) -> dict[str, Any]:
    return {"capability": f"photoshop.{name}@1", "args": args}


def _operation(name: str, node: str, **args: Any) -> Operation:
    return Operation(capability=f"unity.{name}@1", args=args, node=node)


def _fact(path: Path) -> FileFact:
    return FileFact(path=str(path), digest=digest_file(path))


def script(desk: Desk, key: str) -> None:
    """The whole job as a plain script."""
    desk.brief(key)
    desk.decide(key)
    desk.edit(key)
    desk.check(key, PHOTOSHOP)
    desk.integrate(key)
    desk.check(key, UNITY)


# -- the same as Dagster assets

PARTITIONS = dg.DynamicPartitionsDefinition(name="bare_tickets")
DOCUMENT_NODES = ("open_template", "place_art", "export_icon")
PROJECT_NODES = ("import_icon", "wire_icon", "set_title")


def _key(name: str) -> dg.AssetKey:
    return dg.AssetKey(["bare", name])


def _specs(names: tuple[str, ...], after: str) -> list[dg.AssetSpec]:
    return [
        dg.AssetSpec(_key(name), deps=[_key(need)], group_name="bare")
        for need, name in zip((after, *names), names, strict=False)
    ]


def bare_job(desk: Desk) -> dg.JobDefinition:
    """Brief, decision, two multi-assets and every check, as one job; built once, like any code location."""

    @dg.asset(key=_key("ticket_brief"), partitions_def=PARTITIONS, group_name="bare")
    def brief(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]
        ticket = desk.brief(context.partition_key)
        return dg.MaterializeResult(metadata={"inputs": dict(ticket.inputs)})

    @dg.asset(
        key=_key("asset_decision"),
        deps=[_key("ticket_brief")],
        partitions_def=PARTITIONS,
        group_name="bare",
    )
    def decision(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]
        return dg.MaterializeResult(metadata={"decided": desk.decide(context.partition_key)})

    @dg.multi_asset(specs=_specs(DOCUMENT_NODES, "asset_decision"), partitions_def=PARTITIONS)
    def document(context: dg.AssetExecutionContext):  # type: ignore[no-untyped-def]
        digests = desk.edit(context.partition_key)
        return tuple(dg.MaterializeResult(_key(name), metadata=digests) for name in DOCUMENT_NODES)

    @dg.multi_asset(specs=_specs(PROJECT_NODES, "export_icon"), partitions_def=PARTITIONS)
    def project(context: dg.AssetExecutionContext):  # type: ignore[no-untyped-def]
        diff = desk.integrate(context.partition_key)
        return tuple(dg.MaterializeResult(_key(name), metadata={"diff": diff}) for name in PROJECT_NODES)

    definitions = dg.Definitions(
        assets=[brief, decision, document, project],
        asset_checks=[_checks(desk, side) for side in (PHOTOSHOP, UNITY)],
        executor=dg.in_process_executor,
    )
    return definitions.resolve_implicit_global_asset_job_def()


def _checks(desk: Desk, side: str) -> dg.AssetChecksDefinition:
    specs = [
        dg.AssetCheckSpec(
            item.id.replace("@", "_v"), asset=_key(item.after), blocking=True, partitions_def=PARTITIONS
        )
        for item in desk.workflow.compiled.validators[side]
    ]

    @dg.multi_asset_check(name=f"bare_{side}_checks", specs=specs)
    def judge(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        for item in desk.check(context.partition_key, side).checks:
            yield dg.AssetCheckResult(
                asset_key=_key(item.after),
                check_name=item.id.replace("@", "_v"),
                passed=item.passed,
                description=item.summary,
                metadata={"figures": dict(item.figures)},
            )

    return judge


def run_job(job: dg.JobDefinition, instance: dg.DagsterInstance, key: str) -> None:
    """One ticket through Dagster, in process."""
    instance.add_dynamic_partitions(str(PARTITIONS.name), [key])
    job.execute_in_process(
        instance=instance,
        partition_key=key,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
