"""A governed run into a project that an editor has open, from the ticket to the verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from resources.home import Home
from resources.unity.live.session import unity_ledger

CHECKOUT = Path(__file__).resolve().parents[3]
TICKET = CHECKOUT / "packs/offers/tickets/OFFER-102.json"


def fabric(*words):
    """A command of the program, which must succeed."""
    command = [sys.executable, "-c", "from fabric_dagster.cli.main import main; main()", *map(str, words)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.mark.proof
def test_a_ticket_goes_through_a_running_editor(host, running_editor, tmp_path):
    """Commissioned for the live provider; the import was asked once; the manifest is as it was."""
    place = tmp_path.resolve() / "home"
    fabric("init", "--home", place)
    with (place / "home.yaml").open("a", encoding="utf-8") as file:
        file.write("unity: live\n")
    fabric("demo", "--home", place)
    manifest = (place / "project/Packages/manifest.json").read_bytes()
    with running_editor(host, place / "project", tmp_path / "fake"):
        told = fabric("run", "CreateOfferIconAndIntegrate@1", "--ticket", TICKET, "--home", place, "--json")
    assert "completed" in json.dumps(json.loads(told))
    assert manifest == (place / "project/Packages/manifest.json").read_bytes()
    assert ["completed"] == [item.state for item in unity_ledger(Home(place).unity).all()]
    assert not (place / "project/Library/Fabric/toolsmith").exists()
