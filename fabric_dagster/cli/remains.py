"""What ``fabric doctor`` looks at in a home that was worked in: links, leftovers of killed processes, losses.

The same rules as ``diagnosis.py``: looking changes nothing, and a look that fails is a finding.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fabric_dagster.cli.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabric_dagster.supervisor.records import RunRecord
    from resources.home import Home

#: a run whose last event is older and that nobody works on was left behind.
QUIET = timedelta(minutes=2)
SHOWN = 3


def places(home: Home) -> Iterator[Finding]:
    """A home that cannot be written, and links where a folder must be real."""
    closed = [
        str(path) for path in (home.path, home.ledger) if path.is_dir() and not os.access(path, os.W_OK)
    ]
    if closed:
        yield Finding(
            "places", "fail", f"not writable: {', '.join(closed)}", "make them writable for this user"
        )
    real = (
        home.ledger,
        home.artifacts,
        home.deliveries,
        home.stages,
        home.transactions,
        home.dagster,
        home.keys,
        home.validator,
        home.templates,
        home.project,
        home.project / "Assets",
        home.project / "Library",
    )
    links = [str(path) for path in real if _is_link(path)]
    if links:
        mend = "put real folders there: what is written through a link is written somewhere else"
        yield Finding("places", "fail", f"links: {', '.join(links)}", mend)
    if not closed and not links:
        yield Finding("places", "ok", "writable, and no link where a folder must be real")


def _is_link(path: Path) -> bool:
    from resources.files.paths import is_link

    try:
        return is_link(path.lstat())
    except OSError:
        return False


def readers(home: Home) -> Iterator[Finding]:
    """Which operating-system users can read the keys of several identities; nothing to tell on Windows."""
    from resources.keys import key_path
    from resources.setup import keys_folder

    if os.name == "nt":
        return
    owners: dict[int, list[str]] = {}
    for identity in sorted(home.trust_root().identities):
        try:
            found = key_path(keys_folder(home, identity), identity).stat()
        except OSError:
            continue
        owners.setdefault(found.st_uid, []).append(identity)
    for uid, identities in sorted(owners.items()):
        if len(identities) > 1:
            what = f"{_user(uid)} owns the keys of {len(identities)} identities: {', '.join(identities)}"
            yield Finding("readers", "warn", what, "docs/key-ceremony.md says who should hold which")
    if not any(len(identities) > 1 for identities in owners.values()):
        yield Finding("readers", "ok", "no user owns the keys of several identities")


def _user(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def trust(home: Home) -> Iterator[Finding]:
    """The pinned trust root against the log, and the validator's against the home's."""
    from fabric_dagster.governance.trust import TrustRoot

    store = home.open_ledger()
    root = store.trust
    store.close()
    mend = "run `fabric keys list`, then any `fabric keys` command: it brings the files to the log"
    if home.trust_root().digest != root.digest:
        yield Finding("trust", "warn", f"trust.json is behind version {root.version} of the log", mend)
    pinned = home.validator / "trust.json"
    if not pinned.is_file():
        yield Finding("trust", "warn", "the validator has no trust root pinned here", "run `fabric init`")
    elif TrustRoot.parse(pinned.read_bytes(), str(pinned)).digest != root.digest:
        yield Finding("trust", "warn", "the validator pins another version of the trust root", mend)
    yield Finding("trust", "ok", f"version {root.version}, {root.digest[:19]}")


def dagster(home: Home) -> Iterator[Finding]:
    """Dagster's settings, and its runs that a killed process left unfinished."""
    import yaml

    path = home.dagster / "dagster.yaml"
    mend = f"move {path} away and run `fabric init`: what governs is the signed log"
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return  # said with the home
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        first = str(fault).strip().splitlines()[0]
        yield Finding("dagster", "fail", f"dagster.yaml is damaged: {first}", mend)
        return
    if not isinstance(value, dict):
        yield Finding("dagster", "fail", "dagster.yaml holds no settings", mend)
        return
    if not (home.dagster / "history").is_dir():
        yield Finding("dagster", "ok", "its settings can be read; it has not run here yet")
        return
    unfinished = _unfinished(home)
    if unfinished:
        shown = ", ".join(unfinished[:SHOWN]) + (", …" if len(unfinished) > SHOWN else "")
        what = f"{len(unfinished)} Dagster runs are not finished: {shown}"
        yield Finding(
            "dagster", "warn", what, "where nothing runs, terminate them in the UI; see also `runs`"
        )
    else:
        yield Finding("dagster", "ok", "its settings can be read; no run is unfinished")


def _unfinished(home: Home) -> list[str]:
    import dagster as dg

    from fabric_dagster.cli.driving import dg_finished

    os.environ["DAGSTER_HOME"] = str(home.dagster)
    with dg.DagsterInstance.get() as instance:
        wanted = [status for status in dg.DagsterRunStatus if status not in dg_finished()]
        return [run.run_id[:8] for run in instance.get_runs(dg.RunsFilter(statuses=wanted))]


def runs(home: Home) -> Iterator[Finding]:
    """Supervisor runs that a killed process left in the middle, and artifacts that are gone."""
    from fabric_dagster.cli.finding import runs_of_log

    store = home.open_ledger()
    try:
        found = runs_of_log(store)
    finally:
        store.close()
    left = [run for run in found if run.state in {"opened", "running"} and _left(home, run)]
    for run in left:
        what = f"{run.key} ({run.run[7:19]}) was left {run.state} by a process that is gone"
        yield Finding("left behind", "warn", what, "run its ticket again: it goes on where it stands")
    if not left:
        yield Finding("left behind", "ok", "no run was left in the middle")
    yield from _artifacts(home, found)


def _left(home: Home, run: RunRecord) -> bool:
    """Nobody holds the run, and nothing has happened for a while."""
    from filelock import FileLock, Timeout

    last = datetime.fromisoformat(run.events[-1].recorded_at)
    if datetime.now(UTC) - last < QUIET:
        return False
    for name in (f"run-{run.run[7:9]}", f"drive-{run.run[7:9]}"):
        path = home.path / "locks" / f"{name}.lock"
        if not path.exists():
            continue
        try:
            with FileLock(path, timeout=0):
                pass
        except (Timeout, OSError):
            return False
    return True


def _artifacts(home: Home, found: list[RunRecord]) -> Iterator[Finding]:
    if not home.artifacts.is_dir():
        yield Finding("artifacts", "fail", "the artifact store is missing", "restore it from a backup")
        return
    store = home.open_artifacts()
    wanted = cited(found)
    missing = [f"{digest[:19]} of {key}" for digest, key in wanted.items() if not store.has(digest)]
    if missing:
        shown = ", ".join(missing[:SHOWN]) + (", …" if len(missing) > SHOWN else "")
        mend = "restore the artifact store from a backup: these runs cannot be shown or gone on with"
        yield Finding("artifacts", "fail", f"{len(missing)} of {len(wanted)} are missing: {shown}", mend)
    else:
        yield Finding("artifacts", "ok", f"all {len(wanted)} that runs cite are there")


def cited(found: list[RunRecord]) -> dict[str, str]:
    """Every artifact without which a run cannot be shown or gone on with, and the ticket's key of one."""
    return {digest: run.key for run in found for digest in _cited(run)}


def _cited(run: RunRecord) -> Iterator[str]:
    """The artifacts without which a run cannot be shown or gone on with."""
    yield str(run.body["ticket_document"])
    for task in run.tasks:
        yield task.task.plan
        if task.result is not None:
            yield from (item.digest for item in task.result.artifacts)
    for verdict in run.verdicts:
        yield from (verdict.envelope, verdict.evidence)
    yield from (handoff.artifact.digest for handoff in run.handoffs.values())
