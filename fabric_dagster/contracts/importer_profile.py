"""A certified importer profile: how a texture is imported, as data.

It says what a TextureImporter must be set to, in words; ``properties`` gives the same as Unity serializes it,
so that whoever writes a ``.meta`` and whoever judges one read the same table. What a profile does not name
(slices, sprite ids, labels) is not its business and stays as it is.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from fabric_dagster.contracts.base import Contract

TEXTURE_TYPE = {"default": 0, "normal_map": 1, "gui": 2, "cursor": 7, "sprite": 8}
SPRITE_MODE = {"none": 0, "single": 1, "multiple": 2}
COMPRESSION = {"none": 0, "normal": 1, "high": 2, "low": 3}
FILTER = {"point": 0, "bilinear": 1, "trilinear": 2}
WRAP = {"repeat": 0, "clamp": 1, "mirror": 2, "mirror_once": 3}
NPOT = {"none": 0, "nearest": 1, "larger": 2, "smaller": 3}
MESH = {"full_rect": 0, "tight": 1}
ALPHA = {"none": 0, "input": 1, "gray": 2}

Compression = Literal["none", "normal", "high", "low"]
#: Unity's own steps.
Size = Literal[32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]


class PlatformOverride(Contract):
    """What differs on one build target."""

    max_texture_size: Size
    compression: Compression = "normal"
    #: Unity's TextureImporterFormat; -1 lets the platform choose.
    format: int = Field(default=-1, ge=-1, le=200)


class Dimensions(Contract):
    """What a picture must measure, in pixels. A multiple of 4 is what block compression needs."""

    min_side: int = Field(default=1, ge=1)
    max_side: int = Field(default=16384, ge=1)
    multiple_of: int = Field(default=1, ge=1, le=64)
    power_of_two: bool = False
    square: bool = False

    def faults(self, width: int, height: int) -> list[str]:
        """One sentence for each rule that ``width`` x ``height`` breaks."""
        found = []
        if min(width, height) < self.min_side:
            found.append(f"a side is shorter than {self.min_side}")
        if max(width, height) > self.max_side:
            found.append(f"a side is longer than {self.max_side}")
        if width % self.multiple_of or height % self.multiple_of:
            found.append(f"the sides are no multiples of {self.multiple_of}")
        if self.power_of_two and any(side & (side - 1) for side in (width, height)):
            found.append("the sides are no powers of two")
        if self.square and width != height:
            found.append("it is not square")
        return found


class ImporterProfile(Contract):
    """The settings of one kind of texture."""

    texture_type: Literal["default", "normal_map", "gui", "cursor", "sprite"] = "sprite"
    sprite_mode: Literal["none", "single", "multiple"] = "single"
    max_texture_size: Size = 2048
    compression: Compression = "none"
    crunch: bool = False
    quality: int = Field(default=50, ge=0, le=100)
    alpha_source: Literal["none", "input", "gray"] = "input"
    alpha_is_transparency: bool = True
    mipmaps: bool = False
    srgb: bool = True
    readable: bool = False
    filter: Literal["point", "bilinear", "trilinear"] = "bilinear"
    wrap: Literal["repeat", "clamp", "mirror", "mirror_once"] = "clamp"
    aniso: int = Field(default=1, ge=0, le=16)
    pixels_per_unit: int = Field(default=100, ge=1, le=100_000)
    sprite_mesh: Literal["full_rect", "tight"] = "tight"
    npot_scale: Literal["none", "nearest", "larger", "smaller"] = "none"
    #: build target (``Android``, ``iPhone``, ``Standalone`` …) → override; others are not overridden.
    platforms: dict[str, PlatformOverride] = Field(default_factory=dict)
    dimensions: Dimensions = Dimensions()

    @field_validator("platforms")
    @classmethod
    def _one_apple(cls, value: dict[str, PlatformOverride]) -> dict[str, PlatformOverride]:
        if {"iPhone", "iOS"} <= value.keys() or "DefaultTexturePlatform" in value:
            msg = "name iOS once, and never DefaultTexturePlatform"
            raise ValueError(msg)
        return value

    def properties(self) -> dict[str, str]:
        """Property path below ``TextureImporter`` → the text that Unity writes there."""
        return {
            "mipmaps.enableMipMap": _flag(self.mipmaps),
            "mipmaps.sRGBTexture": _flag(self.srgb),
            "isReadable": _flag(self.readable),
            "textureSettings.filterMode": str(FILTER[self.filter]),
            "textureSettings.aniso": str(self.aniso),
            "textureSettings.wrapU": str(WRAP[self.wrap]),
            "textureSettings.wrapV": str(WRAP[self.wrap]),
            "nPOTScale": str(NPOT[self.npot_scale]),
            "spriteMode": str(SPRITE_MODE[self.sprite_mode]),
            "spriteMeshType": str(MESH[self.sprite_mesh]),
            "spritePixelsToUnits": str(self.pixels_per_unit),
            "alphaUsage": str(ALPHA[self.alpha_source]),
            "alphaIsTransparency": _flag(self.alpha_is_transparency),
            "textureType": str(TEXTURE_TYPE[self.texture_type]),
        }

    def platform_properties(self, target: str) -> dict[str, str]:
        """The same for one entry of ``platformSettings``: of ``DefaultTexturePlatform`` or a build target."""
        apple = {"iPhone": "iOS", "iOS": "iPhone"}
        override = self.platforms.get(target, self.platforms.get(apple.get(target, "")))
        if target == "DefaultTexturePlatform":
            return {
                "maxTextureSize": str(self.max_texture_size),
                "textureFormat": "-1",
                "textureCompression": str(COMPRESSION[self.compression]),
                "compressionQuality": str(self.quality),
                "crunchedCompression": _flag(self.crunch),
                "overridden": "0",
            }
        if override is None:
            return {"overridden": "0"}
        return {
            "maxTextureSize": str(override.max_texture_size),
            "textureFormat": str(override.format),
            "textureCompression": str(COMPRESSION[override.compression]),
            "overridden": "1",
        }


def _flag(value: bool) -> str:  # noqa: FBT001 - converts exactly that
    return str(int(value))


#: Profiles that a hand-written plan may name; packs bring their own.
BUILT_IN: dict[str, ImporterProfile] = {
    "ui_sprite": ImporterProfile(),
    "ui_sprite_512": ImporterProfile(max_texture_size=512),
    "pixel_sprite": ImporterProfile(filter="point", pixels_per_unit=16),
    "sprite_sheet": ImporterProfile(sprite_mode="multiple"),
    "texture": ImporterProfile(
        texture_type="default",
        sprite_mode="none",
        compression="normal",
        mipmaps=True,
        wrap="repeat",
        alpha_is_transparency=False,
        npot_scale="nearest",
    ),
}
