"""What each Unity operation changes: run on the sample project, the exact diff printed."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from fabric_dagster.capabilities.registry import capability
from fabric_dagster.contracts.physical_plan import PhysicalPlan
from generator.rooms import ROOT
from resources.unity import sample
from resources.unity.provider import HeadlessUnity

# What the sample project has none of: the tests' own small assets of those kinds.
sys.path.append(str(ROOT / "tests" / "resources" / "unity"))
import asset_texts as texts

STARTER, CATALOG = "Assets/Data/Offers/starter_pack.asset", "Assets/Data/Offers/OfferCatalog.asset"
SHEET, PLACEHOLDER = "Assets/Art/Offers/badges.png", "Assets/Art/Offers/placeholder.png"
ATLAS, MATERIAL = "Assets/Art/Icons.spriteatlas", "Assets/UI/Card.mat"
CARD, VARIANT, SCENE = "Assets/UI/Card.prefab", "Assets/UI/Sale.prefab", "Assets/Scenes/Shop.unity"
SETTINGS = "Assets/AddressableAssetsData/AddressableAssetSettings.asset"
GROUP = "Assets/AddressableAssetsData/AssetGroups/Offers.asset"
SHOP = "Assets/Scripts/Shop/Game.Shop.asmdef"
GUIDS = {
    ATLAS: "3c9d1a7e5b2f4086a1d3e5f7091b2c4d",
    MATERIAL: "7e5c3a1f9b8d4602a0c2e4f6180b3d57",
    CARD: "4f1c8a9d2e7b4360b5d7f90a1c3e5b68",
    VARIANT: "9d3b7f5a1c2e4680a4b6c8d0e2f41735",
    SCENE: "2a6e8c0d4b1f4957a3c5e7f90b2d4f68",
    SETTINGS: texts.SETTINGS_GUID,
    GROUP: "5a0fd1e3b29c4d7e8f60718293a4b5c6",
    SHOP: "1d5f8a3c7b9e4f20a6c4e8d01b3f5a79",
}


class Example(NamedTuple):
    """One operation as an example: what it is about, and its arguments."""

    capability: str
    title: str
    args: dict[str, Any]


OFFER = {"asset": STARTER, "document": "11400000"}
LIST = {"asset": CATALOG, "document": "11400000", "path": "offers"}
ICON = {"fileID": "21300000", "guid": sample.GUIDS[PLACEHOLDER], "type": 3}
EXAMPLES = (
    Example("unity.import_texture@1", "A new icon, in a folder that is new too",
            {"source": "icon.png", "destination": "Assets/Art/New/icon.png", "profile": "ui_sprite_512"}),
    Example("unity.import_texture@1", "Another profile for a texture that is there",
            {"source": "icon.png", "destination": PLACEHOLDER, "profile": "pixel_sprite"}),
    Example("unity.slice_sprites@1", "A slice by its rectangle",
            {"texture": SHEET, "rectangles": [{"name": "hot", "x": 0, "y": 0, "width": 16, "height": 16}]}),
    Example("unity.rename_sprite@1", "A slice under another name, with its id",
            {"texture": SHEET, "sprite": "badge_new", "name": "badge_fresh"}),
    Example("unity.set_atlas_members@1", "A folder into an atlas",
            {"atlas": ATLAS, "add": [{"path": "Assets/Art/Offers"}]}),
    Example("unity.set_property@1", "A text of a ScriptableObject",
            {**OFFER, "path": "displayName", "value": "Starter Pack"}),
    Example("unity.set_property@1", "A reference", {**OFFER, "path": "badge", "value": ICON}),
    Example("unity.edit_list@1", "An item to another place", {**LIST, "action": "move", "index": 0, "to": 2}),
    Example("unity.edit_list@1", "An item out of a list", {**LIST, "action": "remove", "index": 1}),
    Example("unity.create_asset@1", "An offer in the shape of another one",
            {"asset": "Assets/Data/Offers/summer.asset", "like": STARTER,
             "values": {"offerId": "summer", "price": "2.99"}}),
    Example("unity.set_prefab_property@1", "A property of a prefab's own object",
            {"asset": CARD, "document": "1140", "path": "m_Text", "value": "Sale"}),
    Example("unity.set_prefab_property@1", "An override of a prefab variant",
            {"asset": VARIANT, "document": "2002", "path": "m_Sprite", "value": ICON}),
    Example("unity.set_scene_property@1", "An object of a scene",
            {"asset": SCENE, "document": "400", "path": "m_LocalPosition.x", "value": "0.5"}),
    Example("unity.set_material_texture@1", "A texture into a material's slot",
            {"material": MATERIAL, "slot": "_MainTex", "texture": PLACEHOLDER}),
    Example("unity.set_addressable@1", "An asset into an Addressables group, under a new label",
            {"asset": STARTER, "group": GROUP, "address": "offers/starter", "labels": ["shop"]}),
    Example("unity.set_bundle_name@1", "A bundle name", {"asset": PLACEHOLDER, "bundle": "offers/icons"}),
    Example("unity.set_asmdef_references@1", "A reference to another assembly",
            {"asset": SHOP, "add": ["Game.Offers"]}),
    Example("unity.move_asset@1", "A renamed asset",
            {"asset": STARTER, "to": "Assets/Data/Offers/first.asset"}),
    Example("unity.delete_asset@1", "An asset that nothing refers to", {"asset": MATERIAL}),
)  # fmt: skip


def unity_operations() -> str:
    """Every example: the operation as a plan has it, and the diff that a dry run prints."""
    parts: list[str] = []
    last = ""
    for example in EXAMPLES:
        if example.capability != last:
            parts += [f"### `{example.capability}`", "", capability(example.capability).summary, ""]
            last = example.capability
        shown = json.dumps({"capability": example.capability, "args": example.args}, indent=2)
        parts += [f"{example.title}:", "", "```json", shown, "```", "", "```diff", _diff(example), "```", ""]
    return "\n".join(parts).rstrip("\n")


def _diff(example: Example) -> str:
    with tempfile.TemporaryDirectory(prefix="fabric-docs-") as folder:
        project, stage = Path(folder) / "project", Path(folder) / "stage"
        sample.build(project)
        _dress(project)
        stage.mkdir()
        shutil.copyfile(project / PLACEHOLDER, stage / "icon.png")
        numbers = itertools.count(1)
        unity = HeadlessUnity(
            project, draw=lambda: f"{next(numbers) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
        )
        plan = PhysicalPlan.model_validate(
            {
                "schema": PhysicalPlan.SCHEMA,
                "application": "unity",
                "operations": [{"capability": example.capability, "args": example.args}],
            }
        )
        bound = plan.model_copy(update={"allocations": unity.allocate(plan)})
        return unity.stage(bound, stage).diff.rstrip("\n")


def _dress(project: Path) -> None:
    """The kinds of assets that the sample project has none of."""
    assets = {
        ATLAS: texts.atlas_v1(),
        MATERIAL: texts.material(),
        CARD: texts.prefab(),
        VARIANT: texts.YAML + texts.instance(GUIDS[CARD]),
        SCENE: texts.prefab("Shop"),
        SETTINGS: texts.settings(),
        GROUP: texts.group("Offers"),
        SHOP: '{\n    "name": "Game.Shop",\n    "references": []\n}\n',
    }
    for path, text in assets.items():
        texts.put(project, path, text, GUIDS[path])
