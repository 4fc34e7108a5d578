"""Makes a pack's graph executable in a demo home, act by act, each by its own identity.

    python docs/tutorial/commission.py CreateOfferBadge@1 Assets/Art/Badges Assets/Data/Offers/

The words after the graph are the paths under the project that its runs may write to. It does what
``fabric demo`` does for the sample pack: one person holds every key, so the commission is marked as a
demo's and holds in this home only.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fabric_dagster.contracts.commission import Commission, Scope
from fabric_dagster.errors import FabricError
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.commissioning import commission
from fabric_dagster.governance.qualification import qualify
from resources.home import Home
from resources.supervision.assembly import hall as open_hall
from resources.validator.review import request_review

DAYS = 7


def main(graph: str, writes: list[str]) -> None:
    """Qualify, have it reviewed, certify, commission."""
    hall = open_hall(Home.find(None).require().path)
    home, store, trust = hall.home, hall.services.store, hall.services.trust
    workflow = hall.workflow(graph)
    qualification = qualify(workflow.pack, workflow.compiled)
    record_qualification(store, home.signer("builder"), qualification, trust)
    print(f"qualified     {len(qualification.cases)} cases, nothing written   by builder")
    receipt = request_review(home.validator, workflow.pack.folder, workflow.compiled.reference)
    print("reviewed      receipt signed   by validator, in its own program")
    certificate = certify(store, home.signer("certifier"), receipt, trust)
    print(f"certified     {certificate.graph[:19]}   by certifier")
    document = Commission(
        schema_="fabric.commission.v1",
        workspace=home.workspace,
        reference=workflow.compiled.reference,
        graph=workflow.compiled.digest,
        pack=workflow.pack.digest,
        certificate=certificate.digest,
        scope=Scope(
            project=hall.project_id,
            templates=hall.template_digests(workflow),
            writes=tuple(writes),
            inputs=tuple(path.as_posix() for path in home.inputs),
        ),
        effects=tuple(sorted(workflow.compiled.graph.effects)),
        sops={name: item.digest for name, item in workflow.pack.pack.citations.items()},
        providers=hall.provider_versions(workflow),
        expires=(datetime.now(UTC) + timedelta(days=DAYS)).isoformat(timespec="seconds"),
        commissioner="commissioner",
        demo_home=home.id,
    )
    commission(store, home.signer("commissioner"), document, trust)
    print(f"commissioned  for this home, {DAYS} days, writing to {', '.join(writes)}   by commissioner")


if __name__ == "__main__":
    if len(sys.argv) < 3:  # noqa: PLR2004 - a graph and at least one path
        sys.exit(f"usage: python {sys.argv[0]} GRAPH PATH...")
    try:
        main(sys.argv[1], sys.argv[2:])
    except FabricError as error:
        sys.exit("\n".join(map(str, error.faults)))
