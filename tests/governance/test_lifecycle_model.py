"""No sequence of calls, by whomever, reaches execution without certificate and commission.

A model beside the real thing: it knows only what was done by the identity that may do it.
"""

import tempfile
from itertools import count
from pathlib import Path

import pytest
from governance_world import NOW, World, digest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fabric_dagster.errors import Refused
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.commissioning import commission, revoke
from fabric_dagster.governance.history import stream_of
from fabric_dagster.governance.trust import IDENTITIES
from fabric_dagster.spine.ports import NewEvent

GRAPHS = ("graph", "second revision")
graphs = st.sampled_from(GRAPHS)


def mostly(*right):
    """The identities that may do it, more often than the others."""
    return st.one_of(*(st.just(name) for name in right), st.sampled_from(right), st.sampled_from(IDENTITIES))


class Lifecycle(RuleBasedStateMachine):
    """Two revisions of one graph, every identity, any order."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.numbers = count()
        self.qualified = set()
        self.receipts = {}
        self.certificates = {}
        self.in_force = set()

    def teardown(self):
        """Close the ledger, remove the folder."""
        self.world.store.close()
        self.folder.cleanup()

    def _try(self, call, *args, **kwargs):
        """Whether a call was allowed."""
        try:
            call(*args, **kwargs)
        except Refused:
            return False
        return True

    @rule(graph=graphs, who=mostly("builder"))
    def qualify(self, graph, who):
        """Only a builder's qualification counts."""
        found = self.world.qualification(graph=digest(graph))
        signer = self.world.signers[who]
        if self._try(record_qualification, self.world.store, signer, found, self.world.trust):
            assert who == "builder"
            self.qualified.add(graph)

    @rule(graph=graphs, who=mostly("validator"))
    def review(self, graph, who):
        """Anybody can sign bytes; only the validator's make a receipt."""
        nonce = f"{next(self.numbers):032x}"
        found = self.world.qualification(graph=digest(graph))
        self.receipts[graph] = (who, self.world.receipt(found, by=who, nonce=nonce), False)

    @rule(graph=graphs, who=mostly("certifier"))
    def certify(self, graph, who):
        """Once a receipt, by a certifier, after the qualification."""
        if graph not in self.receipts:
            return
        reviewer, receipt, used = self.receipts[graph]
        try:
            made = certify(self.world.store, self.world.signers[who], receipt, self.world.trust)
        except Refused:
            return
        assert (who, reviewer, used) == ("certifier", "validator", False)
        assert graph in self.qualified
        self.receipts[graph] = (reviewer, receipt, True)
        self.certificates[graph] = made

    @rule(graph=graphs, who=mostly("commissioner"))
    def commission(self, graph, who):
        """By a commissioner, on a certificate."""
        certificate = self.certificates.get(graph)
        if certificate is None:
            return
        expires = f"2027-01-01T00:00:00.{next(self.numbers):06d}Z"
        document = self.world.document(certificate, expires=expires, commissioner=who)
        signer = self.world.signers[who]
        if self._try(commission, self.world.store, signer, document, self.world.trust, now=NOW):
            assert who == "commissioner"
            self.in_force.add(graph)

    @rule(graph=graphs, who=mostly("commissioner", "admin"))
    def revoke(self, graph, who):
        """By a commissioner or an admin."""
        if self._try(
            revoke, self.world.store, self.world.signers[who], digest(graph), "model", self.world.trust
        ):
            assert who in {"commissioner", "admin"}
            self.in_force.discard(graph)

    @rule(
        graph=graphs,
        who=st.sampled_from(IDENTITIES),
        kind=st.sampled_from(["graph.certified", "graph.commissioned"]),
    )
    def claim(self, graph, who, kind):
        """Write a granting event straight into the log, as somebody who may append but not grant."""
        if who in {"certifier", "commissioner"}:
            return
        body = {"commission": {"graph": digest(graph)}, "certificate": {"graph": digest(graph)}}
        event = NewEvent(stream_of(digest(graph)), kind, body)
        self.world.store.append([event], signer=self.world.signers[who])

    @rule(graph=graphs)
    def advance(self, graph):
        """The next step by the book, so that many sequences get far."""
        if graph not in self.qualified:
            self.qualify(graph, "builder")
        elif graph not in self.certificates:
            self.review(graph, "validator")
            self.certify(graph, "certifier")
        elif graph not in self.in_force:
            self.commission(graph, "commissioner")

    @invariant()
    def execution_is_exactly_what_was_granted(self):
        """In force, and the only one: else refused."""
        for graph in GRAPHS:
            allowed = self._try(self.world.authorize, graph_digest=digest(graph))
            assert allowed == (self.in_force == {graph})

    @invariant()
    def the_log_is_sound(self):
        """Whatever was tried."""
        assert self.world.store.verify().sound


Lifecycle.TestCase.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)


@pytest.mark.slow
class TestLifecycle(Lifecycle.TestCase):
    """Run the machine."""
