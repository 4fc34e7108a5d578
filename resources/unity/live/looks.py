"""What a running editor should see of each capability's outcome, and the question that makes it look.

One entry a capability: the method is the capability's own name, its arguments are plain texts, what is
expected comes from the plan and from the bytes on the disk. The files themselves are compared elsewhere;
this is the editor's second opinion, and it grants nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from fabric_dagster.errors import OperationFailed
from fabric_dagster.supervisor.ports import Observation
from resources.files.paths import under
from resources.unity.index.guids import read_guid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path


class Route(Protocol):
    """A running editor that can be asked; ``tells`` are the facts that it knows, ``None`` means all."""

    @property
    def tells(self) -> frozenset[str] | None:
        """The names of the facts that it tells."""
        ...

    def call(self, method: str, args: Mapping[str, Any], *, partition: str = "") -> dict[str, str]:
        """Ask once."""
        ...


#: settings of a texture's meta that the editor's importer must show as they stand there
TEXTURE: Final = {"textureType": "textureType", "spriteMode": "spriteMode"}
HEAD: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Look:
    """One question. ``settings`` are keys of the meta whose values the editor must show."""

    method: str
    asset: str
    args: dict[str, str]
    expected: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    gone: bool = False


def _asset(name: str = "asset") -> Callable[[str, dict[str, Any]], Look]:
    return lambda method, args: Look(method, args[name], {"asset": args[name]})


def _texture(name: str) -> Callable[[str, dict[str, Any]], Look]:
    return lambda method, args: Look(
        method, args[name], {"asset": args[name]}, {"importer": "texture"}, TEXTURE
    )


def _gone(method: str, args: dict[str, Any]) -> Look:
    return Look(method, args["asset"], {"asset": args["asset"]}, {"imported": "no"}, gone=True)


def _bundle(method: str, args: dict[str, Any]) -> Look:
    return Look(method, args["asset"], {"asset": args["asset"]}, {"bundle": args.get("bundle") or ""})


def _slot(method: str, args: dict[str, Any]) -> Look:
    asked = {"asset": args["material"], "slot": args["slot"]}
    return Look(method, args["material"], asked, {} if args.get("texture") else {"texture": ""})


def _property(method: str, args: dict[str, Any]) -> Look:
    asked = {name: str(args[name]) for name in ("asset", "document", "path")}
    expected = {}
    value = args.get("value")
    if method == "unity.set_property@1" and args["document"] != "0" and value is not None:
        expected = {"property": "there", "value": _shown(value)}
    return Look(method, args["asset"], asked, expected)


def _shown(value: Any) -> str:  # noqa: ANN401 - a property's value
    """A value as ``Looks.cs`` shows it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, dict):
        return f"{value['guid']}:{value['fileID']}" if value.get("guid") else "none"
    return str(value)


LOOKS: Final[dict[str, Callable[[str, dict[str, Any]], Look]]] = {
    "unity.import_texture@1": _texture("destination"),
    "unity.slice_sprites@1": _texture("texture"),
    "unity.rename_sprite@1": _texture("texture"),
    "unity.set_property@1": _property,
    "unity.set_prefab_property@1": _property,
    "unity.edit_list@1": _property,
    "unity.set_scene_property@1": _asset(),
    "unity.create_asset@1": _asset(),
    "unity.move_asset@1": _asset("to"),
    "unity.delete_asset@1": _gone,
    "unity.set_atlas_members@1": _asset("atlas"),
    "unity.set_bundle_name@1": _bundle,
    "unity.set_material_texture@1": _slot,
    "unity.set_addressable@1": _asset(),
    "unity.set_asmdef_references@1": _asset(),
}


def ask(session: Route, root: Path, looks: Iterable[Look]) -> list[Observation]:
    """Ask each question; one observation for each thing that was expected. Never raises for an answer."""
    seen: list[Observation] = []
    for look in looks:
        subject = f"{look.asset}, in the editor"
        try:
            facts = session.call(look.method, look.args)
        except OperationFailed as fault:
            if fault.code == "capability_unavailable":
                continue  # this route cannot look at it: the file alone is compared
            seen.append(Observation(subject, "an answer", fault.faults[0].what, holds=False))
            continue
        for name, wanted in {**_common(root, look), **look.expected}.items():
            if session.tells is not None and name not in session.tells:
                continue
            found = facts.get(name, "nothing")
            # A kind of value that the package does not show is compared in the file alone.
            holds = found in {wanted, "?"}
            seen.append(Observation(f"{subject}: {name}", wanted, found, holds))
    return seen


def _common(root: Path, look: Look) -> dict[str, str]:
    """What the asset's meta says, as it lies there now."""
    if look.gone:
        return {}
    expected = {"imported": "yes"}
    try:
        with under(root, f"{look.asset}.meta").open("rb") as stream:
            meta = stream.read(HEAD)
    except FileNotFoundError:
        return expected
    guid = read_guid(meta)
    if guid is not None:
        expected["guid"] = guid
    for key, name in look.settings.items():
        match = re.search(rf"^  {key}: (-?\d+)\r?$".encode(), meta, re.MULTILINE)
        if match is not None:
            expected[name] = match[1].decode()
    return expected
