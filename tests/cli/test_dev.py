"""``fabric dev`` before it starts anything."""

import socket

import pytest

from fabric_dagster.cli.main import main
from resources.home import Home
from resources.setup import initialise


def test_a_taken_port_is_said_at_once(capsys, tmp_path):
    """Dagster would go on without a UI; here it is one line that names another port."""
    initialise(Home.find(tmp_path / "home"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SystemExit) as end:
            main(["dev", "--home", str(tmp_path / "home"), "--port", str(port)])
    out, err = capsys.readouterr()
    assert (2, "", 1) == (end.value.code, out, err.count("\n"))
    assert f"port {port} cannot be used" in err
    assert "fabric dev --port" in err


def test_no_such_port(capsys):
    """A number that is no port is refused as a word of the call."""
    with pytest.raises(SystemExit) as end:
        main(["dev", "--port", "99999"])
    assert (2, 1) == (end.value.code, capsys.readouterr().err.count("\n"))
