"""Whether touched textures can be compressed as they say, and sprites keep their shape.

Only this sees block compression of a picture whose sides are no multiples of four, which the player then
shows uncompressed or not at all, and a sprite that is stretched to a power of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabric_dagster.validators.base import Outcome, Params, Validator
from fabric_dagster.validators.kernels import png
from fabric_dagster.validators.kernels.sheets import SPRITE_TYPE, block
from fabric_dagster.validators.kernels.touched import META, touched

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fabric_dagster.validators.view import EvidenceView

NONE = "0"
AUTOMATIC = "-1"
#: TextureImporterFormat of formats that compress in blocks: DXT, BC, PVRTC, ETC, EAC; not ASTC
BLOCKS = frozenset({
    "10", "12", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "41", "42", "43", "44",
    "45", "46", "47", "64", "65",
})  # fmt: skip
MULTIPLE = 4


class TextureRules(Params):
    """``multiple``: what block-compressed sides are multiples of."""

    multiple: int = MULTIPLE


def judge(view: EvidenceView, params: TextureRules) -> Outcome:
    """Look at the ``.meta`` and the size of every touched PNG."""
    outcome = Outcome()
    found = touched(view)
    textures = found.metas(frozenset({".png"}))
    for texture in textures:
        importer = block(found.tree.unity(f"{texture}{META}"))
        if not importer or texture not in found.tree.files:
            continue
        if importer.get("textureType") == SPRITE_TYPE:
            outcome.equal(NONE, importer.get("nPOTScale"), f"{texture}{META}, nPOTScale of a sprite")
        picture = png.examine(found.tree.read(texture))
        odd = picture.width % params.multiple or picture.height % params.multiple
        for target in _compressed(importer):
            scaled = importer.get("nPOTScale") not in {NONE, None}
            outcome.must(
                not odd or scaled,
                f"sides that are multiples of {params.multiple}, for block compression on {target}",
                f"{picture.width} x {picture.height}",
                texture,
            )
    outcome.must(
        holds=True, expected="every touched PNG looked at", found=str(len(textures)), where="project"
    )
    return outcome


def _compressed(importer: Mapping[str, Any]) -> Iterator[str]:
    """The build targets on which the texture is compressed in blocks."""
    rows = importer.get("platformSettings")
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict):
            continue
        target = str(row.get("buildTarget"))
        applies = target == "DefaultTexturePlatform" or row.get("overridden") == "1"
        chosen = row.get("textureFormat")
        blocks = row.get("textureCompression") != NONE if chosen == AUTOMATIC else chosen in BLOCKS
        if applies and blocks:
            yield target


VALIDATOR = Validator(
    id="texture_rules@1",
    summary="Block-compressed textures have sides of multiples of four, and sprites are not stretched.",
    params=TextureRules,
    judge=judge,
)
