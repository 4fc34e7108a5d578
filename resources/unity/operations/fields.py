"""What a property holds, where the file alone does not say: from the script, from siblings, from its name.

A text that looks like a number is written as Unity writes it, bare, and a decimal that is whole without a
point: the bytes cannot tell ``"1"`` from 1 from 1.0. The script's field decides; else what other objects of
the same script or class hold there; else nobody knows.
"""

from __future__ import annotations

import itertools
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from resources.unity.text import TextFault, UnityFile
from resources.unity.text.edits import kind_of
from resources.unity.text.nodes import Mapping, Scalar, Sequence
from resources.unity.text.paths import ELEMENT, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from resources.unity.operations.workspace import Workspace
    from resources.unity.text.nodes import Node

Holds = Literal["text", "decimal", "integer", "number", ""]

#: properties of Unity's own classes that hold texts
TEXTS = frozenset({
    "m_Name", "m_Text", "m_text", "m_TagString", "m_Address", "m_GroupName", "userData", "assetBundleName",
    "assetBundleVariant", "m_EditorClassIdentifier", "propertyPath",
})  # fmt: skip
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
BACKING = re.compile(r"<(\w+)>k__BackingField")
STRINGS = frozenset({"string", "String", "System.String"})
DECIMALS = frozenset({"float", "double", "Single", "Double", "System.Single", "System.Double"})
INTEGERS = frozenset({
    "int", "uint", "long", "ulong", "short", "ushort", "byte", "sbyte", "bool", "LayerMask", "Vector2Int",
    "Vector3Int", "RectInt", "BoundsInt", "Color32",
})  # fmt: skip
#: members of vectors, quaternions, rectangles and colours
COMPONENTS = frozenset({"x", "y", "z", "w", "r", "g", "b", "a"})
MONO_BEHAVIOUR = 114
SIBLINGS = frozenset({".asset", ".prefab", ".unity"})
MOST_SIBLINGS = 200


def holds(workspace: Workspace, file: UnityFile, document: str, path: str, *, siblings: bool = True) -> Holds:
    """What the property at ``path`` holds: ``number`` for either kind, empty where nothing shows it.

    Without ``siblings`` only its name and its script are asked, which is quick.
    """
    whole = re.sub(r"\.Array\.data\[\d+\]\Z", "", path)
    parent, _, name = whole.rpartition(".")
    if name in TEXTS:
        return "text"
    declared = _of_type(declared_type(workspace, file, document, path))
    if declared:
        return declared
    if name in COMPONENTS and parent:
        return "integer" if declared_type(workspace, file, document, parent) in INTEGERS else "decimal"
    return _from_siblings(workspace, file, document, path) if siblings else ""


def _of_type(name: str) -> Holds:
    """An unknown type that holds a number is an enum of the project's own, for all that is known."""
    if not name:
        return ""
    for names, kind in ((STRINGS, "text"), (DECIMALS, "decimal"), (INTEGERS, "integer")):
        if name in names:
            return kind  # type: ignore[return-value]
    return "number"


def declared_type(workspace: Workspace, file: UnityFile, document: str, path: str) -> str:
    """The C# type of a field directly on a MonoBehaviour whose script is in the project.

    Of a list it is its items'. Empty where the script is elsewhere or the field is within another one.
    """
    field = ELEMENT.sub("", path).rstrip(".")
    backing = BACKING.fullmatch(field)
    name = backing[1] if backing else field
    source = script_of(workspace, file, document)
    if not source or not name.isidentifier():
        return ""
    code = COMMENT.sub(" ", (workspace.read(source) or b"").decode("utf-8", "replace"))
    match = re.search(rf"(?<![\w.])([\w.]+(?:<[\w.]+>)?(?:\[\])?)\s+{re.escape(name)}\s*(?=[;={{,])", code)
    if match is None:
        return ""
    found = match[1].removesuffix("[]")
    inner = re.fullmatch(r"[\w.]+<([\w.]+)>", found)
    return inner[1] if inner else found


def script_of(workspace: Workspace, file: UnityFile, document: str) -> str:
    """The path of the script of a MonoBehaviour; empty where it has none or it is elsewhere."""
    return workspace.path_of(_script_guid(file, document)) or ""


def _script_guid(file: UnityFile, document: str) -> str:
    try:
        return str(file.read(document, "m_Script.guid"))
    except TextFault:
        return ""


def _from_siblings(workspace: Workspace, file: UnityFile, document: str, path: str) -> Holds:
    """What other objects of the same script or class show there: a text, or a number with a fraction."""
    guid, class_id = _script_guid(file, document), file.span(document).class_id
    if not class_id or (class_id == MONO_BEHAVIOUR and not guid):
        return ""
    steps = re.split(r"\.Array\.data\[\d+\](?:\.|\Z)", path)
    found: Holds = ""
    for other in _siblings(workspace, file, guid):
        for span in other.documents:
            if span.class_id != class_id or span.stripped or _script_guid(other, span.file_id) != guid:
                continue
            for node in _at(other.content(span), steps):
                kind = kind_of(other.data, Found(node, "", ()))
                if kind in {"text", "empty"}:
                    return "text"
                found = "decimal" if kind == "decimal" else found
    return found


def _siblings(workspace: Workspace, file: UnityFile, guid: str) -> Iterator[UnityFile]:
    """The file itself, and those that refer to the same script."""
    yield file
    paths = workspace.full_index.users_of(guid) if guid else []
    assets = (path for path in paths if PurePosixPath(path).suffix.lower() in SIBLINGS)
    for path in itertools.islice(assets, MOST_SIBLINGS):
        try:
            yield UnityFile(workspace.read(path) or b"")
        except TextFault:
            continue  # a damaged file is no evidence


def _at(node: Node, steps: list[str]) -> Iterator[Node]:
    """The scalars at a path whose list indices are any."""
    here: Node | None = node
    for key in steps[0].split(".") if steps[0] else ():
        here = here.get(key) if isinstance(here, Mapping) else None
    if len(steps) == 1:
        if isinstance(here, Scalar):
            yield here
    elif isinstance(here, Sequence):
        for item in here.items:
            yield from _at(item, steps[1:])
