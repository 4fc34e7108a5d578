"""The fake Photoshop as a process that tests steer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PLUGIN = ROOT / "resources" / "photoshop" / "uxp" / "plugin"
OLDEST_NODE = 20


def node_missing() -> str:
    """Why the plugin can't be run here, or nothing."""
    node = shutil.which("node")
    if node is None:
        return "node is not installed: the plugin can't be run"
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)", told)
    if not found or int(found[1]) < OLDEST_NODE:
        return f"node {told.strip() or 'of no version'} is older than {OLDEST_NODE}"
    return ""


class FakePhotoshop:
    """Runs the built plugin in node; its socket dials ``port``."""

    def __init__(self, port: int, bundle: Path = PLUGIN / "dist" / "main.js") -> None:
        words = [
            shutil.which("node"), "--experimental-websocket", "--no-warnings", HERE / "fake_host.mjs", bundle,
            PLUGIN / "manifest.json", port, sys.executable, HERE / "host_engine.py",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._line() == {"ready": True}

    def _line(self) -> dict:
        line = self.process.stdout.readline()
        assert line, "the fake Photoshop ended"
        return json.loads(line)

    def do(self, what: str, **more) -> dict:
        """One control; its answer."""
        self.process.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self.process.stdin.flush()
        return self._line()

    def misbehave(self, name: str, **more) -> None:
        """Misbehave so, the next time there is occasion."""
        self.do("misbehave", name=name, **more)

    def state(self) -> dict:
        """Open documents, what happened since the last look, what the panel says."""
        return self.do("state")

    def close(self) -> None:
        """End it."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
