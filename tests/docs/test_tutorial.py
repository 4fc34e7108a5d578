"""The tutorial's pack does what the tutorial says of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fabric_dagster.supervisor.workflows import load_workflows

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial"
GRAPH = "CreateOfferBadge@1"
NODES = {
    "ticket_brief",
    "asset_decision",
    "open_template",
    "place_art",
    "export_badge",
    "badge_handoff",
    "import_badge",
    "wire_badge",
    "verdict",
}


@pytest.fixture
def packs(tmp_path):
    """A folder of packs with both workflows, as step 1 leaves it."""
    shutil.copytree(TUTORIAL / "badges", tmp_path / "packs" / "badges")
    shutil.copytree(ROOT / "packs" / "offers", tmp_path / "packs" / "offers")
    return tmp_path / "packs"


def fabric(*words):
    """Run the program; exit code, standard output, standard error."""
    code = "from fabric_dagster.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=ROOT,
    )
    return done.returncode, done.stdout, done.stderr


def test_no_python_is_added():
    """The pack's folder holds no Python."""
    assert [] == list((TUTORIAL / "badges").rglob("*.py"))


def test_a_fresh_copy_lacks_only_its_lock(packs):
    """Step 3: one fault on the fresh copy, none after `fabric pack lock`."""
    code, _, errors = fabric("pack", "check", "badges", "--packs", packs)
    assert (1, ["pack.no_lock"]) == (code, [line.rpartition("[")[2][:-1] for line in errors.splitlines()])
    assert fabric("pack", "lock", "badges", "--packs", packs)[0] == 0
    code, out, _ = fabric("pack", "check", "badges", "--packs", packs, "--json")
    assert (0, True) == (code, json.loads(out)["packs"][0]["sound"])


def test_a_misspelt_quote_is_found_with_its_line(packs):
    """Step 3: evidence that does not stand in the SOP is a fault of pack.yaml, with the line."""
    page = packs / "badges" / "pack.yaml"
    text = page.read_text(encoding="utf-8").replace("A sale badge uses", "A sail badge uses")
    page.write_text(text, encoding="utf-8", newline="\n")
    line = 1 + text.split("A sail badge")[0].count("\n")
    code, _, errors = fabric("pack", "check", "badges", "--packs", packs)
    assert code == 1
    assert f"badges/pack.yaml:{line}:" in errors


def test_two_applications_make_two_sealed_partitions(packs):
    """Step 4: the Photoshop nodes are one partition, the Unity nodes another."""
    compiled = load_workflows([packs])[GRAPH].compiled
    made = {part.id: set(part.nodes) for part in compiled.partitions if part.application != "fabric"}
    expected = {
        "photoshop_1": {"open_template", "place_art", "export_badge"},
        "unity_1": {"import_badge", "wire_badge"},
    }
    assert expected == made


def test_order_carries_no_meaning_and_bytes_do(packs):
    """Step 4: reordered nodes seal to the same digest, a changed argument to another."""
    digest = load_workflows([packs])[GRAPH].compiled.digest
    page = packs / "badges" / "graphs" / "create_offer_badge.yaml"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition("nodes:\n")
    nodes, _, tail = rest.partition("\nvalidators:")
    turned = "".join(f"  - id:{node}\n" for node in reversed(nodes.split("  - id:")[1:]))
    page.write_text(f"{head}nodes:\n{turned}\nvalidators:{tail}", encoding="utf-8")
    assert digest == load_workflows([packs])[GRAPH].compiled.digest
    page.write_text(text.replace("out: badge.png", "out: corner.png"), encoding="utf-8")
    assert digest != load_workflows([packs])[GRAPH].compiled.digest
    code, out, _ = fabric("graph", "seal", GRAPH, "--packs", TUTORIAL)
    assert (0, True) == (code, digest in out)


def test_it_appears_in_dagster_beside_the_first(packs):
    """Step 5: nine assets of one group and eleven checks, beside those of the pack `offers`."""
    import dagster as dg

    from assets.component import packs_definitions
    from resources.supervision.dagster import FabricResource
    from sensors.intake import ticket_intake
    from sensors.recovery import recovery

    others = dg.Definitions(
        sensors=[ticket_intake, recovery],
        resources={"fabric": FabricResource()},
        executor=dg.in_process_executor,
    )
    definitions = dg.Definitions.merge(packs_definitions(packs, pools=True), others)
    dg.Definitions.validate_loadable(definitions)
    specs = list(definitions.resolve_all_asset_specs())
    mine = {spec.key.path[-1] for spec in specs if spec.group_name == "create_offer_badge"}
    assert NODES | {"approval"} == mine
    keys = [key for checks in definitions.asset_checks or () for key in checks.check_keys]
    assert len([key for key in keys if key.asset_key.path[0] == "create_offer_badge"]) == 11
    groups = {spec.group_name for spec in specs}
    assert {"create_offer_badge", "create_offer_icon_and_integrate"} <= groups


def test_the_tickets_come_to_what_the_page_says(packs):
    """Step 6: the good ticket is decided by the sale rule, the bad one refused for two reasons at once."""
    tickets = packs / "badges" / "tickets"
    code, out, _ = fabric("ticket", "check", tickets / "BADGE-1.json", "--packs", packs, "--json")
    assert (0, "sale_badge") == (code, json.loads(out)["decision"]["rule"])
    bad = tickets / "bad" / "BADGE-9_category_and_key.json"
    code, out, _ = fabric("ticket", "check", bad, "--packs", packs, "--json")
    codes = sorted(fault["code"] for fault in json.loads(out)["faults"])
    assert (1, ["ticket.unknown_category", "ticket.unknown_key"]) == (code, codes)


@pytest.mark.slow
def test_it_is_refused_until_it_is_commissioned_and_then_completes(packs, tmp_path, monkeypatch):
    """Steps 6 to 7: a dry run writes nothing, a run is refused with 3, and completes after the five acts."""
    home = tmp_path / "home"
    monkeypatch.setenv("FABRIC_HOME", str(home))
    assert fabric("init")[0] == 0
    config = home / "home.yaml"
    text = config.read_text(encoding="utf-8").replace("packs: []", f"packs: [{json.dumps(packs.as_posix())}]")
    config.write_text(text, encoding="utf-8", newline="\n")
    words = ("run", GRAPH, "--ticket", packs / "badges" / "tickets" / "BADGE-1.json")
    asset = home / "project" / "Assets" / "Data" / "Offers" / "daily_deal.asset"
    before = asset.read_bytes()

    code, out, errors = fabric(*words, "--dry-run", "--json")
    assert code == 0, errors
    changed = [change["path"] for part in json.loads(out)["partitions"] for change in part["changes"]]
    assert "Assets/Art/Badges/daily_deal.png" in changed
    code, _, errors = fabric(*words)
    assert (3, True) == (code, "authority.uncertified" in errors)
    assert before == asset.read_bytes()

    receipt, scope = tmp_path / "receipt.json", tmp_path / "scope.yaml"
    for act in (
        ("qualify", GRAPH),
        ("validator", "review", GRAPH),
        ("validator", "sign", GRAPH, "--out", receipt),
        ("certify", GRAPH, "--receipt", receipt),
        ("publish", GRAPH),
    ):
        assert fabric(*act)[0] == 0, act
    text = fabric("commission", GRAPH, "--template")[1]
    scope.write_text(text, encoding="utf-8")
    assert ["Assets/Art/Badges", "Assets/Data/Offers"] == yaml.safe_load(text)["writes"]
    assert fabric("commission", GRAPH, "--scope", scope)[0] == 0
    code, _, errors = fabric(*words)
    assert code == 0, errors
    assert (home / "project" / "Assets" / "Art" / "Badges" / "daily_deal.png.meta").is_file()
    assert before != asset.read_bytes()
