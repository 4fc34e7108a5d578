"""Values: declared outputs, literal arguments, references and their types, handoffs between applications."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fabric_dagster.capabilities.base import ASSIGNABLE, Capability, assignable
from fabric_dagster.graphs.case import SEAL, Case, Path, listed
from fabric_dagster.graphs.partitions import CONTROL
from fabric_dagster.graphs.refs import ANY, INPUT, BadRef, Ref, find_refs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.contracts.skill_graph import Node
    from fabric_dagster.errors import Fault

#: What a reference may be inside an argument's mapping, where no field declares a type of its own.
NESTED = "scalar"
#: Value types that are bytes in a file.
ARTIFACT = "file"

_OUTPUT = re.compile(r"[a-z][a-z0-9_]{0,62}")


def outputs(case: Case) -> Iterator[Fault]:
    """A node declares outputs only where its capability leaves them open, each with a type that is known."""
    types = _types(case)
    whole = len(case.capabilities) == len(case.nodes)  # one that is missing may be what takes the type
    for name, bound in case.capabilities.items():
        declared = case.nodes[name].outputs
        if declared and not bound.open_outputs:
            yield case.fault(
                case.at(name, "outputs"),
                "outputs_closed",
                f"{bound.id} has its own outputs ({listed(bound.outputs)})",
                "remove the key 'outputs'",
                listed(declared),
            )
            continue
        for output, kind in declared.items():
            path = case.at(name, "outputs", output)
            if not _OUTPUT.fullmatch(output):
                yield case.fault(
                    path,
                    "bad_output_name",
                    f"{name} declares an output that no $ref can name",
                    "use small letters, digits and underscores",
                    output,
                )
            if whole and kind not in types:
                yield case.fault(
                    path,
                    "unknown_type",
                    f"the output {output!r} has a type that nothing takes",
                    f"use one of: {listed(types)}",
                    kind,
                )


def _types(case: Case) -> frozenset[str]:
    """Every value type that the registry or the tickets know."""
    found = {kind for kinds in ASSIGNABLE.values() for kind in kinds}
    for bound in case.registry.values():
        found.update(bound.outputs.values(), bound.arguments.kinds().values())
    return frozenset(found - {"literal"})


def arguments(case: Case) -> Iterator[Fault]:
    """Literals fit the capability's argument model; nothing is missing, nothing unknown."""
    for place, node, bound in case.bound:
        yield from _literals(case, place, node, bound)


def _literals(case: Case, index: int, node: Node, bound: Capability) -> Iterator[Fault]:
    name, args = node.id, ("nodes", index, "args")
    fed = {key for key, value in node.args.items() if next(find_refs(value), None) is not None}
    try:
        bound.arguments.model_validate({key: value for key, value in node.args.items() if key not in fed})
    except ValidationError as error:
        problems = error.errors(include_url=False)
    else:
        problems = []
    known = bound.arguments.kinds()
    for problem in problems:
        kind, place = problem["type"], problem["loc"]
        path = (*args, *place)
        shown = ".".join(map(str, place)) or "the arguments"
        if (kind == "missing" and place[0] in fed) or (fed and not place):
            continue  # what is fed is not there yet; nor can the model as a whole be judged without it
        if kind == "missing":
            what = f"{name}: the argument {shown!r} of {bound.id} is missing"
            yield case.fault(path, "missing_argument", what, "add it")
        elif kind == "extra_forbidden":
            yield _unknown(case, name, bound, shown, path)
        else:
            found = problem.get("input")
            value = None if isinstance(found, dict | list) else str(found)
            yield case.fault(path, "bad_argument", f"{name}: {shown}: {problem['msg']}", "", value)
    for key in sorted(fed - known.keys()):
        yield _unknown(case, name, bound, key, (*args, key))


def _unknown(case: Case, name: str, bound: Capability, shown: str, path: Path) -> Fault:
    takes = listed(bound.arguments.kinds())
    what = f"{name}: {bound.id} has no such argument"
    return case.fault(path, "unknown_argument", what, f"it takes: {takes}", shown)


def references(case: Case) -> Iterator[Fault]:
    """Each reference names a value that is there by then and of a type that fits."""
    for name, node in case.nodes.items():
        for ref in find_refs(node.args):
            path = case.at(name, "args", *ref.path)
            if isinstance(ref, BadRef):
                yield case.fault(
                    path, "bad_ref", f"{name}: {ref.why}", "write {$ref: node.output}", ref.value
                )
                continue
            yield from _source(case, node, ref, path)


def _source(case: Case, node: Node, ref: Ref, path: Path) -> Iterator[Fault]:
    bound = case.capabilities.get(node.id)
    if ref.source == INPUT:
        given = case.graph.inputs.get(ref.name)
        if given is None:
            yield case.fault(
                path,
                "unknown_input",
                f"{node.id}: the ticket has no such input",
                f"the inputs are: {listed(case.graph.inputs)}",
                str(ref),
            )
            return
        if not given.required and bound and _needed(bound, ref):
            yield case.fault(
                path,
                "optional_feeds_required",
                f"{node.id}: an optional input feeds an argument that must be there",
                "make the input required, or feed something else",
                str(ref),
            )
        yield from _fits(case, node, ref, given.type, path)
        return
    if ref.source == ANY:
        yield from _whichever(case, node, ref, path)
        return
    if ref.source not in case.nodes:
        yield case.fault(
            path,
            "unknown_ref_source",
            f"{node.id}: no node has this id",
            "name 'input' or a node above this one",
            str(ref),
        )
        return
    if ref.source not in case.ancestors[node.id]:
        yield case.fault(
            path,
            "ref_not_above",
            f"{node.id}: {ref.source} does not come before it",
            f"let {node.id} need {ref.source}, or something below it",
            str(ref),
        )
    elif case.acyclic and ref.source not in case.guaranteed[node.id]:
        yield case.fault(
            path,
            "ref_uncertain",
            f"{node.id}: {ref.source} stands above only some of the parents of an 'any' join",
            f"take the value from a node above all of them, or write {ANY}.{ref.name} in the join itself",
            str(ref),
        )
    yield from _output(case, node, ref, ref.source, path)


def _whichever(case: Case, node: Node, ref: Ref, path: Path) -> Iterator[Fault]:
    """``any`` means the parent that serves: each of them must be able to."""
    if node.join != "any":
        yield case.fault(
            path,
            "ref_any_outside_join",
            f"{node.id} needs each of its parents, so none of them is any",
            "name the node, or say join: any",
            str(ref),
        )
        return
    for need in case.parents[node.id]:
        yield from _output(case, node, ref, need, path)


def _output(case: Case, node: Node, ref: Ref, source: str, path: Path) -> Iterator[Fault]:
    """The node ``source`` gives what ``ref`` names, and it fits."""
    there = case.outputs(source)
    if there is None:
        return
    if ref.name not in there:
        yield case.fault(
            path,
            "unknown_output",
            f"{node.id}: {source} has no such output",
            f"its outputs are: {listed(there)}",
            str(ref),
        )
        return
    yield from _fits(case, node, ref, there[ref.name], path)
    yield from _crosses(case, node, ref, there[ref.name], source, path)


def _needed(bound: Capability, ref: Ref) -> bool:
    """Whether the argument that ``ref`` feeds must be there. What lies deeper in one always must."""
    if len(ref.path) > 1:
        return True
    return any(
        field.is_required()
        for key, field in bound.arguments.model_fields.items()
        if ref.path[0] in {key, field.alias}
    )


def _fits(case: Case, node: Node, ref: Ref, kind: str, path: Path) -> Iterator[Fault]:
    bound = case.capabilities.get(node.id)
    takes = bound.arguments.kinds().get(str(ref.path[0])) if bound else None
    if bound is None or takes is None:
        return
    if takes != "literal" and any(isinstance(step, str) for step in ref.path[1:]):
        takes = NESTED
    if not assignable(kind, takes):
        place = ".".join(map(str, ref.path))
        what = (
            f"takes no reference but a literal, and is fed {kind}"
            if takes == "literal"
            else (f"takes {takes} and is fed {kind}")
        )
        yield case.fault(
            path, "type_mismatch", f"{node.id}: {place} {what}", "feed a value of a type that fits", str(ref)
        )


def _crosses(case: Case, node: Node, ref: Ref, kind: str, source: str, path: Path) -> Iterator[Fault]:
    """An application's artifact leaves its application only through the seal."""
    origin, target = case.applications[source], case.applications[node.id]
    if node.id not in case.capabilities or node.capability == SEAL:
        return
    if origin in {CONTROL, target} or not assignable(kind, ARTIFACT):
        return
    yield case.fault(
        path,
        "unsealed_handoff",
        f"{node.id}: an artifact of {origin} reaches {target} unsealed",
        f"let it pass through a node of {SEAL}",
        str(ref),
    )


RULES = (outputs, arguments, references)
