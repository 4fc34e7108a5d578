"""``fabric init``, ``spine`` and ``doctor`` as people and programs call them."""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from fabric_dagster.cli.main import main
from fabric_dagster.spine.ports import NewEvent
from resources.home import Home
from resources.setup import initialise


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One finished home, to be copied."""
    home = Home(tmp_path_factory.mktemp("made") / "home")
    initialise(home)
    return home.path


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    """A home of the test's own, found by the environment."""
    path = shutil.copytree(made, tmp_path / "home")
    monkeypatch.setenv("FABRIC_HOME", str(path))
    return path


def fabric(capsys, *words):
    """Run the program in this process: (exit code, standard output, standard error)."""
    try:
        main(list(words))
        code = 0
    except SystemExit as end:
        code = end.code or 0
    out, err = capsys.readouterr()
    return code, out, err


def break_log(home):
    """Change an event's bytes in the database."""
    raw = sqlite3.connect(home / "ledger" / "ledger.sqlite", isolation_level=None)
    raw.execute("DROP TRIGGER events_no_update")
    raw.execute("UPDATE events SET payload = CAST(replace(payload, 'adm', 'mad') AS BLOB) WHERE position = 2")
    raw.close()


def test_init_prints_where_things_are(capsys, made):
    """As JSON: one document, nothing else."""
    code, out, err = fabric(capsys, "init", "--home", str(made), "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["home"] == str(made)
    assert {"keys", "ledger", "artifacts", "template", "Unity project"} <= {
        p["name"] for p in report["parts"]
    }
    assert all(os.path.exists(part["path"]) for part in report["parts"])  # noqa: PTH110 - texts of a report


def test_init_on_a_file_is_one_line(capsys, tmp_path):
    """Exit 2: the call's own words are off; nothing was written."""
    (tmp_path / "file").write_bytes(b"x")
    code, out, err = fabric(capsys, "init", "--home", str(tmp_path / "file"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "[home.unusable]" in err


@pytest.mark.parametrize(
    "words", [["spine", "verify"], ["spine", "tail"], ["artifacts", "verify"], ["artifacts", "gc"]]
)
def test_without_a_home_the_mend_is_init(capsys, tmp_path, monkeypatch, words):
    """Exit 2 and no home made."""
    monkeypatch.setenv("FABRIC_HOME", str(tmp_path / "none"))
    code, out, err = fabric(capsys, *words)
    assert (code, out) == (2, "")
    assert "Run `fabric init`" in err
    assert not (tmp_path / "none").exists()


def test_verify_of_a_sound_log(capsys, home):
    """For a person and as JSON."""
    assert fabric(capsys, "spine", "verify")[0] == 0
    code, out, _ = fabric(capsys, "spine", "verify", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["sound"], found["events"], found["faults"]) == (True, 2, [])
    assert found["head"].startswith("sha256:")
    assert home.is_dir()


def test_verify_of_a_broken_log(capsys, home):
    """Exit 1; the faults in the document and on standard error."""
    break_log(home)
    code, out, err = fabric(capsys, "spine", "verify", "--json")
    found = json.loads(out)
    assert (code, found["sound"]) == (1, False)
    assert found["faults"]
    assert "[spine.signature]" in err


def test_tail_shows_the_newest_events(capsys, home):
    """One line each, or a JSON list with the bodies."""
    code, out, _ = fabric(capsys, "spine", "tail", "-n", "5")
    assert code == 0
    assert "home.initialised" in out
    _, out, _ = fabric(capsys, "spine", "tail", "--json")
    event = json.loads(out)[-1]
    assert (event["position"], event["actor"], event["stream"]) == (2, "admin", "home")
    assert fabric(capsys, "spine", "tail", "-n", "0", "--json")[1].strip() == "[]"
    assert home.is_dir()


def test_tail_of_a_broken_log_is_an_error_line(capsys, home):
    """Never a traceback, never the changed event."""
    break_log(home)
    code, out, err = fabric(capsys, "spine", "tail")
    assert (code, out) == (1, "")
    assert "[spine.column]" in err
    assert "Traceback" not in err


def test_a_deleted_ledger_is_an_error_and_is_not_begun_anew(capsys, home):
    """The anchors outside of it know that there was one; no command makes another, not even init."""
    shutil.rmtree(home / "ledger")
    for words in (["spine", "verify"], ["spine", "tail"], ["runs"], ["init"]):
        code, _, err = fabric(capsys, *words)
        assert (code, err.count("[spine.lost]")) == (1, 1), words
    assert not (home / "ledger/ledger.sqlite").exists()


def test_without_ledger_and_anchors_nothing_is_made_by_looking(capsys, home):
    """Nobody knows of a log any more; still none comes to be by verifying."""
    shutil.rmtree(home / "ledger")
    shutil.rmtree(home / "anchors")
    code, out, err = fabric(capsys, "spine", "verify")
    assert (code, out) == (1, "")
    assert "[spine.missing]" in err
    assert not (home / "ledger").exists()


def test_an_older_database_waits_for_its_migration(capsys, home):
    """It is named and left alone; then every event is still there, and anchored in every place."""
    raw = sqlite3.connect(home / "ledger/ledger.sqlite", isolation_level=None)
    raw.execute("DROP TRIGGER events_no_gap")
    raw.execute("DROP TABLE alembic_version")
    raw.close()
    shutil.rmtree(home / "anchors")
    name = hashlib.sha256(b"data").hexdigest()
    (home / "artifacts/sha256" / name[:2]).mkdir(parents=True)
    (home / "artifacts/sha256" / name[:2] / name).write_bytes(b"data")
    code, _, err = fabric(capsys, "spine", "tail")
    assert (code, "[spine.older_schema]" in err) == (1, True)
    code, out, _ = fabric(capsys, "spine", "migrate", "--json")
    found = {"from": "0001", "to": "0002", "events": 2, "artifacts_moved": 1}
    assert (code, json.loads(out)) == (0, found)
    assert Home(home).open_artifacts().get(f"sha256:{name}") == b"data"
    assert not (home / "artifacts/sha256").exists()
    assert fabric(capsys, "spine", "verify")[0] == 0
    assert fabric(capsys, "spine", "migrate", "--json")[0] == 0


def test_a_newer_database_is_refused(capsys, home):
    """An older program does not guess."""
    raw = sqlite3.connect(home / "ledger/ledger.sqlite", isolation_level=None)
    raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    for words in (["spine", "tail"], ["spine", "migrate"]):
        code, _, err = fabric(capsys, *words)
        assert (code, "[spine.newer_schema]" in err) == (1, True)


def test_a_missing_anchor_is_written_again_after_proof(capsys, home):
    """Not while the log is broken, and never over another one."""
    anchor = home / "anchors/checkpoint.default.main.json"
    anchor.unlink()
    code, _, err = fabric(capsys, "spine", "verify")
    assert (code, "[spine.unanchored]" in err) == (1, True)
    assert fabric(capsys, "spine", "anchor")[0] == 0
    assert fabric(capsys, "spine", "verify")[0] == 0
    break_log(home)
    anchor.unlink()
    assert fabric(capsys, "spine", "anchor")[0] == 1
    assert not anchor.exists()


def test_a_bundle_is_proven_with_the_trust_root_that_one_was_given(capsys, home, tmp_path, monkeypatch):
    """Where there is no home; with another home's, and after a change, it is refused."""
    bundle = tmp_path / "log.ndjson"
    assert fabric(capsys, "spine", "export", str(bundle))[0] == 0
    assert fabric(capsys, "spine", "verify", str(bundle))[0] == 0
    monkeypatch.setenv("FABRIC_HOME", str(tmp_path / "none"))
    code, _, err = fabric(capsys, "spine", "verify", str(bundle))
    assert (code, "[spine.no_trust]" in err) == (2, True)
    trust = str(home / "trust.json")
    code, out, _ = fabric(capsys, "spine", "verify", str(bundle), "--trust", trust, "--json")
    assert (code, json.loads(out)["events"]) == (0, 2)
    bundle.write_bytes(bundle.read_bytes().replace(b'"events":2', b'"events":1'))
    code, _, err = fabric(capsys, "spine", "verify", str(bundle), "--trust", trust)
    assert (code, "[spine.cut]" in err) == (1, True)


@pytest.mark.slow
def test_tail_follows_until_it_is_interrupted(home):
    """A new event appears as a JSON line; Ctrl-C ends it with 130."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from fabric_dagster.cli.main import main; main(['spine', 'tail', '-f', '--json'])",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert json.loads(process.stdout.readline())["type"] == "trust.pinned"
        assert json.loads(process.stdout.readline())["type"] == "home.initialised"
        opened = Home(home)
        store = opened.open_ledger()
        store.append([NewEvent("home", "test.noted", {"n": 1})], signer=opened.signer("runtime"))
        store.close()
        assert json.loads(process.stdout.readline())["type"] == "test.noted"
        if os.name != "nt":
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
    finally:
        process.kill()
        process.communicate()


def test_doctor_names_every_part(capsys, home):
    """A fresh home: nothing fails; one person with all keys is a warning."""
    code, out, _ = fabric(capsys, "doctor", "--json")
    found = json.loads(out)
    states = {}
    for finding in found["findings"]:
        states.setdefault(finding["name"], set()).add(finding["state"])
    assert (code, found["state"]) == (0, "warn")
    assert {
        *("python", "dependencies", "home", "keys", "ledger", "runs", "disk", "packs", "authority"),
        *("project", "transactions", "validator"),
    } <= states.keys()
    assert states["keys"] == {"warn"}
    assert states["ledger"] == states["validator"] == states["project"] == {"ok"}
    assert home.is_dir()


def test_doctor_without_a_home_fails_with_its_mend(capsys, tmp_path, monkeypatch):
    """Exit 1."""
    monkeypatch.setenv("FABRIC_HOME", str(tmp_path / "none"))
    code, out, _ = fabric(capsys, "doctor")
    assert code == 1
    assert "run `fabric init`" in out


def test_doctor_finds_what_is_broken(capsys, home):
    """An exposed key, a broken log, no project, no validator's key: each a finding of its own."""
    break_log(home)
    shutil.rmtree(home / "project")
    (home / "validator" / "keys" / "validator.key").unlink()
    if os.name != "nt":
        (home / "keys" / "certifier.key").chmod(0o644)
    code, out, _ = fabric(capsys, "doctor", "--json")
    failed = {finding["name"] for finding in json.loads(out)["findings"] if finding["state"] == "fail"}
    assert code == 1
    assert {"ledger", "project", "validator"} <= failed
    assert os.name == "nt" or "keys" in failed
    assert "Traceback" not in out


def test_help_is_quick():
    """No heavy import at the top of a command (measured generously: the machine may be busy)."""
    began = time.perf_counter()
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "importtime",
            "-c",
            "from fabric_dagster.cli.main import main; main(['doctor', '-h'])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert time.perf_counter() - began < 5
    for heavy in ("sqlalchemy", "dagster", "pydantic", "cryptography", "numpy"):
        assert f" {heavy}\n" not in done.stderr
