"""Runs that create assets and edit further ones: the decision names them, the checks allow exactly that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from project_faults import remember
from validator_world import World

from fabric_dagster.validators.checks import project_diff, references_resolve
from fabric_dagster.validators.checks.project_diff import ProjectDiff
from fabric_dagster.validators.checks.references_resolve import ReferencesResolve
from fabric_dagster.validators.view import EvidenceView
from resources.unity import sample

NEW, CATALOG = "Assets/Data/Offers/summer.asset", "Assets/Data/Offers/OfferCatalog.asset"
GUID = "5d0c6b7a8e9f41b2a3c4d5e6f7081929"
LINE = f"  - {{fileID: 11400000, guid: {GUID}, type: 2}}\n".encode()
CREATES: dict[str, Any] = {"created": ("new_asset",), "edited": {"catalog": ("offers",)}}


@pytest.fixture
def made(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A good world whose run also created an offer and listed it."""
    remember(world, world.project / CATALOG)
    offer = world.asset.read_bytes().replace(b"m_Name: starter_pack", b"m_Name: summer")
    (world.project / NEW).write_bytes(offer)
    meta = world.asset.with_name("starter_pack.asset.meta").read_bytes()
    old = sample.GUIDS["Assets/Data/Offers/starter_pack.asset"].encode()
    (world.project / f"{NEW}.meta").write_bytes(meta.replace(old, GUID.encode()))
    catalog = world.project / CATALOG
    catalog.write_bytes(catalog.read_bytes() + LINE)
    decided = EvidenceView.decided
    extra = {"new_asset": NEW, "catalog": CATALOG}
    monkeypatch.setattr(EvidenceView, "decided", lambda view, name: extra.get(name) or decided(view, name))
    return world


def test_what_was_decided_is_created_and_listed(made: World) -> None:
    """Nothing else differs, and every reference of the new asset leads somewhere."""
    view = EvidenceView(made.evidence("unity_1"))

    assert project_diff.judge(view, ProjectDiff(**CREATES)).wrong == []
    assert references_resolve.judge(view, ReferencesResolve(**CREATES)).wrong == []


@pytest.mark.parametrize(
    ("params", "count"),
    [({}, 3), ({"created": ("new_asset",)}, 1), ({"edited": {"catalog": ("offers",)}}, 2)],
)
def test_what_was_not_decided_is_found(made: World, params: dict[str, Any], count: int) -> None:
    """The asset, its ``.meta`` and the catalog are each named."""
    view = EvidenceView(made.evidence("unity_1"))

    assert count == len(project_diff.judge(view, ProjectDiff(**params)).wrong)


def test_more_than_the_decided_property_of_a_further_asset_is_found(made: World) -> None:
    """The list may change, the name may not."""
    catalog = made.project / CATALOG
    catalog.write_bytes(catalog.read_bytes().replace(b"m_Name: OfferCatalog", b"m_Name: Offers"))

    (wrong,) = project_diff.judge(EvidenceView(made.evidence("unity_1")), ProjectDiff(**CREATES)).wrong

    assert wrong.where == CATALOG


def test_an_asset_that_was_to_be_created_and_is_not_is_found(made: World) -> None:
    """By both checks."""
    for path in (made.project / NEW, made.project / f"{NEW}.meta"):
        Path(path).unlink()
    view = EvidenceView(made.evidence("unity_1"))

    assert project_diff.judge(view, ProjectDiff(**CREATES)).wrong != []
    assert references_resolve.judge(view, ReferencesResolve(**CREATES)).wrong != []
