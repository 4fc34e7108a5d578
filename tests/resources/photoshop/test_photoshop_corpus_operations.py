"""Every operation on real documents: only meant blocks differ, or a declared code says why not."""

from __future__ import annotations

from collections import Counter

import pytest
from photoshop_builders import CORPUS, corpus_entries, is_broken

from fabric_dagster.capabilities.registry import capability
from fabric_dagster.errors import FabricError
from resources.photoshop.document import build
from resources.photoshop.edit import Session
from resources.photoshop.effects import read_effects
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits

OPEN = "photoshop.open_duplicate@1"


def tries(data: bytes) -> list[tuple[str, dict]]:
    """One try of each operation on the first layers that it might serve."""
    document = build(parse(data))
    found: list[tuple[str, dict]] = [
        ("convert_profile", {"profile": "srgb"}),
        ("assign_profile", {"profile": "none"}),
    ]
    kinds: Counter[str] = Counter()
    for layer in document.walk():
        kinds[layer.kind] += 1
        if kinds[layer.kind] > 2 or layer.id is None:
            continue
        at = {"layer": {"id": layer.id}}
        found += [
            ("move_layer", {**at, "dx": 3, "dy": -2}),
            ("align_layer", {**at, "horizontal": "center"}),
            ("fill_layer", {**at, "color": "#336699"}),
            ("resize_layer", {**at, "percent": 60}),
            ("edit_mask", {**at, "action": "invert"}),
        ]
        for effect in read_effects(layer.record)[:2]:
            found.append(("set_effect", {**at, "effect": effect["effect"], "enabled": not effect["enabled"]}))
    return found


@pytest.mark.proof
@pytest.mark.parametrize(
    "entry", [e for e in corpus_entries() if not is_broken(e)], ids=lambda entry: entry["file"]
)
def test_operations_on_a_real_document(tmp_path, entry):
    """The save's gate passes for each operation alone; what fails, fails by a code of its capability."""
    data = (CORPUS / entry["file"]).read_bytes()
    (tmp_path / "in.psd").write_bytes(data)
    for name, args in tries(data):
        declared = capability(f"photoshop.{name}@1")
        session = Session(Limits(), {})
        try:
            session.run(0, OPEN, {"source": str(tmp_path / "in.psd"), "copy": "out.psd"})
            session.run(1, declared.id, declared.arguments.model_validate(args).body())
            session.save(tmp_path)
        except FabricError as error:
            code = error.code
        else:
            code = None
        assert code in {None, *(failure.code for failure in declared.failures)} - {
            "photoshop.unexpected_change"
        }, name
        assert data == (tmp_path / "in.psd").read_bytes()
