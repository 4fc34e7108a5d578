"""The closed list of effects that a capability may declare and a commission may allow, and their risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Risk = Literal["low", "medium", "high"]

EFFECTS: dict[str, str] = {
    "photoshop.document.write": "edit a duplicate of a template; the source is never written",
    "photoshop.export.write": "write exported pictures into the run's delivery folder",
    "artifact.seal": "seal bytes into the artifact store",
    "unity.asset.write": "create or change an asset file under Assets/",
    "unity.meta.write": "create or change a .meta file",
    "unity.serialized.write": "change a serialized property of an existing asset",
    "unity.asset.move": "move or rename an asset or a folder with its .meta",
    "unity.asset.delete": "delete an asset or a folder that nothing refers to",
    "unity.assembly.write": "change which assemblies an assembly definition refers to",
    "unity.editor.run": "run a batch editor, and the project's own scripts in it, on a private copy",
    "unity.player.write": "write a built player into the run's stage",
    "unity.transaction.undo": "restore what this run wrote, where the bytes are still ours",
}

#: effect → how much can go wrong: low stays in a folder of the run's own, medium makes or changes files whose
#: bytes an undo restores, high changes what other assets stand on. An effect that is not here is high.
RISKS: dict[str, Risk] = {
    "photoshop.document.write": "low",
    "photoshop.export.write": "low",
    "artifact.seal": "low",
    "unity.asset.write": "medium",
    "unity.meta.write": "medium",
    "unity.transaction.undo": "medium",
    "unity.serialized.write": "high",
}


def risk_of(effects: Iterable[str]) -> Risk:
    """The gravest risk among ``effects``; none at all is low."""
    found = {RISKS.get(effect, "high") for effect in effects}
    return "high" if "high" in found else "medium" if "medium" in found else "low"
