"""Makes the sample pack executable in one home, visibly and by the book: every act by its own identity.

The acts are the ones of ``fabric qualify|validator|certify|publish|commission``, through the same functions.
This is for the demo alone: one person holds every key here, so the commission is marked as a demo's and
holds in this home only (design/DETAILS.md, "Identities").
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fabric_dagster.errors import Refused
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.commissioning import commission, revoke
from fabric_dagster.governance.history import commissioned_graphs
from fabric_dagster.governance.publishing import publish
from fabric_dagster.governance.qualification import qualify
from resources.reviewer.client import request_review
from resources.supervision.scoping import commission_of, scope_now

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.contracts.commission import Certificate, Commission
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
    What a person suspended is not taken up again: ``Refused`` (``authority.suspended``). Two demos at once
    take turns, so that the second finds what the first made.
    """
    with hall.hold("demonstration"):
        return _executable(hall, workflow, tell, writes)


def _executable(
    hall: Hall, workflow: Workflow, tell: Callable[[str], None], writes: tuple[str, ...]
) -> Commission:
    try:
        return hall.authorize(workflow)
    except Refused as fault:
        if fault.code == "authority.suspended":
            raise
    home, store, trust = hall.home, hall.services.store, hall.services.trust
    compiled = workflow.compiled
    commissioner = home.signer("commissioner")
    for digest, standing in commissioned_graphs(store, trust, compiled.reference).items():
        if digest != compiled.digest and standing.commission.demo_home == home.id:
            revoke(store, commissioner, digest, compiled.reference, "the sample pack changed", trust)
            tell(f"revoked       the demo commission of {digest[:19]}   by commissioner")
    certificate = _certified(hall, workflow, tell)
    scope = scope_now(hall, workflow, writes, until=datetime.now(UTC) + timedelta(days=DAYS))
    document = commission_of(hall, workflow, certificate, scope, commissioner.identity, demo_home=home.id)
    commission(store, commissioner, document, trust)
    tell(f"commissioned  {document.digest[:19]} for this home, {DAYS} days   by commissioner")
    return hall.authorize(workflow)


def _certified(hall: Hall, workflow: Workflow, tell: Callable[[str], None]) -> Certificate:
    """A fresh certificate, published."""
    home, store, trust = hall.home, hall.services.store, hall.services.trust
    compiled = workflow.compiled
    qualification = qualify(workflow.pack, compiled, hall.bindings(workflow))
    record_qualification(store, home.signer("builder"), qualification, trust)
    tell(f"qualified     {len(qualification.cases)} cases, nothing written   by builder")
    receipt = request_review(home.validator, workflow.pack.folder, compiled.reference)
    tell("reviewed      again from the pack alone, receipt signed   by validator, in its own program")
    certificate = certify(store, home.signer("certifier"), receipt, trust, graph=compiled.digest)
    tell(f"certified     {certificate.graph[:19]}, receipt consumed   by certifier")
    publish(store, home.signer("publisher"), compiled.digest, compiled.reference, trust)
    tell(f"published     {certificate.digest[:19]}   by publisher")
    return certificate
