"""A registry of the tests' own: the kernel is tested against declarations that stand still."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode, feed
from fabric_dagster.capabilities.registry import capabilities as registered
from fabric_dagster.graphs.source import GraphSource, parse_graph

HERE = Path(__file__).parent
PACK_GRAPH = HERE.parents[1] / "packs" / "offers" / "graphs" / "create_offer_icon_and_integrate.yaml"


class Open(Arguments):
    """Takes a template."""

    source: str = feed("psd")
    copy_: str = feed("literal", alias="copy")


class Replace(Arguments):
    """Takes a layer and a picture."""

    layer: dict[str, Any] = feed("layer")
    contents: str = feed("picture")
    scope: Literal["layer", "shared"] = feed("literal", default="layer")


class Export(Arguments):
    """Takes a preset."""

    preset: dict[str, Any] = feed("preset")
    out: str = feed("literal")
    note: str | None = feed("text", default=None)


class Import(Arguments):
    """Takes a sealed picture."""

    source: str = feed("png")
    destination: str = feed("unity_path")
    profile: dict[str, Any] = feed("profile")


class SetProperty(Arguments):
    """Takes a property and its value."""

    asset: str = feed("unity_path")
    document: str = feed("literal")
    path: str = feed("literal")
    value: str | int | dict[str, Any] = feed("property_value")


class Undo(Arguments):
    """Takes a literal."""

    transaction: str = feed("literal")


WORKER_DIED = FailureCode("photoshop.worker_died", "photoshop", True, "run it again")
DIMENSIONS = FailureCode("unity.dimensions", "photoshop", True, "export it in another size")
LAYER_MISSING = FailureCode("photoshop.layer_missing", "pack", False, "mend the pack's roles")

OWN = (
    Capability(
        "photoshop.open_duplicate@1",
        "photoshop",
        "Open a copy.",
        Open,
        outputs={"document": "document"},
        effects=frozenset({"photoshop.document.write"}),
        postconditions=("the source has its digest still",),
        failures=(WORKER_DIED,),
    ),
    Capability(
        "photoshop.replace_smart_object@1",
        "photoshop",
        "Put a picture in.",
        Replace,
        outputs={"document": "document"},
        effects=frozenset({"photoshop.document.write"}),
        failures=(WORKER_DIED, LAYER_MISSING),
    ),
    Capability(
        "photoshop.export_png@1",
        "photoshop",
        "Export.",
        Export,
        outputs={"png": "png", "psd": "psd"},
        effects=frozenset({"photoshop.export.write"}),
        postconditions=("the file opens again",),
        failures=(WORKER_DIED,),
    ),
    Capability(
        "unity.import_texture@1",
        "unity",
        "Import.",
        Import,
        outputs={"sprite": "unity_reference", "texture": "unity_path"},
        effects=frozenset({"unity.asset.write", "unity.meta.write"}),
        failures=(DIMENSIONS,),
    ),
    Capability(
        "unity.set_property@1",
        "unity",
        "Set.",
        SetProperty,
        effects=frozenset({"unity.serialized.write"}),
    ),
    Capability(
        "unity.undo_transaction@1",
        "unity",
        "Undo.",
        Undo,
        effects=frozenset({"unity.transaction.undo"}),
    ),
)


@pytest.fixture(scope="session")
def registry() -> dict[str, Capability]:
    """The law's own controls, and the tests' applications."""
    controls = {name: item for name, item in registered().items() if item.application == "fabric"}
    return controls | {item.id: item for item in OWN}


@pytest.fixture(scope="session")
def offer_bytes() -> bytes:
    """The first graph of the pack ``offers`` as it lies there."""
    return PACK_GRAPH.read_bytes()


@pytest.fixture(scope="session")
def good_bytes() -> bytes:
    """A small valid graph of one Photoshop and one Unity partition."""
    return (HERE / "good.yaml").read_bytes()


@pytest.fixture
def good(good_bytes: bytes) -> GraphSource:
    """The same, parsed."""
    return parse_graph(good_bytes, "good.yaml")
