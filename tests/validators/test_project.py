"""What a project holds now, and what a reference leads to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabric_dagster.validators.base import Outcome, Unjudgeable
from fabric_dagster.validators.checks import import_profile, references_resolve
from fabric_dagster.validators.kernels import project
from resources.unity import sample
from resources.unity.manifest import tree_manifest
from resources.unity.text import UnityFile, scan_references

CORPUS = Path(os.environ.get("FABRIC_CORPUS", Path(__file__).parents[3] / "shared" / "corpus")) / "unity"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus here (FABRIC_CORPUS)")
BADGES, PLACEHOLDER = "Assets/Art/Offers/badges.png", "Assets/Art/Offers/placeholder.png"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The sample project."""
    sample.build(tmp_path / "project")
    return tmp_path / "project"


def test_the_tree_is_that_of_the_manifest_taken_before(root: Path) -> None:
    """Both sides list the same files with the same digests: hidden ones too, and links as such."""
    (root / "Assets" / ".hidden").write_bytes(b"x")
    (root / "Library").mkdir()
    (root / "Library" / "cache").write_bytes(b"x")
    if os.name != "nt":
        (root / "Assets" / "link").symlink_to(root / "Library")

    assert tree_manifest(root) == project.manifest(root)
    assert "Assets/.hidden" in project.manifest(root)
    assert not [path for path in project.manifest(root) if path.startswith("Library")]


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    """Nothing was looked at, so nothing is as it was."""
    with pytest.raises(Unjudgeable):
        project.read_tree(tmp_path)


def test_a_file_that_changes_meanwhile_is_refused(root: Path) -> None:
    """What is judged is what was hashed."""
    tree = project.read_tree(root)
    (root / PLACEHOLDER).write_bytes(b"other")

    with pytest.raises(Unjudgeable, match="other bytes"):
        tree.read(PLACEHOLDER)


def test_a_texture_holds_what_its_meta_lists(root: Path) -> None:
    """Texture, single sprite or the listed slices; a stub holds nothing that anybody knows."""
    tree = project.read_tree(root)
    sprites = {1796805822, *project.legal_ids(tree, BADGES)}

    assert {2800000, 8900000, 21300000} == project.legal_ids(tree, PLACEHOLDER)
    assert 21300000 not in sprites
    assert sprites == project.legal_ids(tree, BADGES)
    (root / f"{PLACEHOLDER}.meta").write_bytes(b"fileFormatVersion: 2\nguid: " + b"a1" * 16 + b"\n")
    assert frozenset() == project.legal_ids(project.read_tree(root), PLACEHOLDER)


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ("textureType: 0\n  spriteMode: 1\n", set()),
        ("textureType: 8\n  spriteMode: 1\n", {21300000}),
        ("textureType: 8\n  spriteMode: 0\n", set()),
        ("textureType: 8\n  spriteMode: 2\n  fileIDToRecycleName:\n    21300000: a\n    21300002: b\n",
         {21300000, 21300002}),
        ("textureType: 8\n  spriteMode: 2\n  internalIDToNameTable:\n  - first:\n      213: -7\n",
         {-7}),
        ("textureType: 8\n  spriteMode: 2\n  spriteSheet:\n    nameFileIdTable:\n      a: 99\n", {99}),
    ],
)  # fmt: skip
def test_sprite_ids_of_every_age(body: str, ids: set[int]) -> None:
    """Recycled names, internal ids and the name table."""
    meta = UnityFile(f"fileFormatVersion: 2\nTextureImporter:\n  {body}".encode())

    assert ids | {2800000, 8900000} == project.texture_ids(meta)


def test_one_guid_of_two_assets_is_refused(root: Path) -> None:
    """Nobody can say where a reference to it leads."""
    (root / "Assets/copy.png").write_bytes(b"x")
    (root / "Assets/copy.png.meta").write_bytes((root / f"{PLACEHOLDER}.meta").read_bytes())

    with pytest.raises(Unjudgeable, match="copy"):
        project.read_tree(root).asset_of(sample.GUIDS[PLACEHOLDER])


def test_installed_packages_are_looked_up(root: Path) -> None:
    """A reference into the editor's package cache leads somewhere."""
    package = root / "Library/PackageCache/com.unity.ugui@1.0.0"
    package.mkdir(parents=True)
    guid = "fe87c0e1cc204ed48ad3b37840f39efc"
    (package / "Image.cs.meta").write_bytes(b"fileFormatVersion: 2\nguid: " + guid.encode() + b"\n")

    found = project.read_tree(root).asset_of(guid)

    assert found == "Library/PackageCache/com.unity.ugui@1.0.0/Image.cs"


@needs_corpus
def test_references_of_real_projects_are_not_called_broken() -> None:
    """Of thousands that lead into their own project, one is known to be dangling."""
    good, bad = 0, []
    for root in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        tree = project.read_tree(root)
        for path in tree.files:
            if path.endswith(".meta") or not references_resolve._is_text(path):
                continue
            data = tree.read(path)
            for reference in scan_references(data):
                target = tree.asset_of(reference.guid)
                if target is None or target in tree.folders:
                    continue
                why = references_resolve._wrong_object(tree, target, reference)
                good += not why
                bad += [(path, why)] if why else []

    assert len(bad) <= 1, bad
    assert good > 1000


@needs_corpus
def test_importer_blocks_of_real_projects_are_whole() -> None:
    """Every TextureImporter block that Unity wrote has the keys that a whole block must have."""
    checked = 0
    for root in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        for meta in sorted(root.rglob("*.meta")):
            data = meta.read_bytes()
            if b"\nTextureImporter:" not in data:
                continue
            outcome = Outcome()
            import_profile._whole(outcome, UnityFile(data), meta.name)
            assert outcome.passed, outcome.wrong
            checked += 1

    assert checked > 50
