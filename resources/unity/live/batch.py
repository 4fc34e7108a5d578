"""The capabilities that need an editor, in batch mode on a private copy: compile, test, build.

Rules kept here: one copy for all of a plan's editor operations, made after every file edit was staged. What
the editor changed in it is compared with what was staged: a file of the plan that it wrote otherwise is a
failure before anything is committed. Results are files of this run, read by ``results.py``.
"""

from __future__ import annotations

import secrets
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.capabilities.unity_build_player import BuildPlayer
from fabric_dagster.capabilities.unity_compile import Compile
from fabric_dagster.capabilities.unity_run_tests import RunTests
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import Fault, OperationFailed
from fabric_dagster.supervisor.ports import Observation, Produced
from resources.unity.live.copy import ProjectCopy
from resources.unity.live.editor import Limits, compile_failed, run_editor
from resources.unity.live.package import laid_out, tree_digest, tree_files
from resources.unity.live.results import SHOWN, BatchReport, read_report, read_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabric_dagster.capabilities.base import Arguments
    from fabric_dagster.supervisor.ports import FileChange
    from resources.unity.live.editor import Ended
    from resources.unity.project import Project

COMPILE: Final = "unity.compile@1"
RUN_TESTS: Final = "unity.run_tests@1"
BUILD_PLAYER: Final = "unity.build_player@1"
SERVES: Final = frozenset({COMPILE, RUN_TESTS, BUILD_PLAYER})
#: the time of every entry of an archive, so that its bytes depend on the player alone
EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class BatchEditor:
    """How to start an editor: its executable and what goes before the arguments (none but in tests).

    ``library`` is where the editor's cache for this project is kept between runs.
    """

    command: tuple[str, ...]
    limits: Limits = field(default_factory=Limits)
    library: Path | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One editor operation of a plan."""

    node: str
    capability: str
    args: Arguments


class BatchRun:
    """The editor operations of one stage, on one copy of ``project``."""

    def __init__(self, editor: BatchEditor, project: Project, state: Path, stage: Path) -> None:
        self._editor = editor
        self._project = project
        self._state = state
        self._place = (stage / "editor").resolve()
        self._number = 0

    def run(
        self, asked: Sequence[Asked], changes: tuple[FileChange, ...], staged: Path
    ) -> tuple[list[Produced], list[Observation], list[str]]:
        """Do all that is ``asked``: outputs, observations, and warnings for people.

        Raises ``OperationFailed`` with a failure code of the capability.
        """
        package, digest = laid_out(self._state)
        copy = ProjectCopy(self._project, self._place / "project", self._editor.library)
        copy.make(changes, staged, package)
        produced: list[Produced] = []
        seen: list[Observation] = []
        try:
            for item in asked:
                report, more = self._one(item, copy.root, digest)
                produced += [Produced(item.node, "report", "unity_report", value=report), *more]
                seen.append(Observation(item.node, "the result file says so", report["result"], holds=True))
            if tree_digest(package) != digest:
                raise OperationFailed(
                    "unity.report_damaged", "somebody changed the package while the editor ran",
                    where=str(package), mend="find out who did",
                )  # fmt: skip
            warnings = _drift(copy, changes)
        finally:
            copy.keep_library()
        return produced, seen, warnings

    def _one(self, item: Asked, root: Path, package: str) -> tuple[dict[str, Any], list[Produced]]:
        if isinstance(item.args, RunTests):
            return self._tests(item.args, root), []
        if isinstance(item.args, BuildPlayer):
            return self._build(item, item.args, root, package)
        if isinstance(item.args, Compile):
            return self._compile(root, package), []
        raise OperationFailed("capability_unavailable", "no editor does this", value=item.capability)

    def _compile(self, root: Path, package: str) -> dict[str, Any]:
        report, digest, ended = self._report("compile", "Compile", root, package, ("-nographics",))
        if report.result != "Succeeded" or report.errors:
            raise compile_failed(ended.script_errors or report.messages or ("the editor says so",))
        return _told(report, digest)

    def _tests(self, args: RunTests, root: Path) -> dict[str, Any]:
        place = self._fresh()
        results = place / "results.xml"
        filters = {
            "-assemblyNames": args.assemblies,
            "-testCategory": args.categories,
            "-testFilter": args.tests,
        }
        words = [word for name, given in filters.items() if given for word in (name, ";".join(given))]
        # Never with -quit: the editor would leave before the tests, and say that all is well.
        ended = self._start(
            root, place, "-runTests", "-testPlatform", args.platform, "-testResults", str(results), *words
        )
        found = read_tests(results, ended, args.at_least)
        return {"result": "Succeeded", "platform": args.platform, **found}

    def _build(
        self, item: Asked, args: BuildPlayer, root: Path, package: str
    ) -> tuple[dict[str, Any], list[Produced]]:
        out = self._place / f"player-{self._number}"
        out.mkdir(parents=True)
        words = (
            "-nographics", "-buildTarget", args.target, "-fabricOut", str(out / args.name),
            "-fabricTarget", args.target, "-fabricDevelopment", "1" if args.development else "0",
        )  # fmt: skip
        report, digest, ended = self._report("build", "Build", root, package, words)
        if report.result != "Succeeded" or report.errors:
            said = f"the build report says {report.result} and counts {report.errors} errors"
            shown = report.messages[:SHOWN] or ended.script_errors[:SHOWN]
            raise OperationFailed(
                "unity.build_failed", f"{said}: {' | '.join(shown)}" if shown else said, mend="mend them"
            )
        made = tree_files(out)
        named = Path(report.output).resolve()
        if not made or not named.exists() or not named.is_relative_to(out):
            raise OperationFailed(
                "unity.build_failed", "the build report names a player that is not there",
                value=report.output,
                mend="see the editor's log",
            )  # fmt: skip
        archive = self._place / f"player-{self._number}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, path in made.items():
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (path.stat().st_mode & 0o777) << 16
                with path.open("rb") as source, packed.open(entry, "w", force_zip64=True) as target:
                    while chunk := source.read(1 << 20):
                        target.write(chunk)
        told = {
            **_told(report, digest),
            "target": args.target,
            "player": tree_digest(out),
            "files": len(made),
        }
        facts = {"digest": digest_file(archive), "size": archive.stat().st_size}
        return told, [Produced(item.node, "player", "file", archive, facts=facts)]

    def _report(
        self, kind: str, method: str, root: Path, package: str, words: Sequence[str]
    ) -> tuple[BatchReport, str, Ended]:
        place = self._fresh()
        nonce = secrets.token_hex(16)
        report = place / "report.json"
        ended = self._start(
            root, place, "-quit", "-executeMethod", f"Forge.FabricToolsmith.Batch.{method}",
            "-fabricReport", str(report), "-fabricNonce", nonce, *words,
        )  # fmt: skip
        read, digest = read_report(report, ended, kind=kind, nonce=nonce, package=package)
        return read, digest, ended

    def _start(self, root: Path, place: Path, *words: str) -> Ended:
        log = place / "editor.log"
        command = [
            *self._editor.command,
            "-batchmode",
            "-projectPath",
            str(root),
            "-logFile",
            str(log),
            *words,
        ]
        return run_editor(command, log, self._editor.limits)

    def _fresh(self) -> Path:
        """A folder that no earlier run can have written into."""
        self._number += 1
        place = self._place / f"run-{self._number}"
        place.mkdir(parents=True)
        return place


def _told(report: BatchReport, digest: str) -> dict[str, Any]:
    return {
        "result": report.result, "errors": report.errors, "warnings": report.warnings, "unity": report.unity,
        "digest": digest,
    }  # fmt: skip


def _drift(copy: ProjectCopy, changes: tuple[FileChange, ...]) -> list[str]:
    """Warnings for what the editor would write besides; a failure where it rewrote what the plan wrote."""
    touched = copy.differences()
    ours = {change.path for change in changes}
    faults = [
        Fault(
            "unity.import_drift",
            f"the editor wrote this file otherwise than the plan: {now}",
            path,
            "change the profile, or the project's postprocessor, so that they agree",
        )
        for path, (_, now) in touched.items()
        if path in ours
    ]
    if faults:
        raise OperationFailed.of(faults)
    return [f"{path}: the editor writes this file by itself when it opens the project" for path in touched]
