"""Publishing: a publisher, who did not build it, makes a certified graph available for commissioning.

Rules kept here:

* Exactly one certificate is published by an act, by its digest. Publishing lets nothing execute.
* The publisher is another identity than builder, validator and certifier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.errors import Refused
from fabric_dagster.governance.history import duties, history, stream_of
from fabric_dagster.governance.lifecycle import PUBLISHED, require_step
from fabric_dagster.governance.roles import require
from fabric_dagster.governance.separation import separate
from fabric_dagster.spine.ports import NewEvent

if TYPE_CHECKING:
    from fabric_dagster.contracts.commission import Certificate
    from fabric_dagster.governance.trust import TrustRoot
    from fabric_dagster.spine.ports import EventStore, Signer


def publish(store: EventStore, signer: Signer, graph: str, reference: str, trust: TrustRoot) -> Certificate:
    """Publish the newest certificate of ``graph``; the same one again is the same act.

    Raises ``Refused``: ``authority.denied``, ``authority.uncertified``, ``authority.same_identity``,
    ``authority.lifecycle``.
    """
    require(trust, signer, "graph.publish")
    found = history(store, trust, graph)
    certified = next(
        (item for item in reversed(found.certified) if item.certificate.reference == reference), None
    )
    if certified is None:
        raise Refused(
            "authority.uncertified",
            "no certificate holds for this exact graph",
            where=reference,
            value=graph,
            mend="certify it first",
        )
    separate(**duties(certified), publisher=(signer.identity, signer.keyid))
    require_step(found.state, PUBLISHED, reference)
    certificate = certified.certificate
    body = {"reference": reference, "graph": graph, "certificate": certificate.digest}
    key = f"published:{certificate.digest}"
    if store.by_key(key) is None:
        store.append([NewEvent(stream_of(graph), PUBLISHED, body, key)], signer=signer)
    return certificate
