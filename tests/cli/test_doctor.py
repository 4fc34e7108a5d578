"""``fabric doctor``: what is wrong with a home is found and has a mend; looking changes nothing."""

import json
import os

import pytest
from governed import go, opened, tree

from fabric_dagster.cli import remains
from fabric_dagster.cli.main import main


def doctor(capsys, home):
    """(exit code, name → findings)."""
    with pytest.raises(SystemExit) as end:
        main(["doctor", "--json", "--home", str(home.path)])
    out, err = capsys.readouterr()
    assert err == ""
    found = {}
    for item in json.loads(out)["findings"]:
        found.setdefault(item["name"], []).append(item)
    return end.value.code, found


@pytest.mark.slow
def test_a_home_as_init_and_demo_leave_it(capsys, hall):
    """Nothing fails; that one user holds every key is a warning; nothing is written."""
    before = tree(hall.home.path / "artifacts"), tree(hall.home.keys)
    code, found = doctor(capsys, hall.home)
    assert code == 0
    assert {name for name, items in found.items() if any(item["state"] == "warn" for item in items)} <= {
        *("keys", "readers", "disk", "packs"),
    }
    assert before == (tree(hall.home.path / "artifacts"), tree(hall.home.keys))


@pytest.mark.parametrize(
    "text", ["run_launcher: [", "\x00", "- a list", ""], ids=["broken", "control", "list", "empty"]
)
def test_damaged_settings_of_dagster(hall, text):
    """Named, with what to do."""
    (hall.home.dagster / "dagster.yaml").write_text(text, encoding="utf-8")
    (found,) = remains.dagster(hall.home)
    assert (found.state, "fabric init" in found.mend) == ("fail", True)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("name", ["deliveries", "project/Library", "artifacts"])
def test_a_link_where_a_folder_must_be_real(hall, tmp_path, name):
    """What is written through it is written somewhere else."""
    place = hall.home.path / name
    if place.exists():
        place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path)
    (found,) = remains.places(hall.home)
    assert (found.state, str(place) in found.what) == ("fail", True)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_home_that_cannot_be_written(hall):
    """Said before anything fails for it."""
    hall.home.ledger.chmod(0o500)
    try:
        (found,) = remains.places(hall.home)
    finally:
        hall.home.ledger.chmod(0o700)
    assert found.state == "fail"


@pytest.mark.slow
def test_a_run_left_behind_and_an_artifact_that_is_gone(capsys, hall, ticket, monkeypatch):
    """A run that nobody works on any more is named after a while; so is what it cites and the store lost."""
    run = opened(hall, ticket)
    go(hall, run, "asset_decision")
    found = {item.name: item for item in remains.runs(hall.home)}
    assert {item.state for item in found.values()} == {"ok"}
    monkeypatch.setattr(remains, "QUIET", remains.QUIET * 0)
    with hall.hold(f"drive-{run[7:9]}"):
        assert {item.state for item in remains.runs(hall.home)} == {"ok"}
    document = hall.services.reload(run).body["ticket_document"]
    hall.services.artifacts.path(document).unlink()
    found = {item.name: item for item in remains.runs(hall.home)}
    assert ("warn", "OFFER-101" in found["left behind"].what) == (found["left behind"].state, True)
    assert ("fail", document[:19] in found["artifacts"].what) == (found["artifacts"].state, True)
    with pytest.raises(SystemExit) as end:
        main(["artifacts", "verify", "--home", str(hall.home.path)])
    out, err = capsys.readouterr()
    assert (end.value.code, "1 missing" in out, f"'{document}'" in err) == (1, True, True)


@pytest.mark.skipif(os.name == "nt", reason="owners are not looked at there")
def test_who_owns_the_keys_of_several_identities(hall):
    """In a demo one user does; apart, nobody."""
    (found,) = remains.readers(hall.home)
    assert (found.state, "9 identities" in found.what) == ("warn", True)
    for path in hall.home.keys.iterdir():
        if path.name != "runtime.key":
            path.unlink()
    (hall.home.validator / "keys" / "validator.key").unlink()
    (found,) = remains.readers(hall.home)
    assert found.state == "ok"


def test_one_broken_ledger_is_told_once(capsys, hall):
    """Every look that needs it fails; the first says why, the others refer to it."""
    for file in hall.home.ledger.glob("ledger.sqlite*"):
        file.unlink()
    code, found = doctor(capsys, hall.home)
    failed = [item for items in found.values() for item in items if item["state"] == "fail"]
    told = [item["what"] for item in failed if "its database is not there" in item["what"]]
    assert (code, len(told)) == (1, 1)
    assert {item["what"] for item in failed} == {told[0], "not looked at: the same fault as trust"}
