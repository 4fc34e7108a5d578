"""Texture ``.meta`` files: a new one in the project's shape, and a profile applied to either kind.

Rules kept here:

* A profile is applied by splices: GUID, slices, sprite ids, pivots, labels and every byte that the profile
  does not name stay.
* A profile that would orphan slices (single, on a sheet) is refused: references to them would break.
* A new ``.meta`` copies the shape of a sibling: its fields, its build targets, its line ends; never its
  slices, labels or user data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabric_dagster.errors import OperationFailed
from resources.unity.importers.shapes import PLATFORM, TABLE, Shape, lines, texture_block
from resources.unity.importers.sprites import SINGLE_SPRITE_ID, texture_objects
from resources.unity.text import Splice, TextFault, UnityFile, apply, set_value
from resources.unity.text.nodes import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from fabric_dagster.contracts.importer_profile import ImporterProfile
    from resources.unity.text.nodes import Node

DEFAULT = "DefaultTexturePlatform"
#: the last step that has the iPhone target's old name
OLD_APPLE = 130
#: blocks that belong to one picture and are never copied
OWN = re.compile(
    r"(?:internalIDToNameTable|fileIDToRecycleName|externalObjects|userData|assetBundleName|assetBundleVariant"
    r"|spritePackingTag|mipmapLimitGroupName|spriteSheet\..*)\Z"
)


def new_meta(shape: Shape, guid: str, sprite_id: str, profile: ImporterProfile) -> bytes:
    """A complete ``.meta`` from the table."""
    targets = (DEFAULT, "Standalone", *(_apple(name, shape) for name in sorted(profile.platforms)))
    known = shape.step >= 100  # noqa: PLR2004 - the step that has internalID
    chosen = SINGLE_SPRITE_ID if known and profile.sprite_mode == "single" else sprite_id
    if profile.texture_type != "sprite":
        chosen = ""
    block = texture_block(shape, guid, chosen, tuple(dict.fromkeys(targets)))
    return apply_profile(block, profile)


def _apple(target: str, shape: Shape) -> str:
    if target in {"iOS", "iPhone"}:
        return "iPhone" if shape.step <= OLD_APPLE else "iOS"
    return target


def copied_meta(sibling: bytes, guid: str, sprite_id: str, profile: ImporterProfile) -> bytes:
    """A new ``.meta`` in the shape of ``sibling``, with Unity's defaults and then ``profile`` applied.

    Raises ``TextFault`` where the sibling is no full TextureImporter block.
    """
    file = UnityFile(sibling)
    texture_objects(file)  # a full block, or a fault
    base = UnityFile(_defaults())
    splices = set_value(file, "0", "guid", guid)
    importer = file.find("0", "TextureImporter").node
    for path, node in _leaves(file, importer, ""):
        if path == "spriteSheet.spriteID":
            single = profile.sprite_mode == "single" and "internalIDToNameTable" in _keys(importer)
            wanted = SINGLE_SPRITE_ID if single else sprite_id
            wanted = wanted if profile.texture_type == "sprite" else ""
            splices.append(Splice(node.start, node.end, wanted.encode()))
        elif OWN.match(path):
            splices += _emptied(sibling, path, node)
        elif isinstance(node, Scalar) and not path.endswith(("serializedVersion", "buildTarget")):
            default = _default(base, re.sub(r"\.Array\.data\[\d+\]", ".Array.data[0]", path))
            if default is not None and default != sibling[node.start : node.end]:
                splices.append(Splice(node.start, node.end, default))
    return apply_profile(apply(sibling, splices), profile)


def _defaults() -> bytes:
    """Every field of every shape with its default value, to look defaults up in."""
    newest = Shape(10_000, 0, 0)
    platform = [line.replace("*", "0") for line in lines(PLATFORM, newest)]
    out: list[str] = []
    for line in lines(TABLE, newest):
        out += platform if line == "*" else [line.replace("*", "0")]
    return "\n".join(out).encode()


def _default(base: UnityFile, path: str) -> bytes | None:
    try:
        node = base.find("0", f"TextureImporter.{path}").node
    except TextFault:
        return None  # a field of a later version: the sibling's value is as good as any
    return base.data[node.start : node.end] if isinstance(node, Scalar) else None


def _leaves(file: UnityFile, node: Node, path: str) -> list[tuple[str, Node]]:
    """Every scalar, flow mapping and own block below ``node``, with its path."""
    if path and (OWN.match(path) or isinstance(node, Scalar) or (isinstance(node, Mapping) and node.flow)):
        if isinstance(node, Mapping) and node.flow and not OWN.match(path) and path != "spriteSheet":
            return [
                (f"{path}.{entry.key}", entry.value)
                for entry in node.entries
                if isinstance(entry.value, Scalar)
            ]
        return [(path, node)]
    found: list[tuple[str, Node]] = []
    if isinstance(node, Mapping):
        for entry in node.entries:
            found += _leaves(file, entry.value, f"{path}.{entry.key}" if path else entry.key)
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            found += _leaves(file, item, f"{path}.Array.data[{index}]")
    return found


def _keys(node: Node) -> set[str]:
    return {entry.key for entry in node.entries} if isinstance(node, Mapping) else set()


def _emptied(data: bytes, path: str, node: Node) -> list[Splice]:
    """Splices that leave a block empty in its own kind: ``[]``, ``{}``, ``0`` or nothing."""
    if path.endswith(".serializedVersion"):
        return []
    if isinstance(node, Scalar):
        text = b"0" if path.endswith(".internalID") else b""
        return [] if data[node.start : node.end] == text else [Splice(node.start, node.end, text)]
    members = node.entries if isinstance(node, Mapping) else node.items
    empty = b"{}" if isinstance(node, Mapping) else b"[]"
    if node.flow:
        return [Splice(node.start, node.end, empty)] if members else []
    if isinstance(node, Mapping) and _keys(node) == {"entries"}:
        return _emptied(data, f"{path}.entries", node.entries[0].value)
    return [Splice(len(data[: node.start].rstrip(b" \r\n")), node.end, b" " + empty)]


# -- profiles


def apply_profile(data: bytes, profile: ImporterProfile) -> bytes:
    """``data`` with every setting that ``profile`` names; all else is kept byte for byte.

    Raises ``OperationFailed`` (``unity.profile_conflict``, ``unity.meta_damaged``).
    """
    try:
        file = UnityFile(data)
        slices = texture_objects(file).slices
        if (
            slices
            and file.read("0", "TextureImporter.spriteMode") == "2"
            and profile.sprite_mode != "multiple"
        ):
            raise OperationFailed(
                "unity.profile_conflict",
                f"the texture is a sheet of {len(slices)} sprites; sprite mode {profile.sprite_mode!r} "
                "would break every reference to them",
                mend="import to another path, or use a profile of sprite mode 'multiple'",
            )
        file = UnityFile(_with_platforms(file, profile))
        splices: list[Splice] = []
        for path, text in profile.properties().items():
            splices += set_value(file, "0", f"TextureImporter.{path}", text)
        for index, target in enumerate(_targets(file)):
            for key, text in profile.platform_properties(target).items():
                path = f"TextureImporter.platformSettings.Array.data[{index}].{key}"
                splices += set_value(file, "0", path, text)
        sheet_id = file.find("0", "TextureImporter.spriteSheet.spriteID").node
        if isinstance(sheet_id, Scalar) and sheet_id.style == "empty" and profile.sprite_mode == "single":
            splices.append(Splice(sheet_id.start, sheet_id.end, SINGLE_SPRITE_ID.encode()))
        return apply(file.data, splices)
    except TextFault as fault:
        raise OperationFailed(
            "unity.meta_damaged",
            f"the .meta is no full TextureImporter block: {fault.what}",
            where=fault.where,
            mend="let the editor import the texture once, then run this again",
        ) from fault


def profile_faults(data: bytes, profile: ImporterProfile) -> list[tuple[str, str, str]]:
    """Where a ``.meta`` differs from ``profile``: (property path, expected, found)."""
    file = UnityFile(data)
    wanted = {f"TextureImporter.{path}": text for path, text in profile.properties().items()}
    targets = _targets(file)
    for index, target in enumerate(targets):
        prefix = f"TextureImporter.platformSettings.Array.data[{index}]"
        wanted |= {f"{prefix}.{key}": text for key, text in profile.platform_properties(target).items()}
    faults = []
    for path, expected in wanted.items():
        try:
            found = str(file.read("0", path))
        except TextFault:
            found = "nothing"
        if found != expected:
            faults.append((path, expected, found))
    faults += [
        (f"platformSettings of {name}", "an override", "no entry")
        for name in profile.platforms
        if not {name, *(("iPhone", "iOS") if name in {"iPhone", "iOS"} else ())} & set(targets)
    ]
    return faults


def _targets(file: UnityFile) -> list[str]:
    entries = file.read("0", "TextureImporter.platformSettings")
    if not isinstance(entries, list):
        raise TextFault("meta.platforms", "platformSettings is no list")
    return [str(entry.get("buildTarget", "")) if isinstance(entry, dict) else "" for entry in entries]


def _with_platforms(file: UnityFile, profile: ImporterProfile) -> bytes:
    """The file with an entry for each build target that the profile overrides: a copy of the first one."""
    node = file.find("0", "TextureImporter.platformSettings").node
    have = _targets(file)
    if not isinstance(node, Sequence) or DEFAULT not in have or node.flow:
        raise TextFault("meta.platforms", "platformSettings has no DefaultTexturePlatform entry")
    first = node.items[have.index(DEFAULT)]
    dash = node.dashes[have.index(DEFAULT)]
    newline = file.newline_at(dash)
    modern = file.read("0", "TextureImporter.platformSettings.Array.data[0].serializedVersion") == "4"
    added = b""
    for name in sorted(profile.platforms):
        if name in {"iOS", "iPhone"} and {"iOS", "iPhone"} & set(have):
            continue
        if name in have:
            continue
        written = ("iOS" if modern else "iPhone") if name in {"iOS", "iPhone"} else name
        entry = file.data[dash : first.end].replace(DEFAULT.encode(), written.encode())
        added += newline + b" " * node.column + entry
    return apply(file.data, [Splice(node.end, node.end, added)]) if added else file.data
