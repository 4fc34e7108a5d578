"""What several Unity capabilities declare in common: paths, values, slices, failure codes."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.capabilities.base import FailureCode, feed

if TYPE_CHECKING:
    from collections.abc import Mapping

ASSET: Final = r"^(Assets|Packages|ProjectSettings)/.+$"
DOCUMENT: Final = r"^-?[0-9]{1,20}$"
LONGEST_PATH: Final = 240
#: a sprite's name, an asset's label, an address
LONGEST_NAME: Final = 200


def asset_path(**extra: Any) -> Any:  # noqa: ANN401 - the type of a pydantic field declaration
    """Declare a field that takes the path of an asset under Assets/ or an embedded package."""
    return feed("unity_path", pattern=ASSET, max_length=LONGEST_PATH, **extra)


_CODES: tuple[tuple[str, str, str], ...] = (
    ("unity.addressable_clash", "operator", "keep the asset in one group: remove it from the others"),
    ("unity.allocation_missing", "operator", "bind the plan again"),
    ("unity.asmdef_damaged", "operator", "mend the JSON of the assembly definition"),
    ("unity.asmdef_refused", "pack", "leave out the reference to itself, or the one that closes the circle"),
    ("unity.asset_exists", "pack", "choose another path"),
    ("unity.asset_in_use", "pack", "change what refers to it first"),
    ("unity.asset_missing", "pack", "name an asset that exists"),
    ("unity.asset_not_text", "operator", "set Asset Serialization to Force Text"),
    ("unity.asset_wrong_kind", "pack", "name an asset of the kind that the capability edits"),
    ("unity.atlas_clash", "pack", "pack each sprite into one atlas"),
    ("unity.case_clash", "pack", "use the existing spelling of the path"),
    ("unity.destination_refused", "pack", "decide a path under Assets/"),
    ("unity.document_missing", "pack", "name a document of the asset"),
    ("unity.guid_clash", "operator", "draw a new GUID: bind the plan again"),
    ("unity.meta_damaged", "operator", "let the editor import the asset again"),
    ("unity.path_ambiguous", "pack", "name one of the candidates"),
    ("unity.path_missing", "pack", "name a property that exists"),
    ("unity.reference_kind", "pack", "refer to an object of the kind that the property holds"),
    ("unity.reference_unresolved", "pack", "import the referred asset first"),
    ("unity.slices_refused", "pack", "give slices that lie within the picture, each under one name"),
    ("unity.value_type", "pack", "give a value of the property's type"),
)
_ALL: Final[Mapping[str, FailureCode]] = MappingProxyType(
    {code: FailureCode(code, owner, recoverable=False, mend=mend) for code, owner, mend in _CODES}
)
#: what every edit of a text asset may end in
TEXT_FAILURES: Final = (
    "unity.asset_missing", "unity.asset_not_text", "unity.case_clash", "unity.destination_refused",
)  # fmt: skip
#: what setting a value may end in, beside those
VALUE_FAILURES: Final = (
    "unity.document_missing", "unity.path_ambiguous", "unity.path_missing", "unity.reference_kind",
    "unity.reference_unresolved", "unity.value_type",
)  # fmt: skip


def failures(*codes: str) -> tuple[FailureCode, ...]:
    """The failures of these codes, sorted, each once."""
    return tuple(_ALL[code] for code in sorted(set(codes)))
