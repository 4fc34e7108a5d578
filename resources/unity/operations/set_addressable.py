"""``unity.set_addressable@1``: one entry of one group, in the shape that the project's entries have.

Rules kept here: an asset is in one group (moving it takes its entry along, as it is); entries stay sorted by
GUID; a label must be in the settings' table and is put there; entries whose asset is gone are reported.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.unity.operations.addressables import ENTRIES, LABELS, SHAPE, Group, groups, read_group
from resources.unity.operations.base import UnityOperation
from resources.unity.operations.workspace import mapped
from resources.unity.text import Splice, TextFault, UnityFile, apply, insert_item, remove_item, scalars
from resources.unity.text.nodes import Mapping, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.capabilities.unity_set_addressable import SetAddressable
    from resources.unity.operations.workspace import Workspace

SCRIPTS = frozenset({".cs", ".dll", ".asmdef", ".asmref"})


def set_addressable(workspace: Workspace, args: SetAddressable) -> dict[str, Any]:
    """Stage the edit of every group that changes. Returns ``asset``."""
    guid = _refused(workspace, args)
    every = groups(workspace)
    having = [group for group in every if group.entry(guid)]
    if len(having) > 1 or any(len([e for e in group.entries if e.guid == guid]) > 1 for group in having):
        raise OperationFailed(
            "unity.addressable_clash",
            f"the asset has several entries: in {', '.join(group.path for group in having)}",
            where=args.asset,
            mend="take it out of all but one group in the editor",
        )
    target = None if args.group is None else _target(workspace, args.group)
    if target is not None:
        _refuse_taken_address(every, args, guid)
    try:
        item = None
        if having and (target is None or having[0].path != target.path):
            if having[0].read_only:
                raise _read_only(having[0])
            item = _taken_out(workspace, having[0], guid)
        if target is not None:
            _put_in(workspace, target, guid, args, item)
            _tabled(workspace, target, args.labels or ())
    except TextFault as fault:
        raise mapped(fault, args.group or args.asset) from fault
    for path in {group.path for group in (*having, target) if group is not None}:
        _report_zombies(workspace, path)
    return {"asset": args.asset}


def _refused(workspace: Workspace, args: SetAddressable) -> str:
    """The asset's GUID; refuses what cannot be addressable."""
    workspace.check_path(args.asset)
    guid = workspace.guid_of(args.asset)
    if guid is None or not workspace.exists(args.asset):
        raise OperationFailed(
            "unity.asset_missing",
            "there is no such asset with a .meta",
            where=args.asset,
            mend="import it first",
        )
    path = PurePosixPath(args.asset)
    why = None
    if path.suffix.lower() in SCRIPTS or "Editor" in path.parts:
        why = "scripts and editor assets are not built"
    elif "Resources" in path.parts:
        why = "what lies in Resources is in the build already; move it out first"
    if why is not None and args.group is not None:
        raise OperationFailed("unity.asset_wrong_kind", why, where=args.asset)
    return guid


def _target(workspace: Workspace, path: str) -> Group:
    workspace.check_path(path)
    if not workspace.exists(path):
        raise OperationFailed("unity.asset_missing", "there is no such group", where=path)
    group = read_group(workspace, path)
    if group is None:
        raise OperationFailed(
            "unity.asset_wrong_kind",
            "it is no Addressables group",
            where=path,
            mend="name an asset of AddressableAssetsData/AssetGroups",
        )
    if group.read_only:
        raise _read_only(group)
    return group


def _read_only(group: Group) -> OperationFailed:
    return OperationFailed("unity.asset_wrong_kind", "the group is read-only", where=group.path)


def _refuse_taken_address(every: list[Group], args: SetAddressable, guid: str) -> None:
    address = args.address
    others = [g.path for g in every for e in g.entries if e.guid != guid and e.address == address]
    if address is not None and others:
        raise OperationFailed(
            "unity.addressable_clash",
            f"another entry has this address, in {others[0]}",
            where=args.asset,
            value=address,
            mend="choose another address",
        )


# -- edits


def _items(file: UnityFile, group: Group) -> Sequence:
    node = file.find(group.document, ENTRIES).node
    if not isinstance(node, Sequence):
        raise TextFault("value.not_list", "the entries are no list", where=ENTRIES)
    return node


def _taken_out(workspace: Workspace, group: Group, guid: str) -> list[bytes]:
    """Remove the entry; returns its lines, relative to its dash."""
    file = workspace.text(group.path)
    entry = group.entry(guid)
    if entry is None:
        return []
    lines = _lines(file, group, entry.index)
    workspace.write(group.path, apply(file.data, remove_item(file, group.document, ENTRIES, entry.index)))
    return lines


def _lines(file: UnityFile, group: Group, index: int) -> list[bytes]:
    """The lines of an entry, without line ends and without the list's indentation."""
    node = _items(file, group)
    start = file.data.rfind(b"\n", 0, node.dashes[index]) + 1
    stop = file.data.find(b"\n", node.items[index].end)
    text = file.data[start : len(file.data) if stop < 0 else stop].replace(b"\r\n", b"\n").rstrip(b"\r")
    return [line[node.column :] for line in text.split(b"\n")]


def _put_in(
    workspace: Workspace, group: Group, guid: str, args: SetAddressable, item: list[bytes] | None
) -> None:
    """The entry as asked, at its place in the order of the GUIDs."""
    file = workspace.text(group.path)
    fresh = read_group(workspace, group.path) or group
    present = fresh.entry(guid)
    if present is None:
        lines = item or _shaped(workspace, guid, args.asset)
        node = _items(file, fresh)
        index = next((e.index for e in fresh.entries if e.guid > guid), len(fresh.entries))
        workspace.write(group.path, _inserted(file, node, index, lines))
        file = workspace.text(group.path)
        fresh = read_group(workspace, group.path) or fresh
        present = fresh.entry(guid)
        if present is None:
            raise TextFault("addressables.entry", "the entry cannot be read back", where=ENTRIES)
    at = f"{ENTRIES}.Array.data[{present.index}]"
    if args.address is not None and args.address != present.address:
        held = file.find(fresh.document, f"{at}.m_Address").node
        encoded = scalars.encode(
            args.address,
            column=held.start - file.data.rfind(b"\n", 0, held.start) - 1,
            indent=held.column + 2,
            newline=file.newline_at(held.start),
        )
        lead = b"" if file.data[held.start - 1 : held.start] == b" " else b" "
        workspace.write(group.path, apply(file.data, [Splice(held.start, held.end, lead + encoded)]))
    if args.labels is not None:
        _labelled(workspace, group.path, fresh.document, f"{at}.m_SerializedLabels", args.labels)


def _labelled(workspace: Workspace, path: str, document: str, at: str, labels: tuple[str, ...]) -> None:
    wanted = list(dict.fromkeys(labels))
    file = workspace.text(path)
    found = file.read(document, at)
    have = list(map(str, found)) if isinstance(found, list) else []
    for index in reversed(range(len(have))):
        if have[index] not in wanted:
            file = workspace.text(path)
            workspace.write(path, apply(file.data, remove_item(file, document, at, index)))
    for label in wanted:
        if label not in have:
            file = workspace.text(path)
            count = len([one for one in have if one in wanted])
            workspace.write(path, apply(file.data, insert_item(file, document, at, count, label)))
            have.append(label)


def _shaped(workspace: Workspace, guid: str, address: str) -> list[bytes]:
    """The lines of a new entry with the keys that the project's own entries have."""
    keys = list(SHAPE)
    for group in groups(workspace):
        if group.entries:
            file = workspace.text(group.path)
            node = _items(file, group).items[-1]
            if isinstance(node, Mapping):
                keys = [entry.key for entry in node.entries]
            break
    values = {"m_GUID": guid.encode(), "m_SerializedLabels": b"[]"}
    values["m_Address"] = scalars.encode(address, column=15, indent=4, newline=b"\n")
    lines = []
    for number, key in enumerate(keys):
        lead = b"- " if number == 0 else b"  "
        lines += (lead + key.encode() + b": " + values.get(key, b"0")).split(b"\n")
    return lines


def _inserted(file: UnityFile, node: Sequence, index: int, lines: list[bytes]) -> bytes:
    data = file.data
    newline = file.newline_at(max(node.start - 1, 0))
    text = newline.join(b" " * node.column + line for line in lines)
    if not node.items:
        at = len(data[: node.start].rstrip(b" \r\n"))
        return apply(data, [Splice(at, node.end, newline + text)])
    if index < len(node.items):
        at = data.rfind(b"\n", 0, node.dashes[index]) + 1
        return apply(data, [Splice(at, at, text + newline)])
    at = data.find(b"\n", node.end)
    if at < 0:
        return apply(data, [Splice(len(data), len(data), newline + text)])
    return apply(data, [Splice(at + 1, at + 1, text + newline)])


def _tabled(workspace: Workspace, group: Group, labels: tuple[str, ...]) -> None:
    """Every label in the settings' table; a project whose settings are elsewhere gets a warning."""
    path = workspace.path_of(group.settings) if group.settings else None
    for label in labels:
        file = None if path is None else workspace.text(path)
        spans = (
            []
            if file is None
            else [s.file_id for s in file.documents if LABELS.split(".")[0].encode() in file.data]
        )
        if file is None or path is None or not spans:
            workspace.warnings.append(
                f"{group.path}: its settings are not in the project; {label!r} is not tabled"
            )
            continue
        known = file.read(spans[0], LABELS)
        if isinstance(known, list) and label not in known:
            workspace.write(path, apply(file.data, insert_item(file, spans[0], LABELS, len(known), label)))


def _report_zombies(workspace: Workspace, path: str) -> None:
    group = read_group(workspace, path)
    for entry in () if group is None else group.entries:
        known = workspace.path_of(entry.guid) is not None or workspace.index.classify(entry.guid) == "package"
        if not known and len(entry.guid) == 32:  # noqa: PLR2004 - a GUID; other entries are built in
            workspace.warnings.append(f"{path}: the entry {entry.address!r} has no asset ({entry.guid})")


def _observed(workspace: Workspace, args: SetAddressable) -> Iterator[Observation]:
    guid = workspace.guid_of(args.asset) or ""
    having = [(group, entry) for group in groups(workspace) for entry in group.entries if entry.guid == guid]
    where = f"{args.asset}: addressable"
    expected = args.group or "in no group"
    found = ", ".join(group.path for group, _ in having) or "in no group"
    yield Observation(where, expected, found, expected == found)
    for group, entry in having:
        if args.address is not None:
            yield Observation(f"{where}: address", args.address, entry.address, args.address == entry.address)
        if args.labels is not None:
            wanted, have = sorted(set(args.labels)), sorted(entry.labels)
            yield Observation(f"{where}: labels", ", ".join(wanted), ", ".join(have), wanted == have)
        order = [one.guid for one in group.entries]
        ordered = order == sorted(order)
        yield Observation(f"{group.path}: order", "by GUID", "by GUID" if ordered else "another", ordered)


OPERATION: UnityOperation[SetAddressable] = UnityOperation(
    capability="unity.set_addressable@1",
    execute=set_addressable,
    observe=_observed,
    subject=lambda _workspace, args: (args.asset, "addressable"),
)
