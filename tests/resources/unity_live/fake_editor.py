"""A batch editor without Unity: reads the command line, writes the files that a real one writes, or lies.

``--behave=WORD,WORD`` says how it misbehaves; see ``WORDS``. It is run as a program of its own.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

WORDS = (
    "no_tests", "tests_fail", "quits", "lying_counts", "compile_error", "licence", "licence_exit", "modal",
    "hang",
    "errors_but_succeeded", "no_player", "drift", "other_writes", "stale", "no_xml", "bomb", "setup_fails",
    "foreign_report",
)  # fmt: skip


def argument(words, name, default=""):
    """The word after ``name``."""
    return words[words.index(name) + 1] if name in words else default


def tree_digest(root):
    """As the package computes it."""
    lines = [
        f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(root).as_posix()}\n"
        for path in sorted(
            (p for p in root.rglob("*") if p.is_file()), key=lambda p: p.relative_to(root).as_posix()
        )
    ]
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def package(project):
    """Where the manifest says that the package lies."""
    manifest = json.loads((project / "Packages/manifest.json").read_text(encoding="utf-8"))
    return Path(manifest["dependencies"]["com.forge.fabric-toolsmith"].removeprefix("file:"))


def nunit(behave):
    """Test results."""
    cases = [] if "no_tests" in behave else [("Offers.Load", "Passed"), ("Offers.Icon", "Passed")]
    if "tests_fail" in behave:
        cases.append(("Offers.Price", "Failed"))
    failed = sum(result == "Failed" for _, result in cases)
    total = 7 if "lying_counts" in behave else len(cases)
    rows = "".join(
        f'<test-case id="{n}" fullname="{name}" result="{r}"/>' for n, (name, r) in enumerate(cases)
    )
    site = (
        ' result="Failed" site="SetUp" fullname="Offers"' if "setup_fails" in behave else ' result="Passed"'
    )
    head = '<!DOCTYPE a [<!ENTITY b "c">]>' if "bomb" in behave else ""
    result = "Failed" if failed else "Passed"
    return (
        f'<?xml version="1.0" encoding="utf-8"?>{head}<test-run id="2" result="{result}"'
        f' total="{total}" passed="{len(cases) - failed}" failed="{failed}" inconclusive="0" skipped="0">'
        f'<test-suite type="Assembly"{site}>{rows}</test-suite></test-run>'
    )


def report(words, project, behave):
    """A report of the package."""
    kind = argument(words, "-executeMethod").rsplit(".", 1)[-1].lower()
    out = argument(words, "-fabricOut")
    if kind == "build" and "no_player" not in behave:
        Path(out).write_bytes(b"player")
        (Path(out).parent / "player_Data").mkdir()
        (Path(out).parent / "player_Data/data").write_bytes(b"data")
    errors = 3 if "errors_but_succeeded" in behave else 0
    return {
        "schema": "fabric.toolsmith-report.v1", "kind": kind, "unity": "2022.3.62f3",
        "nonce": "0" * 32 if "foreign_report" in behave else argument(words, "-fabricNonce"),
        "package": tree_digest(package(project)), "result": "Succeeded", "errors": errors, "warnings": 0,
        "output": out, "target": argument(words, "-fabricTarget"), "size": "10",
        "messages": ["Build: a shader is broken"] if errors else [],
    }  # fmt: skip


def main(words):
    """One run of an editor."""
    behave = set(words[0].removeprefix("--behave=").split(","))
    project, log = Path(argument(words, "-projectPath")), Path(argument(words, "-logFile"))
    (project / "Library").mkdir(exist_ok=True)
    (project / "Library/cache").write_text("kept", encoding="utf-8")
    lines = ["Unity Editor version: 2022.3.62f3", f"COMMAND LINE: {' '.join(words)}"]
    ends = {
        "licence": ("[Licensing::Client] Waiting for license...", True, 0),
        "licence_exit": ("No valid Unity Editor license found. Please activate your license.", False, 1),
        "modal": ("DisplayDialog: Project was made with another version. Continue?", True, 0),
        "hang": ("Refreshing native plugins", True, 0),
        "compile_error": ("Assets/Shop.cs(12,5): error CS0103: The name 'x' does not exist", False, 1),
        "quits": ("Exiting batchmode successfully now!", False, 0),
    }  # fmt: skip
    for word, (line, waits, code) in ends.items():
        if word in behave:
            log.write_text("\n".join([*lines, line]) + "\n", encoding="utf-8")
            while waits:
                time.sleep(0.1)
            return code
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if "drift" in behave:
        for meta in (project / "Assets").rglob("*.png.meta"):
            meta.write_bytes(meta.read_bytes() + b"# rewritten\n")
    if "other_writes" in behave:
        (project / "ProjectSettings/New.asset").write_bytes(b"%YAML 1.1\n")
    if "-runTests" in words:
        text = "not xml" if "no_xml" in behave else nunit(behave)
        Path(argument(words, "-testResults")).write_text(text, encoding="utf-8")
        return 2 if "tests_fail" in behave else 0
    Path(argument(words, "-fabricReport")).write_text(
        json.dumps(report(words, project, behave)), encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
