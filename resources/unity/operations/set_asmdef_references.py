"""``unity.set_asmdef_references@1``: the list of references of an assembly definition, spliced.

Rules kept here: only the list changes, in the file's own indentation and line ends; a reference is written by
GUID where the file's others are (or, of an empty list, where most of the project's are), else by name.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.base import UnityOperation
from resources.unity.text import Splice, apply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fabric_dagster.capabilities.unity_set_asmdef_references import SetAsmdefReferences
    from resources.unity.operations.workspace import Workspace

LARGEST = 1 << 20
GUID = "GUID:"
KEY = re.compile(rb'"references"\s*:\s*')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def set_asmdef_references(workspace: Workspace, args: SetAsmdefReferences) -> dict[str, Any]:
    """Stage the edit. Returns ``asset``."""
    workspace.check_path(args.asset)
    data = workspace.read(args.asset)
    if not args.asset.endswith(".asmdef"):
        raise OperationFailed("unity.asset_wrong_kind", "it is no assembly definition", where=args.asset)
    if data is None:
        raise OperationFailed("unity.asset_missing", "there is no such asset", where=args.asset)
    document = _document(data, args.asset)
    known = _assemblies(workspace)
    have = _references(document, args.asset)
    by_guid = _by_guid(workspace, have)

    def identity(name: str) -> str:
        """What two ways of writing one reference have in common: the definition's path, else the words."""
        return _resolved(workspace, name, known) or name

    removed = {identity(name) for name in args.remove}
    missing = removed - {identity(name) for name in have}
    workspace.warnings += [f"{args.asset}: {name} was no reference of it" for name in sorted(missing)]
    wanted = [name for name in have if identity(name) not in removed]
    for name in args.add:
        path = _existing(workspace, args.asset, name, known)
        if path is not None:
            _refuse_circle(workspace, args.asset, path, known)
        if identity(name) not in {identity(one) for one in wanted}:
            wanted.append(_written(workspace, name, path, by_guid=by_guid))
    if wanted != have:
        workspace.write(args.asset, _spliced(data, wanted, args.asset))
    return {"asset": args.asset}


# -- reading


def _document(data: bytes, where: str) -> dict[str, Any]:
    """The file as strict JSON; a repeated key is refused, since nobody can say which one counts."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise ValueError("a key stands twice in one object")
        return found

    if len(data) > LARGEST:
        _damaged(where, "it is too large for an assembly definition")
    try:
        document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=pairs)
    except (ValueError, RecursionError) as fault:
        _damaged(where, f"it is no strict JSON: {fault}")
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        _damaged(where, "it names no assembly")
    return document


def _damaged(where: str, why: str) -> NoReturn:
    raise OperationFailed(
        "unity.asmdef_damaged", why, where=where, mend="mend the file by hand first"
    ) from None


def _references(document: Mapping[str, Any], where: str) -> list[str]:
    found = document.get("references", [])
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        _damaged(where, "its references are no list of names")
    return list(found)


def _assemblies(workspace: Workspace) -> dict[str, str]:
    """Name of an assembly → the path of its definition; a damaged definition has no name."""
    found: dict[str, str] = {}
    for path in sorted(workspace.index.guids):
        if path.endswith(".asmdef") and workspace.exists(path):
            try:
                document = _document(workspace.read(path) or b"", path)
            except OperationFailed:
                continue
            found.setdefault(document["name"], path)
    return found


def _by_guid(workspace: Workspace, have: list[str]) -> bool:
    if have:
        return have[-1].startswith(GUID)
    others = [
        name
        for path in _assemblies(workspace).values()
        for name in _references(_document(workspace.read(path) or b"", path), path)
    ]
    return sum(name.startswith(GUID) for name in others) * 2 > len(others)


def _resolved(workspace: Workspace, name: str, known: Mapping[str, str]) -> str | None:
    """The path of the definition that a reference means; ``None`` for one outside of the project."""
    if name.startswith(GUID):
        return workspace.path_of(name.removeprefix(GUID).lower())
    return name if name.endswith(".asmdef") else known.get(name)


def _existing(workspace: Workspace, asset: str, name: str, known: Mapping[str, str]) -> str | None:
    path = _resolved(workspace, name, known)
    if name.endswith(".asmdef") and (
        path is None or not workspace.exists(name) or name not in known.values()
    ):
        raise OperationFailed(
            "unity.reference_unresolved", "there is no such assembly definition", where=asset, value=name
        )
    if path is None and name.startswith(GUID) and workspace.index.classify(name[5:]) == "broken":
        raise OperationFailed(
            "unity.reference_unresolved",
            "nothing in the project or its packages has this GUID",
            where=asset,
            value=name,
        )
    if path is None:
        workspace.warnings.append(f"{asset}: {name} is not in the project; a package may have it")
    elif not path.endswith(".asmdef"):
        raise OperationFailed("unity.reference_unresolved", f"{path} is no assembly", where=asset, value=name)
    return path


def _refuse_circle(workspace: Workspace, asset: str, path: str, known: Mapping[str, str]) -> None:
    """An assembly may not refer to itself, not over others either."""
    waiting, seen = [path], set()
    while waiting:
        here = waiting.pop()
        if here == asset:
            what = "an assembly cannot refer to itself" if path == asset else f"{path} depends on it already"
            raise OperationFailed("unity.asmdef_refused", what, where=asset, value=path)
        if here in seen or not workspace.exists(here):
            continue
        seen.add(here)
        names = _references(_document(workspace.read(here) or b"", here), here)
        waiting += [one for one in (_resolved(workspace, name, known) for name in names) if one]


# -- writing


def _written(workspace: Workspace, name: str, path: str | None, *, by_guid: bool) -> str:
    if path is None:
        return name
    guid = workspace.guid_of(path)
    if by_guid and guid is not None:
        return f"{GUID}{guid}"
    return str(_document(workspace.read(path) or b"", path)["name"])


def _spliced(data: bytes, wanted: list[str], where: str) -> bytes:
    """The file with another list; where it has none, one follows the name."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    lead = re.search(rb"\n([ \t]*)\"", data)
    indent = lead[1] if lead else b"    "
    keys = [match for match in KEY.finditer(data) if _top_level(data, match.start())]
    if not keys:
        name = re.search(rb'"name"\s*:\s*"(?:[^"\\]|\\.)*"', data)
        if name is None:
            _damaged(where, "it names no assembly")
        text = b"," + newline + indent + b'"references": ' + _listed(wanted, indent, newline)
        return apply(data, [Splice(name.end(), name.end(), text)])
    start = keys[0].end()
    end = _list_end(data, start, where)
    return apply(data, [Splice(start, end, _listed(wanted, indent, newline))])


def _listed(wanted: list[str], indent: bytes, newline: bytes) -> bytes:
    if not wanted:
        return b"[]"
    lines = [newline + indent * 2 + json.dumps(name, ensure_ascii=False).encode() for name in wanted]
    return b"[" + b",".join(lines) + newline + indent + b"]"


def _top_level(data: bytes, at: int) -> bool:
    """Whether an offset lies in the outermost object and in no text."""
    before = STRING.sub('""', data[:at].decode("utf-8", "replace"))
    return before.count('"') % 2 == 0 and before.count("{") - before.count("}") == 1


def _list_end(data: bytes, start: int, where: str) -> int:
    """The offset after the list that begins at ``start``; it holds texts alone."""
    match = re.compile(rb'\[\s*(?:"(?:[^"\\]|\\.)*"\s*(?:,\s*)?)*\]').match(data, start)
    if match is None:
        _damaged(where, "its references are no list of names")
    return match.end()


def _observed(workspace: Workspace, args: SetAsmdefReferences) -> Iterator[Observation]:
    known = _assemblies(workspace)
    have = [
        _resolved(workspace, name, known) or name
        for name in _references(_document(workspace.read(args.asset) or b"", args.asset), args.asset)
    ]
    for name in (*args.add, *args.remove):
        count = have.count(_resolved(workspace, name, known) or name)
        wanted = 1 if name in args.add else 0
        yield Observation(f"{args.asset}: {name}", f"{wanted} times", f"{count} times", wanted == count)


OPERATION: UnityOperation[SetAsmdefReferences] = UnityOperation(
    capability="unity.set_asmdef_references@1",
    execute=set_asmdef_references,
    observe=_observed,
    subject=lambda _workspace, args: (args.asset, "references", *args.add, *args.remove),
)
