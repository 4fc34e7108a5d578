"""``fabric run`` and ``runs``: words that are off are told before anything is opened or recorded."""

from pathlib import Path

import pytest

from fabric_dagster.cli.main import main
from resources.home import Home
from resources.setup import initialise


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home that the calls below leave as it is."""
    place = Home(tmp_path_factory.mktemp("words") / "home")
    initialise(place)
    return place.path


def fabric(capsys, *words):
    """Run the program in this process: (exit code, standard output, standard error)."""
    with pytest.raises(SystemExit) as end:
        main(list(map(str, words)))
    out, err = capsys.readouterr()
    return end.value.code, out, err


def test_a_graph_and_a_ticket_that_are_not_there_are_usage_errors(capsys, home, tmp_path):
    """Both at once; a folder is no ticket; no event says that a ticket was refused."""
    before = fabric(capsys, "spine", "tail", "--home", home, "--json")
    code, out, err = fabric(capsys, "run", "Nope@1", "--ticket", tmp_path, "--home", home)
    assert (2, "", 2) == (code, out, err.count("\n"))
    assert "[graph.unknown]" in err
    assert f"fabric: {tmp_path}: there is no such file" in err
    assert before == fabric(capsys, "spine", "tail", "--home", home, "--json")


def test_a_state_that_no_run_has_is_a_usage_error(capsys, home):
    """A slip of the pen is not "no run is complete"."""
    code, out, err = fabric(capsys, "runs", "--state", "complete", "--home", home)
    assert (2, "", 1) == (code, out, err.count("\n"))
    assert "completed" in err
    assert (0, "No run is failed.\n", "") == fabric(capsys, "runs", "--state", "failed", "--home", home)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless file")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("reconcile", "OFFER-101", "--as", "operator", "--observed", "/dev/zero"), 2),
        (("unity", "inspect", "project", "--known", "/dev/zero"), 1),
    ],
)
def test_a_file_without_end_is_read_within_limits(capsys, home, monkeypatch, words, code):
    """What a person hands over is a file of anybody's: it may be endless."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("FABRIC_HOME", str(home))
    found, out, err = fabric(capsys, *words)
    assert (code, "", 1) == (found, out, err.count("\n"))
