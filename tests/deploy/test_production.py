"""The production instance: PostgreSQL under Dagster and under the ledger, a queue, a daemon, clean ends."""

import os
import signal
import socket

import dagster as dg
import pytest
import services
import yaml
from governed import GRAPH, kinds, leftovers, write_ticket
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from fabric_dagster.cli.driving import drive
from fabric_dagster.supervisor.approvals import decide
from fabric_dagster.supervisor.opening import runs_of
from resources.home import CHECKOUT
from resources.supervision.assembly import Hall
from resources.supervision.pictures import HOST, PORT
from sensors.inbox import take

posix = pytest.mark.skipif(os.name == "nt", reason="the services are ended as systemd ends them")
CONCURRENT = 4


def for_dagster(url):
    """The same database by the driver that Dagster's storage uses."""
    return str(make_url(url).set(drivername="postgresql+psycopg2"))


@pytest.fixture
def second_url(postgres_server, postgres_url):
    """The instance's own database beside the ledger's."""
    import psycopg

    url = make_url(postgres_url)
    name = f"{url.database}_instance"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield for_dagster(url.set(database=name))
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_settings_hold_no_secret():
    """The settings read the URL from the environment; the example names no password; homes differ little."""
    found, default = (
        yaml.safe_load((folder / "dagster.yaml").read_text(encoding="utf-8"))
        for folder in (services.DEPLOY, CHECKOUT)
    )
    assert {"env": "DAGSTER_POSTGRES_URL"} == found["storage"]["postgres"]["postgres_url"]
    assert default["run_retries"] == found["run_retries"]
    assert default["concurrency"]["pools"] == found["concurrency"]["pools"]
    example = (services.DEPLOY / "fabric.env.example").read_text(encoding="utf-8")
    url = next(line for line in example.splitlines() if line.startswith("DAGSTER_POSTGRES_URL="))
    assert make_url(url.partition("=")[2]).password is None


def test_units_agree():
    """Every unit runs as the line's own user from one environment file, and names a program of ours."""
    units = sorted((services.DEPLOY / "systemd").glob("*.service"))
    assert CONCURRENT == len(units)
    for unit in units:
        said = unit.read_text(encoding="utf-8")
        for line in ("User=fabric", "EnvironmentFile=/etc/fabric/fabric.env", "NoNewPrivileges=true"):
            assert line in said, unit.name
        assert "0.0.0.0" not in said, unit.name  # noqa: S104 - what must not be there


@pytest.mark.slow
def test_a_ticket_on_postgresql(tmp_path, postgres_url, second_url, monkeypatch):
    """One ticket, with its approval, on both databases, in process; both lead to each other."""
    hall = services.make_home(tmp_path / "home", ledger=postgres_url)
    services.settings(hall.home.dagster)
    monkeypatch.setenv("DAGSTER_POSTGRES_URL", second_url)
    path = write_ticket(hall.home.inbox)
    record = drive(hall, take(hall, path, GRAPH))
    assert "awaiting_approval" == record.state
    decide(hall.services, record.run, hall.home.signer("approver"), given=True, note="")
    done = drive(Hall(hall.home), take(hall, path, GRAPH))
    assert ("completed", 2) == (done.state, len(done.dagster_runs))
    with dg.DagsterInstance.get() as instance:
        assert [done.run] * 2 == [run.tags["fabric/run"] for run in instance.get_runs()]
    with create_engine(second_url).connect() as connection:
        assert 2 == connection.execute(text("SELECT count(*) FROM runs")).scalar()
    assert [] == leftovers(hall.home.path)


@posix
@pytest.mark.proof
def test_services(tmp_path, postgres_url, second_url, pytestconfig):
    """Code location, daemon and web server: intake, queue, approval, completion, cancellation, clean ends."""
    if pytestconfig.getoption("proof_sample"):
        pytest.skip("minutes: part of the whole proof")
    hall = services.make_home(tmp_path / "home", ledger=postgres_url)
    home = hall.home
    services.settings(home.dagster)
    code, web = services.free_port(), services.free_port()
    workspace = yaml.safe_load((services.DEPLOY / "workspace.yaml").read_text(encoding="utf-8"))
    workspace["load_from"][0]["grpc_server"]["port"] = code
    (tmp_path / "workspace.yaml").write_text(yaml.safe_dump(workspace), encoding="utf-8")
    running = services.Services(
        tmp_path / "logs",
        {
            "FABRIC_HOME": str(home.path),
            "DAGSTER_HOME": str(home.dagster),
            "DAGSTER_POSTGRES_URL": second_url,
            "FABRIC_PICTURES": "",
        },
    )
    python = "--use-python-environment-entry-point"
    where = ("-w", str(tmp_path / "workspace.yaml"))
    code_at = ("-m", "fabric_dagster.definitions", "-h", "127.0.0.1", "-p", str(code))
    try:
        running.start("code", "-m", "dagster", "code-server", "start", *code_at, python)
        graph = services.Graph(web)
        services.until(lambda: "Started" in running.said("code"), 90, lambda: running.said("code"))
        running.start("web", "-m", "dagster_webserver", *where, "-h", "127.0.0.1", "-p", str(web))
        running.start("daemon", "-m", "dagster._daemon", "run", *where)
        _line(hall, graph, running)
    finally:
        codes = running.stop()
    assert {"code": 0, "web": 0, "daemon": 0} == codes
    assert [] == leftovers(home.path)
    assert hall.services.store.verify().sound


@posix
@pytest.mark.proof
def test_embedded(tmp_path, pytestconfig):
    """`fabric dev` on a home of its own does the same on SQLite."""
    if pytestconfig.getoption("proof_sample"):
        pytest.skip("minutes: part of the whole proof")
    with socket.socket() as probe:
        if probe.connect_ex((HOST, PORT)) == 0:
            pytest.skip("a `fabric dev` runs on this machine; one runs at a time")
    hall = services.make_home(tmp_path / "home")
    web = services.free_port()
    running = services.Services(tmp_path / "logs", {"FABRIC_HOME": str(hall.home.path)})
    try:
        # As a script starts a background job: with interrupts ignored.
        plain = signal.signal(signal.SIGINT, signal.SIG_IGN)
        running.start("dev", *services.FABRIC, "dev", "-p", str(web))
        signal.signal(signal.SIGINT, plain)
        _line(hall, services.Graph(web), running)
    finally:
        codes = running.stop()
    assert codes["dev"] in {0, 143}
    assert hall.services.store.verify().sound


def _line(hall, graph, running):
    """From the inbox over the approval to the end; then one that is cancelled in the UI."""

    def logs():
        return "\n".join(f"== {name}\n{running.said(name)[-1500:]}" for name in running.running)

    expected = {"ticket_intake", "approvals", "cancelled", "recovery"}
    services.until(lambda: expected <= graph.sensors(), 120, logs)
    write_ticket(hall.home.inbox)

    def state(key="OFFER-101"):
        runs = runs_of(hall.services, key)
        return runs[-1].state if runs else ""

    services.until(lambda: state() == "awaiting_approval", 120, logs)
    services.until(lambda: [run[1] for run in graph.runs()] == ["SUCCESS"], 60, logs)
    done, out, err = services.fabric(hall.home.path, "approve", "OFFER-101", "--note", "ok")
    assert 0 == done, out + err
    services.until(lambda: state() == "completed", 120, logs)
    services.until(lambda: [run[1] for run in graph.runs()] == ["SUCCESS"] * 2, 60, logs)
    ((partition, shown),) = graph.materialized("create_offer_icon_and_integrate", "icon_handoff", "approval")
    assert ("OFFER-101", "approver", "ok") == (partition, shown["approver"], shown["note"])
    assert graph.materialized("create_offer_icon_and_integrate", "verdict")

    # Cancelled in the UI: nothing of it is approved or written.
    def second():
        return next((run[0] for run in graph.runs() if run[2].get("fabric/ticket") == "OFFER-102"), None)

    write_ticket(hall.home.inbox, "OFFER-102", offer_id="mega_bundle")
    run = services.until(second, 90, logs, every=0.1)
    # While its process is only being started, Dagster refuses to end it.
    services.until(lambda: graph.terminate(run) == "TerminateRunSuccess", 60, logs, every=0.2)
    services.until(lambda: state("OFFER-102") == "cancelled", 120, logs)
    record = runs_of(hall.services, "OFFER-102")[-1]
    assert "cancel.requested" in kinds(record)
    assert "unity_1" not in {task.task.partition for task in record.tasks}
