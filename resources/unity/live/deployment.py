"""The package in a project for one governed operation, and the project's manifest as it was afterwards.

Rules kept here:

* ``Packages/manifest.json`` and ``packages-lock.json`` are snapshotted byte for byte into Fabric's own state
  before the first byte changes; ``record.json`` there is written after them and says how far it came.
* The manifest changes by one journaled transaction, and both files go back by one. Killed anywhere,
  ``restore`` brings the project to what it was.
* What somebody else wrote meanwhile is never written over: the snapshot stays as evidence, and
  ``unity.restoration_required`` asks for a person. The editor's own rewriting of the lock is no such change
  as long as it differs by our package alone.
* One deployment a project at a time, held by an operating-system lock.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from filelock import FileLock, Timeout
from pydantic import Field, ValidationError

from fabric_dagster.contracts.base import Digest, Document
from fabric_dagster.digests import digest_bytes, digest_of
from fabric_dagster.errors import Conflict, InvalidDocument, NeedsPerson, OperationFailed
from fabric_dagster.supervisor.ports import FileChange
from resources.files.durable import copy_durably, found_digest, write_durably
from resources.files.paths import under
from resources.files.transaction import FileTransactions
from resources.keys import private_folder
from resources.unity.live.manifest_edit import LOCK, PATH, parsed, with_dependency, without_dependency
from resources.unity.live.package import NAME, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from resources.unity.project import Project

RECORD: Final = "record.json"
#: name in the snapshot → path in the project
KEPT: Final = {"manifest.json": PATH, "packages-lock.json": LOCK}
PATIENCE: Final = 5.0
State = Literal["prepared", "deployed", "restoring", "restoration_required"]


class Deployment(Document):
    """``record.json`` of one deployment. ``lock_before`` is absent where there was no lock file."""

    SCHEMA: ClassVar[str] = "fabric.unity-deployment.v1"

    schema_: Literal["fabric.unity-deployment.v1"] = Field(alias="schema")
    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    project: str
    package: Digest
    #: drawn for this deployment; the editor's session repeats it.
    nonce: str = Field(pattern=r"^[0-9a-f]{32}$")
    state: State
    manifest_before: Digest
    manifest_after: Digest
    lock_before: Digest | None = None
    #: what stands in the way of the restoration
    why: str = ""


class Deployments:
    """The deployments into ``project``, kept under ``state`` (Fabric's own, outside of the project)."""

    def __init__(
        self,
        project: Project,
        state: Path,
        *,
        patience: float = PATIENCE,
        hook: Callable[[str], None] | None = None,
    ) -> None:
        self.project = project
        self.state = state
        key = digest_of("fabric.unity-project.v1", {"path": project.root.as_posix()})
        self.folder = state / "deployments" / key[7:39]
        self._patience = patience
        self._hook = hook or (lambda _step: None)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """The lock of the project's deployments; ``Conflict`` while another process has it."""
        private_folder(self.folder)
        lock = FileLock(self.folder / "deployment.lock", fallback_to_soft=False)
        try:
            lock.acquire(timeout=self._patience)
        except Timeout:
            raise Conflict(
                "unity.deployment_busy", "another process has lent this project the package",
                where=self.project.root.name, mend="let it finish, then run this again",
            ) from None  # fmt: skip
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def deployed(self, expected: str | None = None) -> Iterator[Deployment]:
        """The package is in the project's manifest within the block, and the manifest as it was after it.

        ``expected`` is the digest that the package must have. Raises ``NeedsPerson``
        (``unity.restoration_required``) where the project cannot be brought back, also after a failure.
        """
        with self.alone():
            self.restore_all()
            made = self._deploy(expected)
            try:
                yield made
            finally:
                # Also while an error is on its way: the restoration's own blocker is the graver one.
                self.restore_all()

    def pending(self) -> tuple[Deployment, ...]:
        """Every deployment that was not taken back, oldest name first."""
        if not self.folder.is_dir():
            return ()
        folders = [item for item in sorted(self.folder.iterdir()) if (item / RECORD).is_file()]
        return tuple(_load(folder / RECORD) for folder in folders)

    def restore_all(self) -> tuple[str, ...]:
        """Take back every deployment; the ids. Under ``alone``. ``NeedsPerson`` for the first that cannot."""
        done = []
        for item in self.pending():
            self._restore(item)
            done.append(item.id)
        for rest in self.folder.iterdir() if self.folder.is_dir() else ():
            if rest.is_dir() and not (rest / RECORD).exists():
                shutil.rmtree(rest, ignore_errors=True)  # it had touched nothing, or was taken back
        return tuple(done)

    # -- into the project

    def _deploy(self, expected: str | None) -> Deployment:
        package, digest = laid_out(self.state, expected)
        manifest = under(self.project.root, PATH)
        if not manifest.is_file():
            raise OperationFailed(
                "unity.manifest_missing", "the project has no package manifest", where=PATH,
                mend="open the project in its editor once",
            )  # fmt: skip
        before = manifest.read_bytes()
        after = with_dependency(before, NAME, f"file:{package.as_posix()}")
        lock = found_digest(under(self.project.root, LOCK))
        if lock == "irregular":
            raise OperationFailed("path.symlink", "a link stands where the lock file should", where=LOCK)
        made = Deployment(
            schema_="fabric.unity-deployment.v1",
            id=secrets.token_hex(16),
            project=self.project.root.as_posix(),
            package=digest,
            nonce=secrets.token_hex(16),
            state="prepared",
            manifest_before=digest_bytes(before),
            manifest_after=digest_bytes(after),
            lock_before=lock,
        )
        place = self.folder / made.id
        self._snapshot(place, made)
        staged = place / "stage" / PATH
        staged.parent.mkdir(parents=True)
        write_durably(staged, after)
        self._save(made)
        change = FileChange(PATH, made.manifest_before, made.manifest_after)
        self._transactions(made).commit("deploy", place / "stage", (change,))
        return self._moved(made, "deployed")

    def _snapshot(self, place: Path, made: Deployment) -> None:
        (place / "before").mkdir(parents=True)
        wanted = {"manifest.json": made.manifest_before, "packages-lock.json": made.lock_before}
        for name, path in KEPT.items():
            self._hook(f"snapshot:{name}")
            if wanted[name] is None:
                continue
            if copy_durably(under(self.project.root, path), place / "before" / name) != wanted[name]:
                raise Conflict(
                    "transaction.changed_underneath", "the file changed while it was read", where=path,
                    mend="run this again",
                )  # fmt: skip

    # -- and back

    def _restore(self, item: Deployment) -> None:
        """Bring the project's two files back, or keep the evidence and ask for a person."""
        transactions = self._transactions(item)
        try:
            for name in transactions.interrupted():
                transactions.recover(name)
            changes = self._changes(item)
            if changes:
                item = self._moved(item, "restoring")
                stage = self._staged(item, changes)
                # An earlier attempt's name may be taken: it was finished, and somebody wrote since.
                transactions.commit(f"restore-{secrets.token_hex(4)}", stage, changes)
        except (Conflict, _Foreign) as fault:
            why = fault.faults[0].what if isinstance(fault, Conflict) else str(fault)
            self._moved(item, "restoration_required", why)
            raise NeedsPerson(
                "unity.restoration_required",
                f"the package cannot be taken out of the project: {why}",
                where=PATH if isinstance(fault, _Foreign) else fault.faults[0].where or PATH,
                mend=f"take {NAME} out of both files in Packages by hand (as they were:"
                f" {self.folder / item.id / 'before'}), then run `fabric unity restore`",
            ) from None
        self._hook("record:restored")
        self._drop(self.folder / item.id)
        self._hook("dropped")

    def _changes(self, item: Deployment) -> tuple[FileChange, ...]:
        """What is to be written back; ``_Foreign`` where ours cannot be told from somebody else's."""
        found = []
        manifest = found_digest(under(self.project.root, PATH))
        if manifest == item.manifest_after:
            found.append(FileChange(PATH, item.manifest_after, item.manifest_before))
        elif manifest != item.manifest_before and self._holds_ours(PATH):
            raise _Foreign("somebody changed Packages/manifest.json while it held our package")
        lock = found_digest(under(self.project.root, LOCK))
        if lock != item.lock_before:
            if self._lock_is_ours(item):
                found.append(FileChange(LOCK, lock, item.lock_before))
            elif self._holds_ours(LOCK):
                raise _Foreign("somebody changed Packages/packages-lock.json while it held our package")
        return tuple(found)

    def _holds_ours(self, path: str) -> bool:
        """Whether ``path`` names our package; what cannot be read might."""
        data = self._read(path)
        if data is None:
            return False
        try:
            return NAME in parsed(data, path)["dependencies"]
        except OperationFailed:
            return True

    def _lock_is_ours(self, item: Deployment) -> bool:
        """Whether the lock is what stood there before, but for our package: then the editor wrote it."""
        now = self._read(LOCK)
        if now is None:
            return False  # somebody removed it: the editor will write another
        try:
            read = parsed(now, LOCK)
            if item.lock_before is None:
                return NAME in read["dependencies"]
            before = (self.folder / item.id / "before" / "packages-lock.json").read_bytes()
            return without_dependency(read, NAME) == without_dependency(parsed(before, LOCK), NAME)
        except OperationFailed:
            return False

    def _read(self, path: str) -> bytes | None:
        try:
            return under(self.project.root, path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _staged(self, item: Deployment, changes: tuple[FileChange, ...]) -> Path:
        stage = self.folder / item.id / "restore"
        (stage / "Packages").mkdir(parents=True, exist_ok=True)
        for name, path in KEPT.items():
            if any(change.path == path and change.after is not None for change in changes):
                copy_durably(self.folder / item.id / "before" / name, stage / path)
        return stage

    # -- the record

    def _transactions(self, item: Deployment) -> FileTransactions:
        return FileTransactions(
            self.project.root,
            self.folder / item.id / "journals",
            lock=self.project.state / "writer.lock",
            patience=self._patience,
            hook=self._hook,
        )

    def _moved(self, item: Deployment, state: State, why: str = "") -> Deployment:
        made = item.model_copy(update={"state": state, "why": why})
        self._save(made)
        return made

    def _save(self, item: Deployment) -> None:
        self._hook(f"record:{item.state}")
        text = item.model_dump_json(by_alias=True, exclude_none=True)
        write_durably(self.folder / item.id / RECORD, text.encode())

    def _drop(self, place: Path) -> None:
        (place / RECORD).unlink(missing_ok=True)
        self._hook("record:dropped")
        shutil.rmtree(place, ignore_errors=True)


class _Foreign(Exception):
    """Somebody else's bytes stand where ours should."""


def _load(path: Path) -> Deployment:
    try:
        return Deployment.model_validate_json(path.read_bytes())
    except ValidationError as fault:
        raise InvalidDocument(
            "unity.record_damaged", f"the record cannot be read: {fault.errors()[0]['msg']}", where=str(path),
            mend="put manifest.json back from the folder `before` beside it, then remove the folder",
        ) from None  # fmt: skip
