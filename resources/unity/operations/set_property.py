"""``unity.set_property@1``: one value of one document, spliced into the file's own bytes.

The scene's and the prefab's operation do the same through ``write_value``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fabric_dagster.capabilities.unity_set_property import PlanReference, UnityReference
from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.fields import holds
from resources.unity.operations.references import check_reference
from resources.unity.operations.workspace import mapped
from resources.unity.text import Splice, TextFault, apply, scalars, set_value
from resources.unity.text.edits import encode_at, kind_of
from resources.unity.text.nodes import Scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_set_property import PropertyValue, SetProperty
    from resources.unity.operations.workspace import Workspace
    from resources.unity.text import UnityFile
    from resources.unity.text.edits import Value

Kind: TypeAlias = Literal["text", "decimal"]
META = "0"
NUMBERS = frozenset({"integer", "decimal"})


def target_of(args: SetProperty) -> str:
    """The file that is edited: the asset, or its ``.meta`` for document ``"0"``."""
    return f"{args.asset}.meta" if args.document == META and not args.asset.endswith(".meta") else args.asset


def plain_value(value: PropertyValue) -> Value:
    """The value as the text room takes it."""
    if isinstance(value, UnityReference):
        return value.body()
    if isinstance(value, PlanReference):
        raise TypeError("a reference to an output of the plan is resolved before its operation runs")
    return value


def set_property(workspace: Workspace, args: SetProperty) -> dict[str, Any]:
    """Stage the edit. Returns ``property``: the file that holds it."""
    path = target_of(args)
    workspace.check_path(path)
    if path.endswith(".meta") and args.path == "guid":
        raise OperationFailed(
            "unity.value_type",
            "a GUID is never changed: every reference to the asset would break",
            where=f"{path}:guid",
            mend="import the asset anew under another path",
        )
    write_value(workspace, path, args.document, args.path, plain_value(args.value), kind=args.kind)
    return {"property": path}


def write_value(
    workspace: Workspace, path: str, document: str, where: str, value: Value, kind: Kind | None = None
) -> None:
    """Stage ``value`` for the property ``where``; ``kind`` is what it holds, where nothing shows it."""
    file = workspace.text(path)
    try:
        splices = _splices(workspace, file, document, where, value, kind)
    except TextFault as fault:
        raise mapped(fault, path) from fault
    if isinstance(value, dict):
        check_reference(workspace, path, document, where, dict(value))
    workspace.write(path, apply(file.data, splices))


def value_fits(
    workspace: Workspace, path: str, document: str, where: str, value: Value, kind: Kind | None = None
) -> None:
    """Refuse a value that the property ``where`` could not take; stages nothing."""
    try:
        _splices(workspace, workspace.text(path), document, where, value, kind)
    except TextFault as fault:
        raise mapped(fault, path) from fault


def _splices(
    workspace: Workspace, file: UnityFile, document: str, where: str, value: Value, kind: Kind | None
) -> list[Splice]:
    """As the text room does it, where it can know; a number that stands there may be a text or a decimal."""
    found = file.find(document, where)
    node = found.node
    shown = kind_of(file.data, found)
    if not isinstance(node, Scalar) or shown not in NUMBERS or isinstance(value, dict):
        return set_value(file, document, where, value)
    number = scalars.number(value) if isinstance(value, float) else str(value)
    fraction = shown == "integer" and not isinstance(value, bool) and not scalars.INTEGER.match(number)
    unlike = fraction or number.startswith("+")
    known = kind or holds(workspace, file, document, where, siblings=unlike)
    if known == "text":
        if not isinstance(value, str):
            raise TextFault(
                "value.type", "the property holds a text", where=where, mend="give a text, in quotes"
            )
        if value == scalars.decode(file.data, node):
            return []
        return [Splice(node.start, node.end, encode_at(file, node.start, node.column, value))]
    if fraction and scalars.DECIMAL.match(number):
        if known == "decimal":
            return [Splice(node.start, node.end, number.removeprefix("+").encode())]
        if not known:
            raise _unclear(where, value, "decimals", "decimal")
    if isinstance(value, str) and not known and not scalars.DECIMAL.match(value):
        raise _unclear(where, value, "texts", "text")
    return set_value(file, document, where, value)


def _unclear(where: str, value: Value, wanted: str, kind: Kind) -> TextFault:
    return TextFault(
        "value.type",
        f"{value!r} would change the kind of number that stands here, and nothing shows whether the property "
        f"holds {wanted}",
        where=where,
        mend=f'add "kind": "{kind}" where it does',
    )


def reads_back(file: UnityFile, document: str, where: str, value: Value) -> tuple[str, str]:
    """(expected, found) of the property, both as text for people."""
    try:
        found = file.read(document, where)
        same = found == str(value) or set_value(file, document, where, value) == []
    except TextFault as fault:
        return str(value), fault.what
    return (str(value), str(value)) if same else (str(value), str(found))


def value_observed(
    workspace: Workspace, path: str, document: str, where: str, value: Value
) -> Iterator[Observation]:
    """Whether the property reads back as the value."""
    expected, found = reads_back(workspace.text(path), document, where, value)
    yield Observation(f"{path}:{document}:{where}", expected, found, expected == found)


OPERATION: UnityOperation[SetProperty] = UnityOperation(
    capability="unity.set_property@1",
    execute=set_property,
    observe=lambda workspace, args: value_observed(
        workspace, target_of(args), args.document, args.path, plain_value(args.value)
    ),
    subject=lambda _workspace, args: (target_of(args), args.document, args.path),
)
