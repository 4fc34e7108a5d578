"""What the Addressables package keeps in a project: its groups, their entries, the table of labels.

Source: ``AddressableAssetGroup`` and ``AddressableAssetSettings`` as the package saves them. A group is known
by its script; entries are saved in the order of their GUIDs. ``m_GUID`` of a group is its own, no asset's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resources.unity.text import TextFault, UnityFile

if TYPE_CHECKING:
    from resources.unity.operations.workspace import Workspace

GROUP = b"guid: bbb281ee3bf0b054c82ac2347e9e782c"
ENTRIES = "m_SerializeEntries"
LABELS = "m_LabelTable.m_LabelNames"
#: an entry where the project has none to copy the shape of; later versions add what they need on saving
SHAPE = ("m_GUID", "m_Address", "m_ReadOnly", "m_SerializedLabels")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, at ``index`` of its group."""

    index: int
    guid: str
    address: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group's asset and what is in it."""

    path: str
    document: str
    name: str
    read_only: bool
    settings: str
    entries: tuple[Entry, ...]

    def entry(self, guid: str) -> Entry | None:
        """The entry of an asset."""
        return next((entry for entry in self.entries if entry.guid == guid), None)


def groups(workspace: Workspace) -> list[Group]:
    """Every group of the project, by path; one that cannot be read is left out with a warning."""
    found = []
    for path in sorted(workspace.index.guids):
        if not path.endswith(".asset") or not workspace.exists(path):
            continue
        data = workspace.read(path) or b""
        if GROUP not in data:
            continue
        group = read_group(workspace, path)
        if group is not None:
            found.append(group)
    return found


def read_group(workspace: Workspace, path: str) -> Group | None:
    """The group at ``path``; ``None`` where it is none or cannot be read."""
    data = workspace.read(path)
    if data is None or GROUP not in data:
        return None
    try:
        file = UnityFile(data)
        for span in file.documents:
            body = file.read(span.file_id, "m_Script")
            if isinstance(body, dict) and f"guid: {body.get('guid')}".encode() == GROUP:
                return _group(file, path, span.file_id)
    except TextFault as fault:
        workspace.warnings.append(f"{path}: the group cannot be read: {fault}")
    return None


def _group(file: UnityFile, path: str, document: str) -> Group:
    listed = file.read(document, ENTRIES)
    entries = []
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(item, dict):
            raise TextFault("addressables.entry", "an entry is no mapping", where=f"{ENTRIES}[{index}]")
        labels = item.get("m_SerializedLabels")
        entries.append(
            Entry(
                index,
                str(item.get("m_GUID", "")),
                str(item.get("m_Address", "")),
                tuple(map(str, labels)) if isinstance(labels, list) else (),
            )
        )
    settings = file.read(document, "m_Settings")
    return Group(
        path,
        document,
        str(file.read(document, "m_GroupName")),
        file.read(document, "m_ReadOnly") != "0",
        str(settings.get("guid", "")) if isinstance(settings, dict) else "",
        tuple(entries),
    )
