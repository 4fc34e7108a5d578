"""A pack's example tickets, and proof that each still comes to what the pack says of it.

``tickets/expected.yaml`` maps every example to ``accepted`` or to exactly the codes of its refusal. One
function judges a ticket the way a run would, up to and including the decision, and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Document
from fabric_dagster.documents import check, load_yaml
from fabric_dagster.errors import FabricError, Fault, InvalidDocument
from fabric_dagster.intelligence.corpora import corpus_names, load_corpus
from fabric_dagster.intelligence.decide import Decision, decide
from fabric_dagster.tickets import TicketFiles, parse_ticket, read_issue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.intelligence.corpora import Expectation
    from fabric_dagster.intelligence.packs import LoadedPack

EXPECTED = "tickets/expected.yaml"


class Examples(Document):
    """``tickets/expected.yaml``: file name below ``tickets/`` → what comes of it."""

    SCHEMA: ClassVar[str] = "fabric.ticket-examples.v1"

    schema_: Literal["fabric.ticket-examples.v1"] = Field(alias="schema")
    graph: str
    tickets: dict[str, Literal["accepted"] | list[str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A ticket with its decision, or the faults of its refusal."""

    ticket: Ticket | None
    decision: Decision | None
    faults: tuple[Fault, ...] = ()

    @property
    def codes(self) -> list[str]:
        """The codes of the refusal, sorted; empty for an accepted ticket."""
        return sorted(fault.code for fault in self.faults)


def judge(pack: LoadedPack, reference: str, path: str, served: frozenset[str] | None) -> Outcome:
    """What comes of the ticket file at ``path`` (POSIX, in the pack's folder). Writes nothing.

    Its attachments lie in ``KEY/`` beside it; there is no input root.
    """
    file = pack.folder / path
    ticket = None
    try:
        issue = read_issue(file.read_bytes(), file.name)
        graph = pack.graphs[reference].graph
        ticket = parse_ticket(issue, graph, pack.pack, TicketFiles(file.parent / issue.key), served)
        return Outcome(ticket, decide(pack, reference, ticket))
    except FabricError as fault:
        return Outcome(ticket, None, fault.faults)


def mismatch(outcome: Outcome, expected: Expectation) -> str | None:
    """How ``outcome`` differs from ``expected``, as one sentence; ``None`` where it does not."""
    if sorted(expected.refused) != outcome.codes:
        wanted = ", ".join(sorted(expected.refused)) or "acceptance"
        return f"expected {wanted}, found {', '.join(outcome.codes) or 'acceptance'}"
    decision = outcome.decision
    if decision is None:
        return None
    if expected.rule not in {None, decision.rule}:
        return f"expected rule {expected.rule}, found {decision.rule}"
    for name, value in expected.values.items():
        if (found := decision.values.get(name)) != value:
            return f"expected {name} {value!r}, found {found!r}"
    return None


def example_faults(pack: LoadedPack, served: frozenset[str] | None) -> list[Fault]:
    """Every example ticket and corpus case that does not come to what the pack says of it."""
    return [*_examples(pack, served), *_corpora(pack, served)]


def _examples(pack: LoadedPack, served: frozenset[str] | None) -> Iterator[Fault]:
    if EXPECTED not in pack.files:
        return
    try:
        source = load_yaml((pack.folder / EXPECTED).read_bytes(), f"{pack.folder.name}/{EXPECTED}")
        examples = check(Examples, source)
    except InvalidDocument as fault:
        yield from fault.faults
        return
    if examples.graph not in pack.graphs:
        what = "the pack has no such graph"
        yield Fault("pack.bad_example", what, source.where(("graph",)), "", examples.graph)
        return
    listed = {f"tickets/{name}" for name in examples.tickets}
    for path in pack.files:
        if path.startswith("tickets/") and path.endswith(".json") and path not in listed:
            what = f"{path} is not listed"
            yield Fault("pack.bad_example", what, source.where(("tickets",)), "say what comes of it")
    for name, expected in examples.tickets.items():
        at = source.where(("tickets", name))
        if f"tickets/{name}" not in pack.files:
            yield Fault("pack.bad_example", "there is no such ticket", at, "remove the line", name)
            continue
        codes = judge(pack, examples.graph, f"tickets/{name}", served).codes
        wanted = [] if expected == "accepted" else sorted(expected)
        if codes != wanted:
            what = f"{name} comes to {', '.join(codes) or 'accepted'}"
            yield Fault(
                "pack.example_differs", what, at, "mend ticket or line", ", ".join(wanted) or "accepted"
            )


def _corpora(pack: LoadedPack, served: frozenset[str] | None) -> Iterator[Fault]:
    for name in corpus_names(pack):
        try:
            corpus = load_corpus(pack, name)
        except InvalidDocument as fault:
            yield from fault.faults
            continue
        for case in corpus.cases:
            outcome = judge(pack, corpus.graph, case.ticket, served)
            if what := mismatch(outcome, case.expect):
                where = f"{pack.folder.name}/corpora/{name}.yaml"
                yield Fault("corpus.case_differs", f"case {case.id!r}: {what}", where, "mend case or ticket")
