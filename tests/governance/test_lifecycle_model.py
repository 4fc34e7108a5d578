"""No sequence of calls, by whomever, reaches execution without every step of the lifecycle, in its order.

A model beside the real thing: it knows only what was done by the identity that may do it, and keeps the state
of each revision as the specification has it, not as the table does.
"""

import tempfile
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from governance_world import NOW, REFERENCE, World, digest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fabric_dagster.errors import Refused
from fabric_dagster.governance.certification import certify, record_qualification
from fabric_dagster.governance.commissioning import commission, resume, revoke, suspend
from fabric_dagster.governance.history import history, stream_of
from fabric_dagster.governance.publishing import publish
from fabric_dagster.governance.rotation import record, without_key
from fabric_dagster.governance.trust import IDENTITIES
from fabric_dagster.spine.ports import NewEvent

GRAPHS = ("graph", "second revision")
graphs = st.sampled_from(GRAPHS)
GRANTS = (
    "graph.qualified",
    "graph.certified",
    "graph.published",
    "graph.commissioned",
    "graph.resumed",
)


def mostly(*right):
    """The identities that may do it, more often than the others."""
    return st.one_of(*(st.just(name) for name in right), st.sampled_from(right), st.sampled_from(IDENTITIES))


class Revision:
    """What the model knows of one revision."""

    def __init__(self):
        self.qualified = False
        self.certificate = None
        self.published = None
        self.commissioned = None
        self.suspended = False
        self.expired = False


class Lifecycle(RuleBasedStateMachine):
    """Two revisions of one graph, every identity, any order."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.world = World(Path(self.folder.name))
        self.numbers = count()
        self.known = {name: Revision() for name in GRAPHS}
        self.receipts = {}
        self.revoked_key = False

    def teardown(self):
        """Close the ledger, remove the folder."""
        self.world.store.close()
        self.folder.cleanup()

    def _try(self, call, *args, **kwargs):
        """What a call gave, or ``None`` where it was refused."""
        try:
            return call(*args, **kwargs) or True
        except Refused:
            return None

    def _signer(self, who):
        return self.world.signers[who]

    @rule(graph=graphs, who=mostly("builder"))
    def qualify(self, graph, who):
        """Only a builder's qualification counts."""
        found = self.world.qualification(graph=digest(graph))
        if self._try(record_qualification, self.world.store, self._signer(who), found, self.world.trust):
            assert who == "builder"
            self.known[graph].qualified = True

    @rule(graph=graphs, who=mostly("validator"))
    def review(self, graph, who):
        """Anybody can sign bytes; only the validator's make a receipt."""
        nonce = f"{next(self.numbers):032x}"
        found = self.world.qualification(graph=digest(graph))
        self.receipts[graph] = (who, self.world.receipt(found, by=who, nonce=nonce), False)

    @rule(graph=graphs, meant=graphs, who=mostly("certifier"))
    def certify(self, graph, meant, who):
        """Once a receipt, by a certifier, after the qualification, for the graph that it reviews."""
        if graph not in self.receipts:
            return
        reviewer, receipt, used = self.receipts[graph]
        made = self._try(
            certify, self.world.store, self._signer(who), receipt, self.world.trust, graph=digest(meant)
        )
        if made is None:
            return
        assert (who, reviewer, used, meant) == ("certifier", "validator", False, graph)
        assert self.known[graph].qualified
        assert not self.revoked_key
        self.receipts[graph] = (reviewer, receipt, True)
        self.known[graph].certificate = made

    @rule(graph=graphs, who=mostly("publisher"))
    def publish(self, graph, who):
        """By a publisher, a certificate."""
        args = (self.world.store, self._signer(who), digest(graph), REFERENCE, self.world.trust)
        made = self._try(publish, *args)
        if made is not None:
            assert who == "publisher"
            assert made == self.known[graph].certificate
            self.known[graph].published = made

    @rule(graph=graphs, who=mostly("commissioner"), days=st.sampled_from([1, 200]))
    def commission(self, graph, who, days):
        """By a commissioner, on a published certificate, not over a suspension."""
        certificate = self.known[graph].certificate
        if certificate is None:
            return
        expires = (NOW + timedelta(days=days, microseconds=next(self.numbers) + 1)).isoformat()
        document = self.world.document(certificate, expires=expires, commissioner=who)
        if self._try(commission, self.world.store, self._signer(who), document, self.world.trust, now=NOW):
            assert who == "commissioner"
            assert self.known[graph].published == certificate
            assert not self.known[graph].suspended
            self.known[graph].commissioned = document
            self.known[graph].expired = days == 1

    def _end(self, verb, graph, who):
        args = (self.world.store, self._signer(who), digest(graph), REFERENCE, "model", self.world.trust)
        done = self._try(verb, *args)
        if done is not None:
            assert who in {"commissioner", "admin"}
        return done

    @rule(graph=graphs, who=mostly("commissioner", "admin"))
    def suspend(self, graph, who):
        """Only what is in force."""
        if self._end(suspend, graph, who) is not None:
            assert self.known[graph].commissioned is not None
            assert not self.known[graph].suspended
            self.known[graph].suspended = True

    @rule(graph=graphs, who=mostly("commissioner", "admin"))
    def resume(self, graph, who):
        """Only what is suspended."""
        if self._end(resume, graph, who) is not None:
            assert self.known[graph].suspended
            self.known[graph].suspended = False

    @rule(graph=graphs, who=mostly("commissioner", "admin"))
    def revoke(self, graph, who):
        """Everything of that revision ends."""
        if self._end(revoke, graph, who) is not None:
            assert self.known[graph].certificate is not None
            self.known[graph] = Revision()

    @rule()
    def revoke_the_validators_key(self):
        """Nothing that it signed counts any more, and it signs nothing that does."""
        if self.revoked_key or self.world.store.head()[0] < 12:
            return
        trust = self.world.trust
        ended = without_key(trust, self._signer("validator").keyid, "revoked", "model")
        self.world.trust = record(self.world.store, self._signer("admin"), trust, ended)
        self.world.reopen()
        self.revoked_key = True

    @rule(graph=graphs, who=st.sampled_from(IDENTITIES), kind=st.sampled_from(GRANTS))
    def claim(self, graph, who, kind):
        """Write a granting event straight into the log, with an empty or a copied body."""
        certificate = self.known[graph].certificate
        if (kind, who) in {
            ("graph.qualified", "builder"),
            ("graph.published", "publisher"),
            ("graph.resumed", "commissioner"),
            ("graph.resumed", "admin"),
        }:
            return  # theirs to say
        body = {"state": "commissioned", "lifecycle": "certified", "certificate": {"graph": digest(graph)}}
        if certificate is not None:
            body["certificate"] = certificate.body()
            body["commission"] = self.world.document(certificate).body()
        if (kind, who) == ("graph.commissioned", "commissioner"):
            body["commission"] = {"graph": digest(graph)}  # a real one would be theirs to say
        self.world.store.append([NewEvent(stream_of(digest(graph)), kind, body)], signer=self._signer(who))

    @initialize(steps=st.sampled_from([0, 3, 4, 4, 4]))
    def begin(self, steps):
        """Many sequences begin far along."""
        self.advance("graph", steps)

    @rule(graph=graphs, steps=st.integers(1, 4))
    def advance(self, graph, steps):
        """The next steps by the book, so that many sequences get far."""
        for _ in range(steps):
            self._advance(graph)

    def _advance(self, graph):
        known = self.known[graph]
        if not known.qualified:
            self.qualify(graph, "builder")
        elif known.certificate is None:
            self.review(graph, "validator")
            self.certify(graph, graph, "certifier")
        elif known.published is None:
            self.publish(graph, "publisher")
        elif known.commissioned is None:
            self.commission(graph, "commissioner", 200)
        elif known.suspended:
            self.resume(graph, "commissioner")

    @invariant()
    def execution_is_exactly_what_was_granted(self):
        """In force, the only one, before its expiry, in scope, under keys that hold: else refused."""
        later = NOW + timedelta(days=100)
        for now in (NOW, later):
            in_force = {
                name
                for name, known in self.known.items()
                if known.commissioned is not None
                and not known.suspended
                and not (known.expired and now is later)
            }
            for graph in GRAPHS:
                allowed = self._try(self.world.authorize, graph_digest=digest(graph), now=now) is not None
                assert allowed == (in_force == {graph} and not self.revoked_key)
                outside = self.world.authorize
                assert self._try(outside, graph_digest=digest(graph), project=digest("elsewhere")) is None

    @invariant()
    def states_are_the_models(self):
        """The fold of the log and the model agree on each revision's state."""
        for name, known in self.known.items():
            found = history(self.world.store, self.world.trust, digest(name))
            certificate = None if not found.certified else found.certified[-1].certificate
            assert certificate == known.certificate
            assert (found.state == "suspended") == known.suspended
            standing = None if found.commissioned is None else found.commissioned.commission
            assert standing == known.commissioned

    @invariant()
    def the_log_is_sound(self):
        """Whatever was tried."""
        assert self.world.store.verify().sound


Lifecycle.TestCase.settings = settings(max_examples=12, stateful_step_count=30, deadline=None)


@pytest.mark.slow
class TestLifecycle(Lifecycle.TestCase):
    """Run the machine."""
