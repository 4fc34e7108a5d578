"""``init``: makes what is missing, keeps what is there, and can be killed anywhere."""

import os
import shutil
import stat

import pytest

from fabric_dagster.errors import CheckFailed, UsageFault
from fabric_dagster.governance.trust import IDENTITIES
from resources.home import Home
from resources.setup import _STEPS, initialise

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX file modes")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One finished home, to be copied."""
    home = Home(tmp_path_factory.mktemp("made") / "home")
    initialise(home)
    return home


@pytest.fixture
def quick(made, monkeypatch):
    """Templates from the finished home instead of drawing them again."""
    drawn = {path.name: path.read_bytes() for path in made.templates.iterdir()}
    monkeypatch.setattr("resources.photoshop.sample.build_template", drawn.__getitem__)


def tree(folder):
    """Every file with its bytes, without locks and what SQLite keeps beside its file."""
    skipped = (".lock", "-wal", "-shm", ".new")
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(skipped))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_home_has_everything(made):
    """Keys, trust root, ledger with its first event, artifacts, templates, project; an empty inbox."""
    trust = made.trust_root()
    assert set(trust.identities) == set(IDENTITIES)
    keys = {path.stem for path in made.keys.iterdir()}
    assert keys == set(IDENTITIES) - {"validator"}
    assert [path.name for path in (made.validator / "keys").iterdir()] == ["validator.key"]
    assert (made.validator / "trust.json").read_bytes() == made.trust.read_bytes()
    store = made.open_ledger()
    begun = [("trust.pinned", "admin"), ("home.initialised", "admin")]
    assert [(event.type, event.actor) for event in store.read()] == begun
    assert store.verify().sound
    store.close()
    assert (made.templates / "offer_icon.psd").read_bytes().startswith(b"8BPS")
    assert (made.project / "ProjectSettings" / "ProjectVersion.txt").is_file()
    assert list(made.inbox.iterdir()) == []
    assert made.open_artifacts().root.is_relative_to(made.artifacts)


@posix
def test_a_home_is_its_owners_alone(made):
    """The folder that ``init`` made is closed to others, and so are the keys."""
    for folder in (made.path, made.keys, made.validator / "keys"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_running_it_again_changes_nothing(made):
    """Every file keeps its bytes; every part is reported as kept."""
    before = tree(made.path)
    report = initialise(Home(made.path))
    assert tree(made.path) == before
    assert {state for _, _, state in report.parts} == {"kept"}
    assert report.warnings == []


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("step", list(_STEPS))
@pytest.mark.parametrize("late", [False, True])
def test_an_interrupted_init_is_finished_by_the_next(tmp_path, step, late):
    """Stopped before or amidst any step: the next one ends with the same parts, keys and trust."""

    class Killed(BaseException):
        """Stands for the end of the process."""

    def stop(name):
        if name == step and not late:
            raise Killed

    home = Home(tmp_path / "home")
    if late:
        patched = dict(_STEPS)
        original = patched[step]

        def half(home, report):
            original(home, report)
            raise Killed

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(_STEPS, step, half)
            with pytest.raises(Killed):
                initialise(home, stop)
    else:
        with pytest.raises(Killed):
            initialise(home, stop)
    kept = {name: data for name, data in tree(home.path).items() if name.endswith(".key")}
    initialise(Home(tmp_path / "home"))
    after = tree(home.path)
    assert kept.items() <= after.items()
    assert "trust.json" in after
    assert "project/ProjectSettings/ProjectVersion.txt" in after
    assert not [name for name in after if name.startswith(".init-")]
    store = Home(tmp_path / "home").open_ledger()
    assert [event.type for event in store.read()] == ["trust.pinned", "home.initialised"]
    store.close()


@pytest.mark.usefixtures("quick")
def test_somebodys_files_are_kept(tmp_path):
    """A folder that holds things already: an own template, a project, notes."""
    folder = tmp_path / "home"
    mine = {
        "templates/offer_icon.psd": b"my template",
        "project/readme.txt": b"my project",
        "notes.txt": b"mine",
        "inbox/OFFER-1.json": b"{}",
    }
    for name, data in mine.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    initialise(Home(folder))
    found = tree(folder)
    assert {name: found[name] for name in mine} == mine
    assert "project/ProjectSettings/ProjectVersion.txt" not in found
    assert "templates/offer_icon_wide.psd" in found


def test_a_lost_key_is_not_made_anew(tmp_path, made):
    """The trust root pins it: a new one would sign what nobody trusts."""
    shutil.copytree(made.path, tmp_path / "home")
    home = Home(tmp_path / "home")
    (home.keys / "certifier.key").unlink()
    report = initialise(home)
    assert not (home.keys / "certifier.key").exists()
    assert any("certifier" in warning for warning in report.warnings)


def test_a_lost_ledger_is_not_replaced_by_an_empty_one(tmp_path, made):
    """The checkpoint outside it still says how long it was."""
    shutil.copytree(made.path, tmp_path / "home")
    for path in (tmp_path / "home" / "ledger").glob("ledger.sqlite*"):
        path.unlink()
    with pytest.raises(CheckFailed) as caught:
        initialise(Home(tmp_path / "home"))
    assert caught.value.code == "spine.lost"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["inbox", "keys", "ledger", "artifacts", "templates", "project"])
def test_a_file_where_a_folder_must_be_is_a_clear_error(tmp_path, name):
    """It is not overwritten."""
    (tmp_path / name).write_bytes(b"somebody's")
    with pytest.raises(UsageFault) as caught:
        initialise(Home(tmp_path))
    assert caught.value.code == "home.unusable"
    assert (tmp_path / name).read_bytes() == b"somebody's"


@posix
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root can write everywhere")
def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    """Nothing is left there."""
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UsageFault) as caught:
            initialise(Home(tmp_path / "home"))
    finally:
        tmp_path.chmod(0o700)
    assert caught.value.code == "home.unusable"


def test_a_folder_of_something_else_is_not_filled(tmp_path):
    """A slip of the hand puts no keys into somebody's folder."""
    (tmp_path / "notes").mkdir()
    with pytest.raises(UsageFault) as caught:
        initialise(Home(tmp_path))
    assert ("home.unusable", ["notes"]) == (caught.value.code, [item.name for item in tmp_path.iterdir()])
