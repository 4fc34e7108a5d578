"""A small world of identities, a ledger, and a graph that can be taken through its lifecycle."""

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fabric_dagster.contracts.commission import Commission
from fabric_dagster.contracts.qualification import Bindings, CaseResult, Qualification, Review
from fabric_dagster.digests import digest_bytes
from fabric_dagster.governance.authority import authorize_execution
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.commissioning import commission
from fabric_dagster.governance.publishing import publish
from fabric_dagster.governance.receipts import sign_review
from fabric_dagster.governance.rotation import record, with_key, without_key
from fabric_dagster.governance.trust import IDENTITIES, TrustRoot
from resources.keys import signer_of
from resources.ledger.store import SqlEventStore

NOW = datetime(2026, 6, 1, tzinfo=UTC)
REFERENCE = "MakeIcon@1"


def digest(text):
    """A digest that stands for something."""
    return digest_bytes(text.encode())


BINDINGS = Bindings(
    validators={"png_valid@1": digest("png_valid")},
    capabilities={"unity.import_texture@1": digest("import_texture")},
    compatibility=digest("compatibility"),
    recovery=digest("recovery"),
)


def fresh(identity):
    """A new key."""
    return signer_of(identity, Ed25519PrivateKey.generate())


def rotated(world, identity, how="retired", **more):
    """The next version: the identity's key ended, a new one in its place; recorded, and the log reopened."""
    new = fresh(identity)
    following = with_key(world.trust, identity, new.public)
    following = without_key(following, world.signers[identity].keyid, how, "for the test", **more)
    world.trust = record(world.store, world.signers["admin"], world.trust, following)
    world.signers[identity] = new
    world.reopen()
    return new


class World:
    """Everything that a governed graph stands on; each step can be varied."""

    def __init__(self, folder):
        self.signers = {
            name: signer_of(name, Ed25519PrivateKey.from_private_bytes(name.encode().ljust(32, b".")))
            for name in IDENTITIES
        }
        self.trust = TrustRoot.of({name: signer.public for name, signer in self.signers.items()})
        self.url = f"sqlite:///{(folder / 'ledger.sqlite').as_posix()}"
        self.store = SqlEventStore(self.url, "default", self.trust)

    def reopen(self):
        """Open the ledger again, under the trust root as it is now."""
        self.store.close()
        self.store = SqlEventStore(self.url, "default", self.trust)

    def qualification(self, **changed):
        """What a builder's no-write pass came to."""
        facts = {
            "schema": "fabric.qualification.v1",
            "reference": REFERENCE,
            "graph": digest("graph"),
            "pack": digest("pack"),
            "corpus": digest("corpus"),
            "bindings": BINDINGS,
            "cases": [CaseResult(id="one", outcome="accepted", passed=True)],
        }
        return Qualification.model_validate(facts | changed)

    def qualify(self, **changed):
        """Record a qualification by the builder."""
        found = self.qualification(**changed)
        record_qualification(self.store, self.signers["builder"], found, self.trust)
        return found

    def review(self, qualification, **changed):
        """A review of it, as the validator derives it."""
        facts = {
            "schema": "fabric.review.v1",
            "reference": qualification.reference,
            "graph": qualification.graph,
            "pack": qualification.pack,
            "corpus": qualification.corpus,
            "results": qualification.digest,
            "bindings": qualification.bindings,
            "cases": len(qualification.cases),
            "passed": True,
            "nonce": "0" * 32,
        }
        return Review.model_validate(facts | changed)

    def receipt(self, qualification, by="validator", **changed):
        """The signed review."""
        return sign_review(self.review(qualification, **changed), self.signers[by])

    def certify(self, by="certifier", nonce="0" * 32, **changed):
        """Qualify, review, certify."""
        receipt = self.receipt(self.qualify(**changed), nonce=nonce)
        self.certificate = certify(self.store, self.signers[by], receipt, self.trust)
        return self.certificate

    def act(self, verb, by, graph="graph"):
        """Suspend, resume or revoke."""
        return verb(self.store, self.signers[by], digest(graph), REFERENCE, "for the test", self.trust)

    def publish(self, certificate, by="publisher"):
        """Make a certificate available for commissioning."""
        return publish(self.store, self.signers[by], certificate.graph, certificate.reference, self.trust)

    def document(self, certificate, /, **changed):
        """A commission on that certificate."""
        facts = {
            "schema": "fabric.commission.v1",
            "workspace": "default",
            "reference": certificate.reference,
            "graph": certificate.graph,
            "pack": certificate.pack,
            "certificate": certificate.digest,
            "scope": {
                "project": digest("project"),
                "templates": {"icon.psd": digest("template")},
                "writes": ["Assets/Art/"],
            },
            "effects": ["unity.asset.write"],
            "sops": {"sop_1": digest("sop")},
            "providers": {"unity": "headless/1.0.0"},
            "expires": "2026-12-31T00:00:00Z",
            "commissioner": "commissioner",
            "demo_home": digest("home"),
        }
        return Commission.model_validate(facts | changed)

    def commission(self, certificate, /, by="commissioner", *, publish=True, **changed):
        """Publish the certificate, where it is not yet, and seal a commission."""
        document = self.document(certificate, **changed)
        if publish:
            self.publish(certificate)
        commission(self.store, self.signers[by], document, self.trust, now=NOW)
        return document

    def authorize(self, **changed):
        """Ask whether the graph may execute, as things are."""
        facts = {
            "trust": self.trust,
            "reference": REFERENCE,
            "graph_digest": digest("graph"),
            "pack_digest": digest("pack"),
            "workspace": "default",
            "home_id": digest("home"),
            "now": NOW,
            "effects": ["unity.asset.write"],
            "providers": {"unity": "headless/1.0.0"},
            "sops": {"sop_1": digest("sop")},
            "templates": {"icon.psd": digest("template"), "other.psd": digest("other")},
            "bindings": BINDINGS,
            "project": digest("project"),
        }
        return authorize_execution(self.store, **(facts | changed))
