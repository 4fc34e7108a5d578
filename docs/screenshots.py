"""Takes the README's pictures of the Dagster UI: ``python docs/screenshots.py [--ui URL] [--out FOLDER]``.

Needs a running ``fabric dev`` on a home in which ``fabric demo`` ran, and Chromium or Chrome on the PATH (or
``--browser``). Talks to the browser over its debugging protocol; no other package is needed.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

WORKFLOW = "create_offer_icon_and_integrate"
BROWSERS = ("chromium", "google-chrome", "chrome", "chromium-browser")
QUIET = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --remote-debugging-port=0"
)
SECONDS = 60

#: What the UI remembers of its user: a lineage from top to bottom.
PREFER = """localStorage.setItem("asset-graph-direction", JSON.stringify("vertical"))"""

#: The UI greets a new browser with a dialog; this closes it.
DISMISS = """[...document.querySelectorAll("button")].filter(b => b.innerText.trim() == "Skip")
  .map(b => b.click()).length"""

#: The UI folds a Markdown value away in a check's report; this opens it.
OPEN_PICTURE = """[...document.querySelectorAll("button, a")]
  .find(b => b.innerText.includes("Show Markdown"))?.click()"""

#: file name → (path in the UI, a text that must be there, script to run first, width, height)
PAGES: dict[str, tuple[str, str, str, int, int]] = {
    "lineage.png": (
        f"/locations/__repository__@fabric/asset-groups/{WORKFLOW}/lineage",
        "ticket_brief",
        "",
        1250,
        2750,
    ),
    "check-report.png": (
        f"/assets/{WORKFLOW}/export_icon?view=checks&checkDetail=art_in_place_v1",
        "Latest execution",
        OPEN_PICTURE,
        1500,
        1250,
    ),
    "materialization.png": (
        f"/assets/{WORKFLOW}/export_icon?view=partitions&partition={{ticket}}",
        "png facts",
        "",
        1500,
        1300,
    ),
    "runs.png": ("/runs", "OFFER-", "", 1500, 700),
}


class Browser:
    """A headless browser with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        """Start it."""
        command = [program, *QUIET.split(), f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - a browser
        self.number = 0
        address = ""
        for line in self.process.stderr or ():
            if found := re.search(r"ws://\S+", line):
                address = found[0]
                break
        self.socket: ClientConnection = connect(address, max_size=None)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=PREFER)

    def call(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 - the protocol's own
        """Send one command and wait for its answer."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=SECONDS))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def run(self, script: str) -> Any:  # noqa: ANN401 - a JSON value
        """The value of ``script`` in the page."""
        return self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)[
            "result"
        ].get("value")

    def wait_for(self, text: str) -> None:
        """Until the page shows ``text``."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if self.run(f"document.body && document.body.innerText.includes({json.dumps(text)})"):
                time.sleep(4)
                return
            time.sleep(0.5)
        raise RuntimeError(f"the page never showed {text!r}: {self.run('document.body.innerText')!r:.500}")

    def shoot(self, address: str, text: str, script: str, width: int, height: int) -> bytes:
        """A PNG of the page at ``address``."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=address)
        self.wait_for(text)
        if self.run(DISMISS):
            time.sleep(2)
        if script:
            self.run(script)
            time.sleep(3)
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


def main() -> None:
    """Take every picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ui", default="http://127.0.0.1:3000")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "images")
    parser.add_argument("--ticket", default="OFFER-101")
    parser.add_argument("--browser", default=next(filter(shutil.which, BROWSERS), "chromium"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(asked.browser, Path(profile))
        try:
            for name, (path, text, script, width, height) in PAGES.items():
                address = asked.ui + path.replace("{ticket}", asked.ticket)
                (asked.out / name).write_bytes(browser.shoot(address, text, script, width, height))
                print(asked.out / name)
        finally:
            browser.process.terminate()


if __name__ == "__main__":
    main()
