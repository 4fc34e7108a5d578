"""Makes the sample pack executable in one home, visibly and by the book: every act by its own identity.

This is for the demo alone: one person holds every key here, so the commission is marked as a demo's and
holds in this home only (design/DETAILS.md, "Identities").
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fabric_dagster.contracts.commission import Commission, Scope
from fabric_dagster.errors import Refused
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.commissioning import commission, revoke
from fabric_dagster.governance.history import commissioned_graphs
from fabric_dagster.governance.qualification import qualify
from resources.validator.review import request_review

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.contracts.commission import Certificate
    from fabric_dagster.supervisor.workflows import Workflow
    from resources.supervision.assembly import Hall

DAYS = 30

#: What the sample workflow may write: the folder of icons (and its .meta), and the offers.
OFFERS = ("Assets/Art/Offers", "Assets/Data/Offers/")


def make_executable(
    hall: Hall, workflow: Workflow, tell: Callable[[str], None], writes: tuple[str, ...] = OFFERS
) -> Commission:
    """The commission in force for ``workflow``; made, act by act, where there is none.

    ``writes`` are the POSIX prefixes under the project that it may write; ``tell`` hears of every act.
    """
    try:
        return hall.authorize(workflow)
    except Refused:
        pass
    home, services = hall.home, hall.services
    store, trust, compiled = services.store, services.trust, workflow.compiled
    commissioner = home.signer("commissioner")
    for digest, standing in commissioned_graphs(store, trust, compiled.reference).items():
        if digest != compiled.digest and standing.commission.demo_home == home.id:
            revoke(store, commissioner, digest, "the sample pack changed", trust)
            tell(f"revoked       the demo commission of {digest[:19]}   by commissioner")
    certificate = _certified(hall, workflow, tell)
    document = Commission(
        schema_="fabric.commission.v1",
        workspace=home.workspace,
        reference=compiled.reference,
        graph=compiled.digest,
        pack=workflow.pack.digest,
        certificate=certificate.digest,
        scope=Scope(
            project=hall.project_id,
            templates=hall.template_digests(workflow),
            writes=writes,
            inputs=tuple(path.as_posix() for path in home.inputs),
        ),
        effects=tuple(sorted(compiled.graph.effects)),
        sops={name: item.digest for name, item in workflow.pack.pack.citations.items()},
        providers=hall.provider_versions(workflow),
        expires=(datetime.now(UTC) + timedelta(days=DAYS)).isoformat(timespec="seconds"),
        commissioner=commissioner.identity,
        demo_home=home.id,
    )
    commission(store, commissioner, document, trust)
    tell(f"commissioned  {document.digest[:19]} for this home, {DAYS} days   by commissioner")
    return hall.authorize(workflow)


def _certified(hall: Hall, workflow: Workflow, tell: Callable[[str], None]) -> Certificate:
    home, services = hall.home, hall.services
    qualification = qualify(workflow.pack, workflow.compiled)
    record_qualification(services.store, home.signer("builder"), qualification, services.trust)
    tell(f"qualified     {len(qualification.cases)} cases, nothing written   by builder")
    receipt = request_review(home.validator, workflow.pack.folder, workflow.compiled.reference)
    tell("reviewed      again from the pack alone, receipt signed   by validator, in its own program")
    certificate = certify(services.store, home.signer("certifier"), receipt, services.trust)
    tell(f"certified     {certificate.graph[:19]}, receipt consumed   by certifier")
    return certificate
