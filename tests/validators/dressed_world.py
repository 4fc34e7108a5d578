"""What the rich world's project has more: atlases, Addressables groups, a material and what refers to it."""

from __future__ import annotations

from pathlib import Path

import asset_texts as texts

from resources.unity import sample

BADGES = "Assets/Art/Offers/badges.png"
HOME = "Assets/AddressableAssetsData"
GUIDS = {
    "Assets/Art/Icons.spriteatlas": "3c9d1a7e5b2f4086a1d3e5f7091b2c4d",
    "Assets/Art/Shop.spriteatlas": "9e4b7d2c1f0a4538b6c8d0e2f4a61739",
    f"{HOME}/AssetGroups/Offers.asset": "5a0fd1e3b29c4d7e8f60718293a4b5c6",
    f"{HOME}/AssetGroups/Shop.asset": "7b1e2f4c3d5a4b6c9d8e0f1a2b3c4d5e",
    "Assets/Data/Card.mat": "7e5c3a1f9b8d4602a0c2e4f6180b3d57",
    "Assets/Data/user.asset": "2a6e8c0d4b1f4957a3c5e7f90b2d4f68",
}
OFFER_SCRIPT = "Assets/Scripts/Offers/OfferDefinition.cs"


def guid_of(asset: str) -> bytes:
    """The GUID of one of the sample project's assets."""
    return sample.GUIDS[asset].encode()


def member(asset: str, file_id: bytes = b"2800000") -> bytes:
    """A packable of an atlas."""
    return b"    - {fileID: " + file_id + b", guid: " + guid_of(asset) + b", type: 3}\n"


def dressed(project: Path) -> None:
    """Two atlases, two Addressables groups with settings, a material and what refers to it."""
    offers = [
        (guid_of(f"Assets/Data/Offers/{n}.asset").decode(), n, ()) for n in ("mega_bundle", "daily_deal")
    ]
    entries = sorted([*offers[:1], (*offers[1][:2], ("default",)), (guid_of(BADGES).decode(), "badges", ())])
    material = GUIDS["Assets/Data/Card.mat"]
    user = f"  m: {{fileID: 2100000, guid: {material}, type: 2}}\n"
    assets = {
        "Assets/Art/Icons.spriteatlas": texts.atlas_v1("\n" + member(BADGES).decode().rstrip("\n")),
        "Assets/Art/Shop.spriteatlas": texts.atlas_v1(),
        f"{HOME}/AssetGroups/Offers.asset": texts.group("Offers", entries),
        f"{HOME}/AssetGroups/Shop.asset": texts.group("Shop"),
        "Assets/Data/Card.mat": texts.material(),
        "Assets/Data/user.asset": texts.script_asset(sample.GUIDS[OFFER_SCRIPT], "user", user),
    }
    for path, text in assets.items():
        texts.put(project, path, text, GUIDS[path])
    texts.put(project, f"{HOME}/AddressableAssetSettings.asset", texts.settings(), texts.SETTINGS_GUID)
