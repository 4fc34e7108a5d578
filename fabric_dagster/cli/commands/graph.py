"""``fabric graph``: looks at a Skill Graph; validates it first, writes nothing, grants nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import HomeOption, JsonFlag, PacksOption, emit, say

if TYPE_CHECKING:
    from fabric_dagster.graphs.compiled import CompiledGraph

GraphArgument = Annotated[str, typer.Argument(help="Name@MAJOR of a pack's graph, or a YAML file.")]
MermaidFlag = Annotated[bool, typer.Option("--mermaid", help="Draw it as a Mermaid flowchart.")]


def register(app: typer.Typer) -> None:
    """Add the command and its verbs."""
    group = typer.Typer(help="Show, seal or compile a Skill Graph.", no_args_is_help=True)
    group.command("show")(show)
    group.command("seal")(seal)
    group.command("compile")(compile_)
    app.add_typer(group, name="graph")


def show(
    graph: GraphArgument,
    *,
    home: HomeOption = None,
    packs: PacksOption = None,
    as_json: JsonFlag = False,
    draw: MermaidFlag = False,
) -> None:
    """Print nodes, partitions, validators, recovery edges and the digest."""
    compiled = _compiled(graph, home, packs)
    if draw:
        _draw(compiled, as_json=as_json)
        return
    emit(_document(compiled), as_json=as_json, human=lambda: _tables(compiled))


def seal(
    graph: GraphArgument,
    *,
    home: HomeOption = None,
    packs: PacksOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the digest of the sealed graph and of each node."""
    from fabric_dagster.capabilities.registry import capabilities
    from fabric_dagster.cli.graphs import find_graph
    from fabric_dagster.graphs.seal import seal_graph

    sealed = seal_graph(find_graph(graph, home, packs), capabilities())
    document = {
        "reference": sealed.graph.reference,
        "version": sealed.graph.version,
        "digest": sealed.digest,
        "nodes": dict(sealed.node_digests),
        "graph": sealed.graph.body(),
    }

    def human() -> None:
        say(f"{sealed.graph.reference}  {sealed.graph.version}  {sealed.digest}")
        wide = max(map(len, sealed.node_digests))
        for name, digest in sealed.node_digests.items():
            say(f"  {name:<{wide}}  {digest}")

    emit(document, as_json=as_json, human=human)


def compile_(
    graph: GraphArgument,
    *,
    home: HomeOption = None,
    packs: PacksOption = None,
    as_json: JsonFlag = False,
    draw: MermaidFlag = False,
) -> None:
    """Print each partition with its plan template; refused where no provider here does what it needs."""
    from fabric_dagster.cli.packs import served_by
    from fabric_dagster.graphs.served import require_served

    compiled = _compiled(graph, home, packs)
    require_served(compiled, served_by(home))
    if draw:
        _draw(compiled, as_json=as_json)
        return
    emit(_document(compiled, plans=True), as_json=as_json, human=lambda: _plans(compiled))


def _compiled(graph: str, home: Path | None, packs: Path | None) -> CompiledGraph:
    from fabric_dagster.capabilities.registry import capabilities
    from fabric_dagster.cli.graphs import find_graph
    from fabric_dagster.graphs.compile import compile_graph
    from fabric_dagster.graphs.seal import seal_graph

    return compile_graph(seal_graph(find_graph(graph, home, packs), capabilities()), capabilities())


def _draw(compiled: CompiledGraph, *, as_json: bool) -> None:
    from fabric_dagster.graphs.mermaid import mermaid

    text = mermaid(compiled)
    emit(
        {"reference": compiled.reference, "mermaid": text}, as_json=as_json, human=lambda: say(text.rstrip())
    )


def _document(compiled: CompiledGraph, *, plans: bool = False) -> dict[str, Any]:
    """The JSON form of a compiled graph; with ``plans``, each partition's template is in it."""
    from dataclasses import asdict

    partitions = []
    for part in compiled.partitions:
        row: dict[str, Any] = {
            "id": part.id,
            "application": part.application,
            "nodes": list(part.nodes),
            "needs": list(part.needs),
            "effects": list(part.effects),
            "template_digest": part.template_digest,
            "validators": [item.body() for item in compiled.validators[part.id]],
        }
        if plans:
            row["objective"] = part.objective
            row["criteria"] = list(part.criteria)
            row["template"] = part.template.body() if part.template else None
        partitions.append(row)
    return {
        "reference": compiled.reference,
        "version": compiled.graph.version,
        "title": compiled.graph.title,
        "digest": compiled.digest,
        "workflow": compiled.workflow,
        "compatibility": compiled.graph.compatibility,
        "effects": list(compiled.graph.effects),
        "nodes": [asdict(node) for node in compiled.nodes.values()],
        "partitions": partitions,
        "recovery": [edge.body() for edge in compiled.recovery],
    }


def _tables(compiled: CompiledGraph) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    graph = compiled.graph
    console.print(f"[bold]{escape(compiled.reference)}[/bold]  {graph.version}  {escape(graph.title)}")
    console.print(compiled.digest)
    ranges = ", ".join(f"{name} {text}" for name, text in sorted(graph.compatibility.items()))
    console.print(f"for {escape(ranges)}\n")

    nodes = Table("partition", "node", "capability", box=None, pad_edge=False, header_style="bold")
    nodes.add_column("needs", overflow="fold")
    for column in nodes.columns[:3]:
        column.no_wrap = True
    for part in compiled.partitions:
        for place, name in enumerate(part.nodes):
            node = compiled.nodes[name]
            row = ("" if place else part.id, name, node.capability, ", ".join(node.needs))
            nodes.add_row(*map(escape, row))
    console.print(nodes)

    checks = Table(
        "partition", "validator", "after", "blocking", box=None, pad_edge=False, header_style="bold"
    )
    for part in compiled.partitions:
        for place, item in enumerate(compiled.validators[part.id]):
            blocking = "yes" if item.blocking else "no"
            checks.add_row("" if place else part.id, item.id, item.after, blocking)
    console.print("")
    console.print(checks)

    if compiled.recovery:
        edges = Table("on failure", "at", "resume", "attempts", box=None, pad_edge=False, header_style="bold")
        for edge in compiled.recovery:
            edges.add_row(escape(edge.on), edge.at, edge.resume, str(edge.attempts))
        console.print("")
        console.print(edges)
    console.print(f"\neffects: {escape(', '.join(graph.effects) or 'none')}")


def _plans(compiled: CompiledGraph) -> None:
    import json

    say(f"{compiled.reference}  {compiled.digest}")
    for part in compiled.partitions:
        needs = f"  after {', '.join(part.needs)}" if part.needs else ""
        say(f"\n{part.id}{needs}")
        if part.template is None:
            say(f"  {part.capabilities[0]}")
            continue
        say(f"  {part.template_digest}")
        for operation in part.template.operations:
            say(f"  {operation.node}: {operation.capability}")
            for key, value in operation.args.items():
                say(f"    {key}: {json.dumps(value, ensure_ascii=False)}")
