"""Draws a compiled graph as a Mermaid flowchart: partitions as boxes, validators and recovery as notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric_dagster.graphs.partitions import CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.graphs.compiled import CompiledGraph


def mermaid(compiled: CompiledGraph) -> str:
    """The drawing's text. Deterministic; ends with a newline."""
    return "\n".join(_lines(compiled)) + "\n"


def _lines(compiled: CompiledGraph) -> Iterator[str]:
    yield "flowchart LR"
    for part in compiled.partitions:
        shapes = [f"{name}[{_label(name, compiled.nodes[name].capability)}]" for name in part.nodes]
        if part.application == CONTROL:
            yield from (f"  {shape}" for shape in shapes)
            continue
        yield f"  subgraph {part.id}[{_label(part.id)}]"
        yield from (f"    {shape}" for shape in shapes)
        yield "  end"
        if judges := compiled.validators[part.id]:
            yield f"  {part.id}_checks{{{{{_label(*(item.id for item in judges))}}}}}"
            yield f"  {part.id} -.-> {part.id}_checks"
    for node in compiled.nodes.values():
        arrow = "-- any -->" if node.join == "any" else "-->"
        yield from (f"  {parent} {arrow} {node.id}" for parent in node.needs)
    for edge in compiled.recovery:
        yield f'  {edge.at} -. "{_text(f"{edge.on}, at most {edge.attempts} times")}" .-> {edge.resume}'


def _label(*lines: str) -> str:
    return '"' + "<br/>".join(map(_text, lines)) + '"'


def _text(text: str) -> str:
    """Escaped for a quoted Mermaid label."""
    return text.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
