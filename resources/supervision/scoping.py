"""What a commission seals: the scope that a person gives, held against what lies here now.

Rules kept here:

* A scope document says where, with what and until when. It says nothing of lifecycle: which graph, which
  certificate, who commissions and in which workspace follow from the act itself, and a document that names
  them is refused.
* Digests in it are those of this moment; a scope written for something else is refused with every
  difference, before anything is sealed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Digest, Document
from fabric_dagster.contracts.commission import Commission, Scope
from fabric_dagster.digests import digest_of
from fabric_dagster.errors import Fault, Refused
from fabric_dagster.graphs.served import unserved

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabric_dagster.contracts.commission import Certificate
    from fabric_dagster.supervisor.workflows import Workflow
    from resources.supervision.assembly import Hall


class CommissionScope(Document):
    """``--scope FILE`` of ``fabric commission``: YAML or JSON."""

    SCHEMA: ClassVar[str] = "fabric.commission-scope.v1"

    schema_: Literal["fabric.commission-scope.v1"] = Field(alias="schema")
    #: the Unity project, absolute or relative to the home.
    project: str
    #: template file name → digest as it lies there now.
    templates: dict[str, Digest]
    #: POSIX prefixes under the project that may be written.
    writes: tuple[str, ...] = Field(min_length=1, strict=False)
    #: folders that pictures may be read from, besides a ticket's attachments.
    inputs: tuple[str, ...] = Field(default=(), strict=False)
    effects: tuple[str, ...] = Field(strict=False)
    approval: Literal["none", "visual"] = "none"
    #: citation id → digest of the SOP text as it is now.
    sops: dict[str, Digest]
    #: application → ``provider/version`` that serves it here.
    providers: dict[str, str]
    #: RFC 3339 with a zone.
    expires: str


def project_identity(project: Path) -> str:
    """The identity of a project's root: where it lies. A copy elsewhere is another project."""
    return digest_of("fabric.project-root.v1", project.resolve().as_posix())


def scope_now(hall: Hall, workflow: Workflow, writes: tuple[str, ...], *, until: datetime) -> CommissionScope:
    """The scope of everything as it is here now, to be narrowed by a person."""
    home = hall.home
    return CommissionScope(
        schema_="fabric.commission-scope.v1",
        project=home.config.project,
        templates=hall.template_digests(workflow),
        writes=writes,
        inputs=tuple(path.as_posix() for path in home.inputs),
        effects=tuple(sorted(workflow.compiled.graph.effects)),
        sops={name: item.digest for name, item in workflow.pack.pack.citations.items()},
        providers=hall.provider_versions(workflow),
        expires=until.astimezone(UTC).isoformat(timespec="seconds"),
    )


def commission_of(
    hall: Hall,
    workflow: Workflow,
    certificate: Certificate,
    scope: CommissionScope,
    commissioner: str,
    *,
    demo_home: str | None = None,
) -> Commission:
    """The commission that ``scope`` asks for; ``Refused`` (``authority.bad_commission``) with every fault."""
    if faults := list(_differences(hall, workflow, scope)):
        raise Refused.of(faults)
    return Commission(
        schema_="fabric.commission.v1",
        workspace=hall.home.workspace,
        reference=workflow.compiled.reference,
        graph=workflow.compiled.digest,
        pack=workflow.pack.digest,
        certificate=certificate.digest,
        scope=Scope(
            project=project_identity(hall.home.path / scope.project),
            templates=scope.templates,
            writes=scope.writes,
            inputs=scope.inputs,
        ),
        effects=tuple(sorted(scope.effects)),
        approval=scope.approval,
        sops=scope.sops,
        providers=scope.providers,
        expires=scope.expires,
        commissioner=commissioner,
        demo_home=demo_home,
    )


def _differences(hall: Hall, workflow: Workflow, scope: CommissionScope) -> Iterator[Fault]:
    """What the scope says and what is not so here, now."""
    there = hall.template_digests(workflow)
    for name, digest in sorted(scope.templates.items()):
        if there.get(name) != digest:
            yield _off("templates", "this template does not lie here with this digest", name)
    sops = {name: item.digest for name, item in workflow.pack.pack.citations.items()}
    for name in sorted(sops.keys() | scope.sops.keys()):
        if sops.get(name) != scope.sops.get(name):
            yield _off("sops", "this SOP is not cited with this digest", name)
    served = hall.provider_versions(workflow)
    for name in sorted(served.keys() | scope.providers.keys()):
        if served.get(name) != scope.providers.get(name):
            yield _off("providers", f"{name} is served by {served.get(name, 'nobody')} here", name)
    yield from unserved(workflow.compiled, hall.served)
    for name in sorted(set(workflow.compiled.graph.effects) - set(scope.effects)):
        yield _off("effects", "the graph has an effect that the scope does not allow", name)


def _off(where: str, what: str, value: str) -> Fault:
    mend = "`fabric commission GRAPH --template` prints a scope with what is here now"
    return Fault("authority.bad_commission", f"the scope is refused: {what}", where, mend, value)
