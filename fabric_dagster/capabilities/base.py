"""What a capability is: one exact, typed operation of one application.

Rules kept here:

* A capability is declared in a module of its own in this folder, under the name ``CAPABILITY``; being
  there registers it (``fabric_dagster.capabilities.registry``). Declarations hold no code that acts.
* Arguments are a frozen Pydantic model; every field names the type of value that a graph may feed it
  (``feed("png")``), so handoffs between nodes are typed.
* Failure codes are data: an owner, whether a registered recovery edge may follow, and the mend.
* ``digest`` is the identity that graphs bind to: changing anything observable changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from fabric_dagster.contracts.base import Contract
from fabric_dagster.digests import digest_of

Application = Literal["photoshop", "unity", "fabric"]

#: value type → the types that it may also be used as (reflexive, transitive closure written out).
ASSIGNABLE: dict[str, frozenset[str]] = {
    "png": frozenset({"png", "picture", "file"}),
    "psd": frozenset({"psd", "picture", "file"}),
    "picture": frozenset({"picture", "file"}),
    "slug": frozenset({"slug", "text", "scalar", "property_value"}),
    "taxonomy_id": frozenset({"taxonomy_id", "text", "scalar", "property_value"}),
    "text": frozenset({"text", "scalar", "property_value"}),
    "scalar": frozenset({"scalar", "property_value"}),
    "unity_reference": frozenset({"unity_reference", "property_value"}),
}


def assignable(source: str, target: str) -> bool:
    """Whether a value of type ``source`` may feed an argument of type ``target``."""
    return target in ASSIGNABLE.get(source, frozenset({source}))


def feed(kind: str, **extra: Any) -> Any:  # noqa: ANN401 - the type of a pydantic field declaration
    """Declare a field of an argument model that takes values of type ``kind``."""
    return Field(json_schema_extra={"fabric_type": kind}, **extra)


class Arguments(Contract):
    """Base of a capability's arguments."""

    @classmethod
    def kinds(cls) -> dict[str, str]:
        """Field → the type of value that it takes."""
        kinds = {}
        for name, info in cls.model_fields.items():
            extra = info.json_schema_extra
            kinds[info.alias or name] = str(extra["fabric_type"]) if isinstance(extra, dict) else "literal"
        return kinds


@dataclass(frozen=True, slots=True)
class FailureCode:
    """One typed way to fail.

    ``owner`` is the specialist who must act (``photoshop``, ``unity``, ``pack``, ``operator``);
    ``recoverable`` says whether a recovery edge may follow it; ``mend`` tells a person what to do.
    """

    code: str
    owner: str
    recoverable: bool
    mend: str


def supervised(application: str) -> tuple[FailureCode, ...]:
    """How the supervisor itself may end any task of ``application``, whatever its capabilities declare."""
    return (
        FailureCode(
            f"{application}.budget_exceeded",
            "operator",
            True,
            "raise the budget in home.yaml, or ask for less",
        ),
        FailureCode(f"{application}.postcondition_failed", application, True, "see the task's observations"),
    )


@dataclass(frozen=True)
class Capability:
    """One exact registered operation; see the module's rules."""

    id: str
    application: Application
    summary: str
    arguments: type[Arguments]
    #: output name → value type, e.g. ``{"png": "png"}``.
    outputs: dict[str, str] = field(default_factory=dict)
    #: named effects from the closed list in ``fabric_dagster.capabilities.effects``.
    effects: frozenset[str] = frozenset()
    preconditions: tuple[str, ...] = ()
    postconditions: tuple[str, ...] = ()
    failures: tuple[FailureCode, ...] = ()
    #: whether a graph declares the node's outputs itself (decisions of a pack).
    open_outputs: bool = False

    @cached_property
    def digest(self) -> str:
        """Identity over everything that a graph may rely on."""
        return digest_of(
            "fabric.capability.v1",
            {
                "id": self.id,
                "application": self.application,
                "arguments": self.arguments.model_json_schema(),
                "outputs": self.outputs,
                "effects": sorted(self.effects),
                "preconditions": list(self.preconditions),
                "postconditions": list(self.postconditions),
                "failures": [
                    {"code": f.code, "owner": f.owner, "recoverable": f.recoverable}
                    for f in sorted(self.failures, key=lambda f: f.code)
                ],
            },
        )
