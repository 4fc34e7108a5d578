"""``unity.slice_sprites@1``: the slices of a sprite sheet, by a grid or by rectangles."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from fabric_dagster.capabilities.base import Arguments, Capability
from fabric_dagster.capabilities.unity_shared import LONGEST_NAME, TEXT_FAILURES, asset_path, failures
from fabric_dagster.contracts.base import Contract

LARGEST = 16_384
MOST = 4096

Anchor = Literal[
    "center", "top_left", "top", "top_right", "left", "right", "bottom_left", "bottom", "bottom_right"
]


class Rectangle(Contract):
    """One slice, in pixels; ``x`` and ``y`` from the bottom left corner, as Unity counts."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    x: int = Field(ge=0, le=LARGEST)
    y: int = Field(ge=0, le=LARGEST)
    width: int = Field(ge=1, le=LARGEST)
    height: int = Field(ge=1, le=LARGEST)
    #: what is left out stays as it is, or is centred and without a border on a new slice.
    anchor: Anchor | None = None
    #: left, bottom, right, top
    border: tuple[int, int, int, int] | None = Field(default=None, strict=False)


class Grid(Contract):
    """Equal cells, row by row from the top left; ``prefix_0``, ``prefix_1`` and so on."""

    columns: int = Field(ge=1, le=512)
    rows: int = Field(ge=1, le=512)
    width: int = Field(ge=1, le=LARGEST)
    height: int = Field(ge=1, le=LARGEST)
    left: int = Field(default=0, ge=0, le=LARGEST)
    top: int = Field(default=0, ge=0, le=LARGEST)
    gap_x: int = Field(default=0, ge=0, le=LARGEST)
    gap_y: int = Field(default=0, ge=0, le=LARGEST)
    #: by default the picture's own name.
    prefix: str | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)
    anchor: Anchor | None = None


class SliceSprites(Arguments):
    """``others``: whether slices that are not named stay, or go where nothing needs them."""

    texture: str = asset_path()
    grid: Grid | None = Field(default=None, json_schema_extra={"fabric_type": "sprite_grid"})
    rectangles: tuple[Rectangle, ...] = Field(
        default=(), max_length=MOST, strict=False, json_schema_extra={"fabric_type": "sprite_rectangles"}
    )
    others: Literal["keep", "remove"] = "keep"

    @model_validator(mode="after")
    def _one_of_both(self) -> SliceSprites:
        if (self.grid is None) == (not self.rectangles):
            msg = "give either a grid or rectangles"
            raise ValueError(msg)
        if self.grid is not None and self.grid.columns * self.grid.rows > MOST:
            msg = f"a grid has at most {MOST} cells"
            raise ValueError(msg)
        return self


CAPABILITY = Capability(
    id="unity.slice_sprites@1",
    application="unity",
    summary="Slice a sprite sheet by a grid or by rectangles; a slice of a known name keeps its id.",
    arguments=SliceSprites,
    outputs={"texture": "unity_path", "sprite": "unity_reference"},
    effects=frozenset({"unity.meta.write"}),
    preconditions=(
        "the .meta is a full TextureImporter block of type Sprite",
        "every slice lies within the picture, under a name of its own",
        "nothing refers to a slice that goes, or to the single sprite that a sheet does not have",
    ),
    postconditions=(
        "every slice stands in the sheet with its rectangle, in the id table and in the name table",
        "slices of known names keep internalID and spriteID; new ones follow from the bound plan's spriteID",
        "no slice that something refers to is gone",
    ),
    failures=failures(
        *TEXT_FAILURES,
        "unity.allocation_missing",
        "unity.asset_in_use",
        "unity.asset_wrong_kind",
        "unity.guid_clash",
        "unity.meta_damaged",
        "unity.slices_refused",
    ),
)
