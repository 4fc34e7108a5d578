"""Makes a home: everything that is missing, nothing that is there.

Rules kept here:

* Finishing an interrupted ``init`` is running it again: every step first looks whether its result stands.
* Nothing is overwritten: no key, no configuration, no file of anybody's. Samples are built beside their place
  and moved there in one step.
* A key that the trust root pins is never replaced by a new one: it was lost, and a person must know.
* One ``init`` at a time.
"""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from fabric_dagster.errors import OperationFailed, UsageFault
from fabric_dagster.governance.rotation import pinning
from fabric_dagster.governance.trust import IDENTITIES, TrustRoot
from fabric_dagster.spine.ports import NewEvent
from resources.files.durable import flush_folder, put_new
from resources.home import CHECKOUT, Home
from resources.home import CONFIG as HOME_FILE
from resources.keys import close_to_others, generate_key, key_path, load_signer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOCK = ".init.lock"
LOCK_SECONDS = 60
TEMPORARY = ".init-"
#: what somebody may have put into a home before there was one
LAID_FIRST = frozenset({"inbox", "inputs", "project", "templates"})
#: how many foreign files an error names
SHOWN = 3

CONFIG = """\
# Where this home's parts are. Relative paths are relative to this file's folder.
schema: fabric.home.v1
id: {id}
workspace: default
# The Unity project that commissioned workflows write into.
project: project
# Approved template PSDs.
templates: templates
# Tickets are dropped here: KEY.json, attachments in KEY/.
inbox: inbox
# Folders that a ticket's pictures may be read from, besides its attachments.
inputs:
  - inputs
# Folders that hold packs; none given means the checkout's own.
packs: []
# The event log's database; docs/spine.md says how. Without it, SQLite in the home.
# ledger: postgresql+psycopg://fabric@host/fabric
# Where signed heads of the log lie besides, so that a cut or replaced log is seen: best on another machine.
anchors: anchors
# The artifact store: a folder, or a URL such as s3://bucket/fabric.
artifacts: artifacts
"""


@dataclass
class Report:
    """What ``initialise`` found and made: (name, place, ``made`` or ``kept``)."""

    home: Path
    parts: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, name: str, place: Path, *, made: bool) -> None:
        """Record one part."""
        self.parts.append((name, str(place), "made" if made else "kept"))

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        parts = [{"name": name, "path": place, "state": state} for name, place, state in self.parts]
        return {"home": str(self.home), "parts": parts, "warnings": self.warnings}


def initialise(home: Home, step: Callable[[str], None] = lambda _step: None) -> Report:
    """Make what ``home`` lacks. ``step`` is called with the name of each step as it begins."""
    _ours_or_empty(home.path)
    made = _make_home(home.path)
    report = Report(home.path)
    report.add("home", home.path, made=made)
    try:
        with FileLock(home.path / LOCK, timeout=LOCK_SECONDS):
            _clean(home.path)
            for name, make in _STEPS.items():
                step(name)
                make(home, report)
    except Timeout:
        raise OperationFailed(
            "home.busy",
            "another init works here",
            where=str(home.path),
            mend="wait until it has ended",
        ) from None
    except PermissionError as fault:
        raise _unusable(home.path, f"it cannot be written: {fault.filename}") from fault
    except (FileExistsError, NotADirectoryError) as fault:
        raise _unusable(home.path, f"a file stands where a folder must: {fault.filename}") from fault
    return report


def _ours_or_empty(path: Path) -> None:
    """A folder that holds something else is not filled with keys and ledgers by a slip of the hand."""
    if not path.is_dir() or not os.access(path, os.R_OK | os.X_OK) or (path / HOME_FILE).exists():
        return
    # What an interrupted first init leaves begins with a dot; a project or an inbox may have been laid first.
    names = {item.name for item in path.iterdir()}
    foreign = sorted(name for name in names if not name.startswith("."))
    if foreign and not names & LAID_FIRST:
        shown = ", ".join(foreign[:SHOWN]) + (", …" if len(foreign) > SHOWN else "")
        raise _unusable(path, f"the folder is no home and holds something else: {shown}")


def _make_home(path: Path) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        if os.name == "nt":
            close_to_others(path)
    except FileExistsError:
        if not os.access(path, os.W_OK | os.X_OK):
            raise _unusable(path, "the folder cannot be written") from None
        return False
    except OSError as fault:
        raise _unusable(path, f"the folder cannot be made ({fault.strerror})") from fault
    return True


def _unusable(path: Path, what: str) -> UsageFault:
    return UsageFault(
        "home.unusable", what, where=str(path), mend="give a folder of your own with --home or FABRIC_HOME"
    )


def _clean(home: Path) -> None:
    """Remove what an interrupted init was building."""
    for entry in home.glob(f"{TEMPORARY}*"):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _config(home: Home, report: Report) -> None:
    made = not home.exists
    if made:
        temporary = home.path / f"{TEMPORARY}{secrets.token_hex(8)}"
        with temporary.open("wb") as writer:
            writer.write(CONFIG.format(id=secrets.token_hex(16)).encode())
            writer.flush()
            os.fsync(writer.fileno())
        put_new(temporary, home.config_file)
        flush_folder(home.path)
    _ = home.config  # a configuration that is not valid stops here, with its faults
    report.add("configuration", home.config_file, made=made)


def _folders(home: Home, report: Report) -> None:
    for name, folder in (
        ("inbox", home.inbox),
        *(("inputs", root) for root in home.inputs),
        ("deliveries", home.deliveries),
        ("stages", home.stages),
        ("transactions", home.transactions),
        ("dagster", home.dagster),
        ("ledger", home.ledger),
    ):
        made = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        report.add(name, folder, made=made)


def _keys(home: Home, report: Report) -> None:
    pinned = home.trust_root() if home.trust.is_file() else None
    public: dict[str, bytes] = {}
    made: list[str] = []
    for identity in IDENTITIES:
        folder = keys_folder(home, identity)
        if not key_path(folder, identity).exists():
            if pinned is not None and identity in pinned.identities:
                report.warnings.append(
                    f"the key of {identity} is pinned in trust.json but is not here: restore it"
                )
                continue
            public[identity] = generate_key(folder, identity).public
            made.append(identity)
        else:
            public[identity] = load_signer(folder, identity).public
    report.add("keys", home.keys, made=len(made) > 1)
    report.add("validator's own home", home.validator, made="validator" in made)
    if pinned is None:
        _put(home.path, home.trust, TrustRoot.of(public).to_bytes())
    else:
        _compare(pinned, public, report)
    if not (home.validator / "trust.json").exists():
        # In one home the validator's pinned root is a copy; apart, a person hands it over.
        _put(home.path, home.validator / "trust.json", home.trust_root().to_bytes())
    report.add("trust root", home.trust, made=pinned is None)


def keys_folder(home: Home, identity: str) -> Path:
    """Where the key of ``identity`` belongs: the validator's in the validator's own home."""
    return home.validator / "keys" if identity == "validator" else home.keys


def _compare(pinned: TrustRoot, public: dict[str, bytes], report: Report) -> None:
    from fabric_dagster.governance.trust import keyid_of

    for identity, raw in public.items():
        if pinned.identity_of(keyid_of(raw)) != identity:
            report.warnings.append(f"the key of {identity} here is not the one that trust.json pins")


def _put(home: Path, target: Path, data: bytes) -> None:
    temporary = home / f"{TEMPORARY}{secrets.token_hex(8)}"
    with temporary.open("wb") as writer:
        writer.write(data)
        writer.flush()
        os.fsync(writer.fileno())
    put_new(temporary, target)
    flush_folder(target.parent)


def _ledger(home: Home, report: Report) -> None:
    store = home.open_ledger(create=True)
    made = store.head()[0] == 0
    try:
        body = {"home": home.id, "trust": store.trust.digest}
        key = f"home.initialised:{home.id}"
        if store.by_key(key) is None:
            first = NewEvent("home", "home.initialised", body, key)
            store.append([pinning(store.trust), first], signer=home.signer("admin"))
    finally:
        store.close()
    report.add("ledger", store.file or home.ledger, made=made)


def _artifacts(home: Home, report: Report) -> None:
    made = not home.artifacts.is_dir()
    home.open_artifacts()
    report.add("artifacts", home.artifacts, made=made)


def _templates(home: Home, report: Report) -> None:
    from resources.photoshop.sample import TEMPLATES, build_template

    home.templates.mkdir(parents=True, exist_ok=True)
    for name in TEMPLATES:
        target = home.templates / name
        made = not target.exists()
        if made:
            _put(home.path, target, build_template(name))
        report.add("template", target, made=made)


def _project(home: Home, report: Report) -> None:
    """Build the sample project where there is none; an empty folder counts as none."""
    from resources.unity.sample import build

    target = home.project
    made = not (target.is_dir() and any(target.iterdir()))
    if made:
        temporary = home.path / f"{TEMPORARY}{secrets.token_hex(8)}"
        build(temporary)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            target.rmdir()
        shutil.move(temporary, target)
    report.add("Unity project", target, made=made)


def _dagster(home: Home, report: Report) -> None:
    source, target = CHECKOUT / "dagster.yaml", home.dagster / "dagster.yaml"
    if not source.is_file():
        report.warnings.append("the checkout has no dagster.yaml: Dagster runs with its own defaults")
        return
    made = not target.exists()
    if made:
        _put(home.path, target, source.read_bytes())
    report.add("instance settings", target, made=made)


_STEPS: dict[str, Callable[[Home, Report], None]] = {
    "configuration": _config,
    "folders": _folders,
    "keys": _keys,
    "ledger": _ledger,
    "artifacts": _artifacts,
    "templates": _templates,
    "project": _project,
    "dagster": _dagster,
}
