"""The production services, really started: code location, daemon and web server, and how to ask them."""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import governed

from resources.home import CHECKOUT, Home
from resources.setup import CONFIG, initialise
from resources.supervision.assembly import Hall
from resources.supervision.demonstration import make_executable

DEPLOY = CHECKOUT / "deploy"
FABRIC = ("-c", "from fabric_dagster.cli.main import main; main()")


def make_home(path, ledger=None):
    """A home whose graph is commissioned with visual approval; its ledger where ``ledger`` says."""
    path.mkdir(parents=True, mode=0o700)
    config = CONFIG.format(id=secrets.token_hex(16))
    if ledger:
        config += f"ledger: {json.dumps(ledger)}\n"
    (path / "home.yaml").write_text(config, encoding="utf-8")
    initialise(Home(path))
    opened = Hall(Home(path))
    make_executable(opened, opened.workflow(governed.GRAPH), lambda _line: None)
    governed.ask_for_approval(opened)
    return opened


def free_port():
    """A port on loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Services:
    """Programs that are started together and ended together; what they say goes to a folder."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.running = folder, {**os.environ, **environment}, {}
        folder.mkdir(exist_ok=True)

    def start(self, name, *command):
        """Start ``python command`` as the service ``name``."""
        log = (self.folder / f"{name}.log").open("wb")
        # A group of its own: what a test leaves behind is ended with it.
        self.running[name] = subprocess.Popen(
            [sys.executable, *command],
            env=self.environment,
            cwd=self.folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()

    def said(self, name):
        """What a service said so far."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def stop(self, seconds=60):
        """End them as systemd would, newest first; the exit codes by name."""
        codes = {}
        for name, process in reversed(self.running.items()):
            process.send_signal(signal.SIGTERM)
            try:
                codes[name] = process.wait(seconds)
            except subprocess.TimeoutExpired:
                codes[name] = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self.running = {}
        return codes


def until(what, seconds, said=lambda: "", every=0.5):
    """The first true answer of ``what``, asked again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if found := what():
                return found
        time.sleep(every)
    message = f"nothing after {seconds} seconds\n{said()[-4000:]}"
    raise AssertionError(message)


class Graph:
    """Dagster's GraphQL, as its UI asks it."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/graphql"

    def ask(self, query, **variables):
        """The data of one question."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 - loopback
            return json.load(reply)["data"]

    def runs(self):
        """Every run, oldest first: id, status, tags."""
        found = self.ask("{runsOrError{... on Runs{results{runId status tags{key value}}}}}")
        return [
            (run["runId"], run["status"], {tag["key"]: tag["value"] for tag in run["tags"]})
            for run in reversed(found["runsOrError"]["results"])
        ]

    def sensors(self):
        """The names of the sensors that are on."""
        found = self.ask(
            "{repositoriesOrError{... on RepositoryConnection{nodes{sensors{name sensorState{status}}}}}}"
        )
        return {
            sensor["name"]
            for node in found["repositoriesOrError"].get("nodes", [])
            for sensor in node["sensors"]
            if sensor["sensorState"]["status"] == "RUNNING"
        }

    def materialized(self, *path):
        """Partition and metadata of the newest materializations of an asset."""
        query = """query($key: AssetKeyInput!) {assetOrError(assetKey: $key) {... on Asset {
          assetMaterializations(limit: 5) {
            partition metadataEntries {label ... on TextMetadataEntry {text}}}}}}"""
        found = self.ask(query, key={"path": list(path)})["assetOrError"].get("assetMaterializations", [])
        return [
            (item["partition"], {entry["label"]: entry.get("text") for entry in item["metadataEntries"]})
            for item in found
        ]

    def terminate(self, run):
        """Cancel a run, as the UI's button does."""
        query = """mutation($run: String!) {terminateRun(runId: $run) {__typename}}"""
        return self.ask(query, run=run)["terminateRun"]["__typename"]


def fabric(home, *arguments):
    """Run the command line; exit code, standard output, standard error."""
    done = subprocess.run(
        [sys.executable, *FABRIC, *arguments],
        env={**os.environ, "FABRIC_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def settings(dagster_home, source=DEPLOY / "dagster.yaml"):
    """Put an instance's settings where Dagster looks for them, as the guide says."""
    Path(dagster_home).mkdir(parents=True, exist_ok=True)
    (Path(dagster_home) / "dagster.yaml").write_bytes(source.read_bytes())
