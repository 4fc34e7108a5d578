"""``unity.set_asmdef_references@1``: which assemblies an assembly definition refers to."""

from __future__ import annotations

from pydantic import Field, model_validator

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import LONGEST_PATH, TEXT_FAILURES, asset_path, failures


class SetAsmdefReferences(Arguments):
    """``add`` and ``remove`` are names of assemblies, paths of ``.asmdef`` files, or ``GUID:…``.

    What is added is written in the file's own way: by GUID where its other references are, else by name.
    """

    asset: str = asset_path()
    add: tuple[str, ...] = Field(
        default=(), max_length=200, strict=False, json_schema_extra={"fabric_type": "assemblies"}
    )
    remove: tuple[str, ...] = Field(
        default=(), max_length=200, strict=False, json_schema_extra={"fabric_type": "assemblies"}
    )

    @model_validator(mode="after")
    def _something(self) -> SetAsmdefReferences:
        if not self.add and not self.remove:
            msg = "give references to add or to remove"
            raise ValueError(msg)
        names = self.add + self.remove
        if any(len(name) > LONGEST_PATH or not name.strip() or not name.isprintable() for name in names):
            msg = "a reference is an assembly's name, its definition's path or GUID:…"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="unity.set_asmdef_references@1",
    application="unity",
    summary="Add or remove references of an assembly definition; whitespace and all other keys stay.",
    arguments=SetAsmdefReferences,
    outputs={"asset": "unity_path"},
    effects=frozenset({"unity.assembly.write"}),
    preconditions=(
        "the file is strict JSON with one list of references",
        "what is added exists, is not the assembly itself and closes no circle",
    ),
    postconditions=(
        "the list has every added reference once, none that was removed, and the others in order",
    ),
    failures=failures(
        *TEXT_FAILURES,
        "unity.asmdef_damaged",
        "unity.asmdef_refused",
        "unity.asset_wrong_kind",
        "unity.reference_unresolved",
    ),
)
