"""No-write qualification: a sealed graph over a frozen corpus, as far as it goes without any effect.

Rules kept here:

* Each case goes the way of a ticket: read, typed, decided from evidence, and then through exactly the
  partitions that a run goes through: every application partition's plan is bound, every control's arguments
  are, and the checks that would judge each are laid down. No provider is called, nothing is written, nothing
  is granted.
* The results hold nothing that differs from one pass to the next, so that the separate validator, who
  derives them again from the same bytes, comes to the same digest or does not sign.
* What an application would produce stands as a fixed placeholder of its type; random choices are not drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias

from fabric_dagster.capabilities.registry import capabilities as registered
from fabric_dagster.contracts.physical_plan import PlanInput
from fabric_dagster.contracts.qualification import CaseResult, Qualification
from fabric_dagster.digests import digest_of
from fabric_dagster.errors import FabricError, UsageFault
from fabric_dagster.graphs.compile import compile_graph
from fabric_dagster.graphs.plan import bind_plan
from fabric_dagster.graphs.refs import ANY, Ref, replace_refs
from fabric_dagster.graphs.seal import seal_graph
from fabric_dagster.intelligence.corpora import corpus_digest, corpus_names, load_corpus
from fabric_dagster.intelligence.decide import CAPABILITY as DECISION
from fabric_dagster.intelligence.examples import Outcome, judge, mismatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.capabilities.base import Capability
    from fabric_dagster.contracts.qualification import Bindings
    from fabric_dagster.contracts.ticket import Ticket
    from fabric_dagster.graphs.compiled import CompiledGraph, CompiledPartition
    from fabric_dagster.intelligence.corpora import Case, Corpus
    from fabric_dagster.intelligence.decide import Decision
    from fabric_dagster.intelligence.packs import LoadedPack

#: what an application would produce, by value type; never seen outside of a qualification.
PLACEHOLDERS: Mapping[str, Any] = {
    "unity_reference": {"fileID": "21300000", "guid": "0" * 32, "type": 3},
    "unity_path": "Assets/Placeholder.asset",
    "layer": {"id": 1},
    "scalar": "0",
    "text": "placeholder",
}
#: applies a function to every case, in order
Each: TypeAlias = Callable[[Callable[["Case"], CaseResult], Iterable["Case"]], Iterable[CaseResult]]
FILES = frozenset({"png", "psd", "picture", "file"})


def compile_reference(
    pack: LoadedPack, reference: str, capabilities: Mapping[str, Capability] | None = None
) -> CompiledGraph:
    """The pack's graph ``reference``, compiled; ``UsageFault`` (``graph.unknown``) if it has none."""
    if reference not in pack.graphs:
        raise UsageFault(
            "graph.unknown",
            f"the pack {pack.pack.name} has no graph {reference}",
            mend=f"name one of: {', '.join(pack.graphs)}",
        )
    known = registered() if capabilities is None else capabilities
    return compile_graph(seal_graph(pack.graphs[reference], known), known)


def qualify(
    pack: LoadedPack,
    compiled: CompiledGraph,
    bindings: Bindings,
    corpus: str | None = None,
    *,
    each: Each = map,
) -> Qualification:
    """Every case of the corpus (the one for this graph, or the one named); passed or not, with reasons.

    ``bindings`` are what the graph stands on here (``validators.bindings``). ``each`` applies a function to
    every case in order, as ``map`` does; a pool's does so on several processes.
    """
    cases = _corpus(pack, compiled.reference, corpus)
    return Qualification(
        schema_="fabric.qualification.v1",
        reference=compiled.reference,
        graph=compiled.digest,
        pack=pack.digest,
        corpus=corpus_digest(pack, cases),
        bindings=bindings,
        cases=tuple(each(partial(_case, pack, compiled), cases.cases)),
    )


def _corpus(pack: LoadedPack, reference: str, name: str | None) -> Corpus:
    names = corpus_names(pack) if name is None else (name,)
    loaded = {key: load_corpus(pack, key) for key in names}
    fitting = sorted(key for key, item in loaded.items() if item.graph == reference)
    if len(fitting) != 1:
        raise UsageFault(
            "corpus.unknown",
            f"the pack {pack.pack.name} has {'several corpora' if fitting else 'no corpus'} for {reference}",
            value=name,
            mend=f"name one of: {', '.join(fitting)}" if fitting else "add one under corpora/",
        )
    return loaded[fitting[0]]


def _case(pack: LoadedPack, compiled: CompiledGraph, case: Case) -> CaseResult:
    # Served is what the graph itself binds: the same for the builder and for the validator, whatever
    # provider there is where it will run.
    bound = frozenset(node.capability for node in compiled.graph.nodes)
    outcome = judge(pack, compiled.reference, case.ticket, bound)
    plans: dict[str, str] = {}
    controls: dict[str, str] = {}
    if outcome.ticket is not None and outcome.decision is not None:
        try:
            plans, controls = _walk(pack, compiled, outcome.ticket, outcome.decision)
        except FabricError as error:
            outcome = Outcome(outcome.ticket, None, error.faults)
    why = mismatch(outcome, case.expect)
    if why is not None and outcome.faults:
        why = f"{why} ({outcome.faults[0]})"
    decision = outcome.decision
    return CaseResult(
        id=case.id,
        outcome="refused" if decision is None else "accepted",
        passed=why is None,
        ticket=None if outcome.ticket is None else outcome.ticket.digest,
        rule=None if decision is None else decision.rule,
        values={} if decision is None else dict(decision.values),
        plans=plans,
        controls=controls,
        codes=tuple(outcome.codes),
        why=why,
    )


def _walk(
    pack: LoadedPack, compiled: CompiledGraph, ticket: Ticket, decision: Decision
) -> tuple[dict[str, str], dict[str, str]]:
    """The bound plans of the application partitions and the controls of all, in the order of a run."""
    run = digest_of("fabric.qualification-run.v1", {"graph": compiled.digest, "ticket": ticket.digest})
    plans, controls = {}, {}
    for partition in compiled.partitions:
        files: dict[str, str] = {}

        def resolve(source: str, name: str, files: dict[str, str] = files) -> Any:  # noqa: ANN401 - any value
            return _value(compiled, ticket, decision, files, source, name)

        controls[partition.id] = _control(pack, compiled, partition, resolve)
        if partition.template is None:
            continue
        bound = bind_plan(partition.template, resolve, run=run)
        inputs = tuple(PlanInput(path=path, digest=digest) for path, digest in sorted(files.items()))
        plans[partition.id] = bound.model_copy(update={"inputs": inputs}).digest
    return plans, controls


def _control(
    pack: LoadedPack,
    compiled: CompiledGraph,
    partition: CompiledPartition,
    resolve: Callable[[str, str], Any],
) -> str:
    """What stands between partitions here: a control's arguments, and the checks that would judge it."""
    by_id = {node.id: node for node in compiled.graph.nodes}
    nodes = (by_id[name] for name in partition.nodes if partition.template is None)

    def value(node: str, ref: Ref) -> Any:  # noqa: ANN401 - any value
        return resolve(f"{ANY}:{node}" if ref.source == ANY else ref.source, ref.name)

    checks = (
        {
            "id": item.id,
            "after": item.after,
            "blocking": item.blocking,
            "params": pack.pack.checks.get(item.id, {}),
        }
        for item in compiled.validators[partition.id]
    )
    body = {
        "needs": partition.needs,
        "controls": {
            node.id: {
                "capability": node.capability,
                "arguments": replace_refs(node.args, partial(value, node.id)),
            }
            for node in nodes
        },
        "checks": list(checks),
    }
    return digest_of("fabric.qualified-control.v1", body)


def _value(
    compiled: CompiledGraph, ticket: Ticket, decision: Decision, files: dict[str, str], source: str, name: str
) -> Any:  # noqa: ANN401 - a graph's value
    if source == "input":
        if name not in ticket.files:
            return ticket.inputs.get(name)
        picture = ticket.files[name]
        path = f"inputs/{name}.{picture.format}"
        files[path] = picture.digest
        return path
    if source.startswith(f"{ANY}:"):
        source = compiled.nodes[source.removeprefix(f"{ANY}:")].needs[0]
    node = compiled.nodes[source]
    kind = node.outputs[name]
    if node.capability == DECISION:
        value = decision.values[name]
        return f"inputs/template{PurePosixPath(value).suffix}" if kind == "psd" else value
    return f"inputs/{source}_{name}.{kind}" if kind in FILES else PLACEHOLDERS[kind]
