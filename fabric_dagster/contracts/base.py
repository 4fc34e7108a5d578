"""What every contract shares: frozen models, unknown keys refused, one canonical digest."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, StringConstraints

from fabric_dagster.digests import digest_of

Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
NodeId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
CapabilityId = Annotated[str, StringConstraints(pattern=r"^[a-z]+\.[a-z][a-z0-9_]*@[1-9][0-9]*$")]
SemVer = Annotated[str, StringConstraints(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]


class Contract(BaseModel):
    """A frozen document part. Unknown keys are refused; nothing is coerced."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        populate_by_name=True,
        serialize_by_alias=True,
    )

    def body(self) -> dict[str, Any]:
        """The JSON form, with defaults included and nulls omitted."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Document(Contract):
    """A contract that stands alone: it names its schema and has an identity.

    A subclass sets ``SCHEMA`` and declares ``schema_: Literal[…] = Field(alias="schema")``; the JSON key
    is ``schema``. Documents are listed by ``fabric_dagster.contracts.documents()``.
    """

    SCHEMA: ClassVar[str]
    #: Fields that are no part of the identity (own digest, signatures, lifecycle).
    UNSIGNED: ClassVar[frozenset[str]] = frozenset()

    @property
    def digest(self) -> str:
        """``sha256:…`` over RFC 8785 of schema and body (design/DETAILS.md, "Digests")."""
        skipped = {"schema", *self.UNSIGNED}
        return digest_of(
            self.SCHEMA, {key: value for key, value in self.body().items() if key not in skipped}
        )
