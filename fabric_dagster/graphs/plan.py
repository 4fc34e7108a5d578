"""Binding: a sealed plan template and a run's values become the one plan that every attempt executes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fabric_dagster.capabilities.registry import capabilities as registered
from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan, PlanInput
from fabric_dagster.digests import canonical
from fabric_dagster.errors import FabricError, Fault, InvalidDocument
from fabric_dagster.graphs.refs import ANY, Ref, replace_refs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fabric_dagster.capabilities.base import Capability


def bind_plan(
    template: PhysicalPlan,
    resolve: Callable[[str, str], Any],
    *,
    run: str,
    inputs: Iterable[PlanInput] = (),
    allocations: Mapping[str, str] | None = None,
    capabilities: Mapping[str, Capability] | None = None,
) -> PhysicalPlan:
    """``template`` with each ``$ref`` replaced by ``resolve(source, name)`` and checked against its argument.

    A reference to an operation of the plan itself stays a ``$ref``: its provider fills it while it executes,
    since nothing outside knows the value before. ``resolve`` answers ``None`` for an optional input that the
    ticket leaves out: that argument is left out too. It raises ``LookupError`` for what it does not know.
    A reference to the parent that serves an ``any`` join is asked for as ``any:NODE``, NODE being the join.
    ``capabilities`` default to the registry. Raises ``InvalidDocument`` with every argument that has no
    value or one of a wrong type.
    """
    known = registered() if capabilities is None else capabilities
    faults: list[Fault] = []
    own = frozenset(str(operation.node) for operation in template.operations)
    operations = [_bind(operation, resolve, known, own, faults) for operation in template.operations]
    if faults:
        raise InvalidDocument.of(faults)
    return PhysicalPlan.model_validate(
        {
            "schema": PhysicalPlan.SCHEMA,
            "application": template.application,
            "operations": operations,
            "graph": template.graph,
            "partition": template.partition,
            "run": run,
            "inputs": sorted(inputs, key=lambda item: item.path),
            "allocations": dict(sorted((allocations or {}).items())),
        }
    )


def _bind(
    operation: Operation,
    resolve: Callable[[str, str], Any],
    known: Mapping[str, Capability],
    own: frozenset[str],
    faults: list[Fault],
) -> Operation:
    node = operation.node or operation.capability
    lost: set[str] = set()

    def value_of(ref: Ref) -> Any:  # noqa: ANN401 - any value of a ticket or of a node
        if ref.source in own:
            lost.add(str(ref.path[0]))
            return {"$ref": f"{ref.source}.{ref.name}"}
        try:
            value = resolve(f"{ANY}:{node}" if ref.source == ANY else ref.source, ref.name)
            canonical(value)
        except LookupError:
            _add(faults, "unresolved", f"{ref} has no value", _place(node, ref.path))
        except FabricError as error:
            _add(faults, "bad_value", f"{ref}: {error.faults[0].what}", _place(node, ref.path))
        else:
            return value
        lost.add(str(ref.path[0]))
        return None

    args = replace_refs(operation.args, value_of)
    bound = known.get(operation.capability)
    if bound is None:
        _add(faults, "unknown_capability", "this capability is not registered", node, operation.capability)
        return operation
    try:
        bound.arguments.model_validate(args)
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            if not problem["loc"] or str(problem["loc"][0]) not in lost:
                found = problem.get("input")
                value = None if isinstance(found, dict | list) else str(found)
                _add(faults, "bad_argument", problem["msg"], _place(node, problem["loc"]), value)
    return operation.model_copy(update={"args": args})


def _place(node: str, path: tuple[str | int, ...]) -> str:
    return ".".join((node, *map(str, path)))


def _add(faults: list[Fault], code: str, what: str, where: str, value: str | None = None) -> None:
    faults.append(Fault(f"plan.{code}", what, where, value=value))
