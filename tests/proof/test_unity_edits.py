"""10,000 seeded edits of real projects' files, each read by PyYAML and undone byte for byte."""

import os
from pathlib import Path

import pytest
from random_edits import run

pytestmark = pytest.mark.proof
CORPUS = Path(os.environ.get("FABRIC_CORPUS") or Path(__file__).parents[2].parent / "shared" / "corpus")
TEXTS = (".meta", ".asset", ".prefab", ".unity", ".mat", ".anim", ".controller", ".spriteatlas")
#: written by a package's own JSON-like writer, not by Unity's serializer
FOREIGN_WRITERS = {"XRSettings.asset"}
LARGEST = 400_000


@pytest.mark.parametrize("seed", range(10))
def test_edits_of_real_files_read_as_meant_and_are_undone(seed):
    """A thousand a seed: scalars, references, list items in, out and elsewhere."""
    if not (CORPUS / "unity").is_dir():
        pytest.skip(f"no Unity projects in {CORPUS}: set FABRIC_CORPUS")
    pool = {
        str(path): data
        for path in sorted((CORPUS / "unity").rglob("*"))
        if path.suffix in TEXTS and path.is_file() and path.name not in FOREIGN_WRITERS
        if len(data := path.read_bytes()) < LARGEST and b"\0" not in data
    }
    made = run(pool, 1000, seed)
    assert 1000 == sum(made.values())
    assert min(made.values()) > 0
