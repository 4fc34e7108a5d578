"""What ``fabric doctor`` looks at: one function a part, each saying what is so and what to do about it.

Rules kept here: looking changes nothing; a look that fails is itself a finding, never a crash; nothing here
calls an application or the network.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
from importlib import metadata
from typing import TYPE_CHECKING

from fabric_dagster.cli import remains
from fabric_dagster.cli.findings import Finding
from fabric_dagster.errors import CheckFailed, FabricError, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fabric_dagster.cli.findings import State
    from resources.home import Home

PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^;\s]+)$")
OLDEST, TOO_NEW = (3, 11), (3, 14)
LITTLE, TOO_LITTLE = 2 << 30, 200 << 20
QUICK = 2000
ANSWER_SECONDS = 60.0


def diagnose(home: Home) -> list[Finding]:
    """Every finding, in a fixed order. Without a home, what needs one is left out."""
    found = [*_look("python", _python, home), *_look("dependencies", _dependencies, home)]
    if not home.exists:
        return [*found, Finding("home", "fail", f"there is no home at {home.path}", "run `fabric init`")]
    for name, look in _LOOKS.items():
        for finding in _look(name, look, home):
            # One broken ledger or store fails many looks: what is wrong and the mend are said once.
            first = next(
                (item for item in found if (item.what, item.mend) == (finding.what, finding.mend)), None
            )
            if finding.state == "fail" and first is not None:
                found.append(Finding(name, "fail", f"not looked at: the same fault as {first.name}"))
            else:
                found.append(finding)
    return found


def _look(name: str, look: Callable[[Home], Iterator[Finding]], home: Home) -> list[Finding]:
    try:
        return list(look(home))
    except FabricError as error:
        return [Finding(name, "fail", fault.what, fault.mend) for fault in error.faults]
    except Exception as fault:  # noqa: BLE001 - a look that crashes is a finding
        return [Finding(name, "fail", f"it cannot be looked at: {fault or type(fault).__name__}")]


def _python(_home: Home) -> Iterator[Finding]:
    version = sys.version_info[:2]
    text = f"Python {platform.python_version()} on {platform.system()}"
    if OLDEST <= version < TOO_NEW:
        yield Finding("python", "ok", text)
    else:
        yield Finding("python", "fail", f"{text} is not supported", "use Python 3.11 to 3.13")


def _dependencies(_home: Home) -> Iterator[Finding]:
    pins = [m for text in metadata.requires("fabric-dagster") or [] if (m := PINNED.match(text))]
    wrong = []
    for pin in pins:
        try:
            found = metadata.version(pin[1])
        except metadata.PackageNotFoundError:
            found = "missing"
        if found != pin[2]:
            wrong.append(f"{pin[1]} {found} instead of {pin[2]}")
    if wrong:
        yield Finding("dependencies", "fail", ", ".join(wrong), "run `make setup`")
    else:
        yield Finding("dependencies", "ok", f"{len(pins)} pinned packages, each as pinned")


def _home(home: Home) -> Iterator[Finding]:
    _ = home.config
    yield Finding("home", "ok", f"{home.path}, workspace {home.workspace}")
    if os.name != "nt" and home.path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield Finding("home", "warn", "others can write into the home", f"run `chmod go-w {home.path}`")
    missing = [
        str(folder)
        for folder in (
            home.inbox,
            home.templates,
            home.deliveries,
            home.stages,
            home.transactions,
            home.dagster,
        )
        if not folder.is_dir()
    ]
    if missing:
        yield Finding("home", "fail", f"missing: {', '.join(missing)}", "run `fabric init`")
    if not (home.dagster / "dagster.yaml").is_file():
        yield Finding("home", "warn", "Dagster has no instance settings here", "run `fabric init`")


def _keys(home: Home) -> Iterator[Finding]:
    from resources.keys import key_path, load_signer
    from resources.setup import keys_folder

    trust = home.trust_root()
    readable = []
    for identity in sorted(trust.identities):
        folder = keys_folder(home, identity)
        if not key_path(folder, identity).exists():
            yield Finding(
                "keys", "warn", f"the key of {identity} is not in this home", "keep it where it is used"
            )
            continue
        try:
            signer = load_signer(folder, identity)
        except FabricError as error:
            yield Finding("keys", "fail", error.faults[0].what, error.faults[0].mend)
            continue
        readable.append(identity)
        if trust.identity_of(signer.keyid) != identity:
            what = f"the key of {identity} is not the one that trust.json pins"
            yield Finding("keys", "fail", what, "restore the key, or the trust root")
        elif (end := trust.ended(signer.keyid)) is not None:
            what = f"the key of {identity} here was {end.how}: {end.reason}"
            yield Finding("keys", "warn", what, f"run `fabric keys rotate {identity}`")
    if key_path(home.keys, "validator").exists():
        what = "the validator's key lies among the other keys"
        yield Finding("keys", "fail", what, f"move it to {home.validator / 'keys'}")
    if len(readable) > 1:
        what = f"this user can read the keys of {len(readable)} identities: {', '.join(readable)}"
        yield Finding("keys", "warn", what, "fine for a demo; else give each identity's key to its own user")
    else:
        yield Finding("keys", "ok", f"this user reads {', '.join(readable) or 'no key'}")


def _ledger(home: Home) -> Iterator[Finding]:
    store = home.open_ledger()
    try:
        position, _ = store.head()
        report = store.verify(max(0, position - QUICK))
    finally:
        store.close()
    if report.sound:
        yield Finding(
            "ledger", "ok", f"{position} events; the newest {report.events} and the checkpoint are sound"
        )
    else:
        more = f" and {len(report.faults) - 1} more" if len(report.faults) > 1 else ""
        mend = "run `fabric spine verify`, then restore from a backup"
        yield Finding("ledger", "fail", f"{report.faults[0]}{more}", mend)


def _runs(home: Home) -> Iterator[Finding]:
    from fabric_dagster.cli.finding import runs_of_log

    store, unsound = home.open_ledger(), list[CheckFailed]()
    try:
        runs = runs_of_log(store, unsound)
    finally:
        store.close()
    for fault in unsound:
        first = fault.faults[0]
        yield Finding("runs", "fail", f"{first.where}: {first.what}", first.mend or "find out who signed it")
    stuck = [run for run in runs if run.state == "reconciliation_required"]
    for run in stuck:
        mend = f"run `fabric reconcile {run.run[7:19]}`"
        yield Finding("runs", "warn", f"{run.key} is stopped: its completion is unknown", mend)
    if not stuck:
        yield Finding("runs", "ok", f"{len(runs)} runs, none waits for reconciliation")


def _stops(home: Home) -> Iterator[Finding]:
    from fabric_dagster.supervisor.stops import engaged

    store = home.open_ledger()
    try:
        standing = engaged(store, store.trust)
    finally:
        store.close()
    for kind, stop in sorted(standing.items()):
        what = f"{kind} is stopped by {stop.by}: {stop.reason}"
        yield Finding("stops", "warn", what, "release it with `fabric stop off`" if stop.since else "")
    if not standing:
        yield Finding("stops", "ok", "nothing is stopped")


def _disk(home: Home) -> Iterator[Finding]:
    free = shutil.disk_usage(home.path).free
    state: State = "fail" if free < TOO_LITTLE else "warn" if free < LITTLE else "ok"
    yield Finding("disk", state, f"{free / (1 << 30):.1f} GiB free", "" if state == "ok" else "free some")


def _packs(home: Home) -> Iterator[Finding]:
    from fabric_dagster.intelligence.manifest import lock_faults
    from fabric_dagster.intelligence.packs import load_pack

    folders = [folder.parent for root in home.packs for folder in sorted(root.glob("*/pack.yaml"))]
    if not folders:
        yield Finding("packs", "warn", "there are no packs", "name their folder in home.yaml")
    for folder in folders:
        try:
            pack = load_pack(folder)
        except FabricError as error:
            what = f"{folder.name}: {len(error.faults)} faults, first: {error.faults[0].what}"
            yield Finding("packs", "fail", what, f"run `fabric pack check {folder.name}`")
            continue
        if faults := lock_faults(folder, pack.files):
            what = f"{folder.name}: {faults[0].what} ({len(faults)} differences from the lock)"
            yield Finding("packs", "warn", what, faults[0].mend)
        else:
            yield Finding("packs", "ok", f"{folder.name} {pack.pack.version}, {pack.digest[:19]}, as locked")


def _authority(home: Home) -> Iterator[Finding]:
    from resources.supervision.assembly import hall

    opened = hall(home.path)
    for reference, workflow in opened.workflows.items():
        try:
            commission = opened.authorize(workflow)
        except Refused as fault:
            yield Finding(
                "authority", "warn", f"{reference} may not run: {fault.faults[0].what}", fault.faults[0].mend
            )
        else:
            where = " (demo)" if commission.demo_home else ""
            yield Finding("authority", "ok", f"{reference} is commissioned until {commission.expires}{where}")


def _project(home: Home) -> Iterator[Finding]:
    version = home.project / "ProjectSettings" / "ProjectVersion.txt"
    if not version.is_file():
        what = f"{home.project} is no Unity project"
        yield Finding("project", "fail", what, "set `project` in home.yaml, or run `fabric init`")
        return
    found = re.search(r"^m_EditorVersion:\s*(\S+)", version.read_text("utf-8", "replace"), re.MULTILINE)
    yield Finding("project", "ok", f"{home.project}, Unity {found[1] if found else 'of unknown version'}")
    if (home.project / "Temp" / "UnityLockfile").exists():
        yield Finding(
            "project", "warn", "an editor has the project open", "close it before a run writes into it"
        )


def _transactions(home: Home) -> Iterator[Finding]:
    from resources.files.transaction import FileTransactions

    waiting = []
    for folder in sorted(path for path in home.transactions.iterdir() if path.is_dir()):
        waiting += [f"{folder.name}: {name}" for name in FileTransactions(home.path, folder).interrupted()]
    if waiting:
        mend = f"run `fabric unity recover {home.project}`, or `fabric reconcile` for its run"
        yield Finding("transactions", "fail", f"interrupted: {', '.join(waiting)}", mend)
    else:
        yield Finding("transactions", "ok", "none was interrupted")


def _validator(home: Home) -> Iterator[Finding]:
    from resources.validator.client import ValidatorClient

    client = ValidatorClient(home.validator)
    try:
        keyid = client.keyid(ANSWER_SECONDS)
    finally:
        client.close()
    trust = home.trust_root()
    owner = trust.identity_of(keyid)
    if (end := trust.ended(keyid)) is not None:
        what = f"its program signs with a key that was {end.how}: it can judge no run ({end.reason})"
        yield Finding("validator", "fail", what, "run `fabric keys rotate validator --keep`")
    elif owner is not None and "validator" in trust.roles(owner):
        yield Finding("validator", "ok", f"its program answers and signs as {owner}")
    else:
        what = "its program signs with a key that trust.json does not pin for a validator"
        yield Finding("validator", "fail", what, "restore the validator's key")


_LOOKS: dict[str, Callable[[Home], Iterator[Finding]]] = {
    "home": _home,
    "places": remains.places,
    "keys": _keys,
    "readers": remains.readers,
    "trust": remains.trust,
    "ledger": _ledger,
    "runs": _runs,
    "stops": _stops,
    "left behind": remains.runs,
    "disk": _disk,
    "packs": _packs,
    "authority": _authority,
    "project": _project,
    "transactions": _transactions,
    "validator": _validator,
    "dagster": remains.dagster,
}


def worst(findings: list[Finding]) -> State:
    """The gravest state among ``findings``."""
    states = {finding.state for finding in findings}
    return "fail" if "fail" in states else "warn" if "warn" in states else "ok"
