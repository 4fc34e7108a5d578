"""The generated documentation is what the code says today."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
#: pictures of the UI, taken by docs/screenshots.py
SCREENSHOTS = {"docs/images/lineage.png", "docs/images/check-report.png"}


def test_nothing_is_stale():
    """`docs/generate.py --check` finds every generated page as it would be written now."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stdout), done.stdout + done.stderr


def test_every_link_leads_somewhere():
    """A link to a file of the repository names a file or folder that is there."""
    missing = []
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packs/**/*.md")]:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" in target or target.startswith("mailto:"):
                continue
            found = (page.parent / target).resolve()
            shown = found.relative_to(ROOT).as_posix() if found.is_relative_to(ROOT) else target
            if not found.exists() and shown not in SCREENSHOTS:
                missing.append(f"{page.relative_to(ROOT).as_posix()}: {target}")
    assert missing == []


def test_every_dependency_has_its_reason():
    """Each pinned dependency of pyproject.toml has a row in docs/dependencies.md, and no row is left over."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = {
        text.partition("==")[0]
        for text in [
            *project["dependencies"],
            *(t for more in project["optional-dependencies"].values() for t in more),
        ]
    }
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([a-z0-9\[\]-]+)` \|", page, re.MULTILINE))
    assert pinned == rows
