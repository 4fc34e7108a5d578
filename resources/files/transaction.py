"""Several files under one root, changed together or not at all, by compare-and-swap with an undo journal.

Rules kept here:

* Before the first byte changes, every old digest was verified, the old bytes lie in the journal (flushed),
  and all new bytes lie beside their targets under temporary names: a full disk is met before that.
* Each file is then verified once more and put in place by one atomic rename.
* Killed anywhere, ``recover`` brings all files to ``after`` (all were in place) or back to ``before``. It
  touches nothing where a file is neither what stood before nor what we wrote.
* ``undo`` restores only what still is what we wrote. The journal stays until ``forget``.
* One writer a root: an operating-system lock, released by the system when its holder dies.

The journal's folder lies outside the tree that is written. ``hook`` is called with the name of each step as
it is about to happen; tests kill the process there.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from filelock import FileLock, Timeout

from fabric_dagster.errors import Conflict, FabricError, Fault, NeedsPerson, OperationFailed
from fabric_dagster.supervisor.ports import FileChange, Standing
from resources.files import journal as journals_
from resources.files.durable import copy_durably, flush_folder, found_digest, put_new, remove_empty
from resources.files.journal import Entry, Journal
from resources.files.paths import case_clashes, folded, is_link, under


class FileTransactions:
    """The transactions of one root.

    ``root`` is the tree that is written, ``journals`` a folder outside of what is written in it, ``lock`` the
    lock file (default: in ``journals``; give one place for all writers of a root that keep their journals
    apart). ``patience`` is how many seconds to wait for another writer. ``guard`` is called under the lock
    before anything is written and raises to refuse. A transaction may be empty; it is journaled all the same.
    """

    def __init__(
        self,
        root: Path,
        journals: Path,
        *,
        lock: Path | None = None,
        patience: float = 0.0,
        guard: Callable[[], None] | None = None,
        hook: Callable[[str], None] | None = None,
    ) -> None:
        self.root = root.resolve()
        self.journals = journals
        self._lock = lock or journals / "writer.lock"
        self._patience = patience
        self._guard = guard or (lambda: None)
        self._hook = hook or (lambda _step: None)

    # -- what the supervisor calls

    def commit(
        self,
        transaction: str,
        source: Path,
        changes: tuple[FileChange, ...],
        emptied: tuple[str, ...] = (),
        made: tuple[str, ...] = (),
    ) -> None:
        """Apply ``changes``; the new bytes of each lie at ``source / change.path``.

        ``emptied`` are folders that go with their last file; one that holds anything else stays. ``made`` are
        folders that are wanted though no file lies in them.

        Raises ``Conflict`` when a file is not what ``before`` says, a second writer is at work or an
        interrupted transaction waits; ``OperationFailed`` when the disk refuses. Both: nothing changed.
        """
        with self._alone():
            self._guard()
            self._refuse_interrupted(transaction)
            entries = self._verified(source, changes)
            folder = self._folder(transaction)
            journals_.drop(folder)
            plan = Journal(
                transaction=transaction,
                state="prepared",
                entries=entries,
                folders=self._new_folders(entries, made),
                emptied=self._emptied(emptied),
            )
            try:
                self._prepare(plan, folder)
                self._apply(plan, source)
                self._hook("mark:committed")
                plan.moved("committed").save(folder)
            except BaseException as fault:  # noqa: BLE001 - even an interrupt rolls back, then goes on
                self._give_up(plan, folder, fault)
            self._hook("done")

    def standing(self, changes: tuple[FileChange, ...]) -> Standing:
        """What stands there now, by reading the bytes."""
        sides = {self._side(change) for change in changes} - {"both"}
        if "foreign" in sides:
            return "foreign"
        if len(sides) > 1:
            return "partial"
        return "before" if sides == {"before"} else "after"

    def recover(self, transaction: str) -> Standing:
        """Bring an interrupted transaction to ``after`` or ``before``; idempotent.

        Without a journal nothing was begun (or it was forgotten since): ``before``. Raises ``Conflict``, with
        nothing touched, where a file is neither what stood there nor what we wrote.
        """
        folder = self._folder(transaction)
        with self._alone():
            found = journals_.load(folder)
            if found is None:
                journals_.drop(folder)
                return "before"
            standing = self.standing(found.changes)
            if found.state in {"committed", "undone"}:
                self._sweep(found)
                return standing
            self._guard()
            if standing == "foreign":
                raise self._foreign(found, "recover")
            if standing == "after" and found.state == "prepared":
                self._remove_emptied(found)
                self._sweep(found)
                found.moved("committed").save(folder)
                return "after"
            self._restore(found, folder)
            if found.state == "undoing":
                found.moved("undone").save(folder)
            else:
                journals_.drop(folder)
            return "before"

    def undo(self, transaction: str) -> None:
        """Restore what ``transaction`` wrote; ``Conflict`` where the bytes are no longer ours."""
        folder = self._folder(transaction)
        with self._alone():
            found = journals_.load(folder)
            if found is None:
                raise Conflict(
                    "transaction.unknown",
                    "there is no undo journal for this transaction",
                    where=transaction,
                    mend="it was never committed, or its journal was dropped after the verdict",
                )
            if found.state == "undone":
                return
            if found.state == "prepared":
                raise self._interrupted(found)
            self._guard()
            standing = self.standing(found.changes)
            if standing == "foreign" or (standing == "partial" and found.state == "committed"):
                raise self._foreign(found, "undo")
            self._hook("mark:undoing")
            found.moved("undoing").save(folder)
            self._restore(found, folder)
            self._hook("mark:undone")
            found.moved("undone").save(folder)

    def forget(self, transaction: str) -> None:
        """Drop the undo journal of a finished transaction; an interrupted one is kept (``Conflict``)."""
        folder = self._folder(transaction)
        with self._alone():
            found = journals_.load(folder)
            if found is not None and found.state in {"prepared", "undoing"}:
                raise self._interrupted(found)
            journals_.drop(folder)

    def abandon(self, transaction: str) -> None:
        """Drop a journal in whatever state: a person has settled by hand what it can no longer bring about.

        Only our own temporary files are removed.
        """
        folder = self._folder(transaction)
        with self._alone():
            found = journals_.load(folder)
            if found is not None:
                self._sweep(found)
            journals_.drop(folder)

    # -- what people ask

    def journaled(self) -> tuple[Journal, ...]:
        """Every journal that is kept, by transaction."""
        if not self.journals.is_dir():
            return ()
        found = (journals_.load(folder) for folder in sorted(self.journals.iterdir()) if folder.is_dir())
        return tuple(sorted((item for item in found if item), key=lambda item: item.transaction))

    def interrupted(self) -> tuple[str, ...]:
        """The transactions that ``recover`` must look at."""
        return tuple(j.transaction for j in self.journaled() if j.state in {"prepared", "undoing"})

    def by_age(self) -> tuple[str, ...]:
        """The transactions whose journals are kept, oldest first."""
        kept = [(self._folder(j.transaction).stat().st_mtime_ns, j.transaction) for j in self.journaled()]
        return tuple(name for _, name in sorted(kept))

    def sweep(self) -> None:
        """Remove journal folders that were never completed: their transactions had touched nothing."""
        if not self.journals.is_dir():
            return
        with self._alone():
            for rest in self._rests():
                journals_.drop(rest)

    def _rests(self) -> list[Path]:
        """Journal folders that were never completed: their transactions had touched nothing."""
        folders = (folder for folder in self.journals.iterdir() if folder.is_dir())
        return [folder for folder in folders if not (folder / Journal.NAME).exists()]

    # -- steps of a commit

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        self.journals.mkdir(parents=True, exist_ok=True)
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        # Never a lock file without a lock behind it: a killed holder would leave it for ever.
        lock = FileLock(self._lock, fallback_to_soft=False)
        try:
            lock.acquire(timeout=self._patience)
        except Timeout:
            raise Conflict(
                "transaction.locked",
                "another process is writing here",
                where=self.root.name,
                mend="let it finish, then run this again",
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _refuse_interrupted(self, transaction: str) -> None:
        for rest in self._rests():
            journals_.drop(rest)
        for found in self.journaled():
            if found.state in {"prepared", "undoing"}:
                raise self._interrupted(found)
            if found.transaction == transaction and found.state == "committed":
                raise Conflict(
                    "transaction.repeated",
                    "this transaction was committed already",
                    where=transaction,
                    mend="ask for its standing instead of repeating it",
                )

    def _verified(self, source: Path, changes: tuple[FileChange, ...]) -> tuple[Entry, ...]:
        """Entries of ``changes``, with every path, clash, old digest and staged digest proven; all faults."""
        twice = {folded(change.path) for change in changes}
        if len(twice) != len(changes):
            raise OperationFailed("transaction.path_twice", "a path is changed twice in one transaction")
        clashes = case_clashes(self.root, [change.path for change in changes])
        if clashes:
            raise OperationFailed.of(clashes)
        faults: list[Fault] = []
        entries: list[Entry] = []
        for change in changes:
            target = under(self.root, change.path)
            found = found_digest(target)
            if found != change.before:
                faults.append(_changed(change, found))
            mode = None if found is None else stat.S_IMODE(target.lstat().st_mode)
            if mode is not None and not mode & stat.S_IWRITE:
                faults.append(_READ_ONLY.at(change.path))
            if change.after is not None and found_digest(under(source, change.path)) != change.after:
                faults.append(_STAGE_DAMAGED.at(change.path))
            entries.append(Entry(path=change.path, before=change.before, after=change.after, mode=mode))
        if faults:
            raise Conflict.of(faults)
        return tuple(entries)

    def _new_folders(self, entries: tuple[Entry, ...], made: tuple[str, ...]) -> tuple[str, ...]:
        missing: dict[str, None] = {}
        parents = [entry.path.split("/")[:-1] for entry in entries if entry.after is not None]
        for parts in (*parents, *(name.split("/") for name in made)):
            for end in range(1, len(parts) + 1):
                folder = "/".join(parts[:end])
                if not under(self.root, folder).is_dir():
                    missing[folder] = None
        return tuple(missing)

    def _emptied(self, folders: tuple[str, ...]) -> tuple[str, ...]:
        """Every folder at or below ``folders``, parents first: what was empty before is restored too."""
        found: set[str] = set()
        for name in folders:
            top = under(self.root, name)
            found.add(name)
            found |= {
                here.relative_to(self.root).as_posix()
                for here in top.rglob("*")
                if here.is_dir() and not is_link(here.lstat())
            }
        return tuple(sorted(found))

    def _prepare(self, plan: Journal, folder: Path) -> None:
        (folder / "before").mkdir(parents=True)
        for index, entry in enumerate(plan.entries):
            if entry.before is None:
                continue
            self._hook(f"backup:{index}")
            if copy_durably(self.root / entry.path, folder / "before" / str(index)) != entry.before:
                raise Conflict.of([_changed(entry.change, "other bytes")])
        flush_folder(folder / "before")
        self._hook("journal")
        plan.save(folder)
        flush_folder(folder.parent)

    def _apply(self, plan: Journal, source: Path) -> None:
        for name in plan.folders:
            self._hook(f"folder:{name}")
            (self.root / name).mkdir(exist_ok=True)
            flush_folder((self.root / name).parent)
        for index, entry in enumerate(plan.entries):
            if entry.after is None:
                continue
            self._hook(f"write:{index}")
            temporary = self._temporary(plan, index)
            if copy_durably(source / entry.path, temporary, entry.mode) != entry.after:
                raise Conflict.of([_STAGE_DAMAGED.at(entry.path)])
        for index, entry in enumerate(plan.entries):
            self._put(plan, index, entry)
        for parent in {(self.root / entry.path).parent for entry in plan.entries}:
            self._hook("flush")
            flush_folder(parent)
        self._hook("emptied")
        self._remove_emptied(plan)

    def _remove_emptied(self, plan: Journal) -> None:
        """Remove the folders that the transaction emptied, deepest first; one with anything in it stays."""
        for name in reversed(plan.emptied):
            remove_empty(under(self.root, name))

    def _put(self, plan: Journal, index: int, entry: Entry) -> None:
        """Compare once more, then swap: one atomic rename."""
        self._hook(f"verify:{index}")
        target = under(self.root, entry.path)
        found = found_digest(target)
        if found != entry.before:
            raise Conflict.of([_changed(entry.change, found)])
        self._hook(f"replace:{index}")
        if entry.after is None:
            target.unlink()
        elif entry.before is None:
            try:
                put_new(self._temporary(plan, index), target)
            except FileExistsError:
                raise Conflict.of([_changed(entry.change, "other bytes")]) from None
        else:
            self._temporary(plan, index).replace(target)

    def _give_up(self, plan: Journal, folder: Path, fault: BaseException) -> NoReturn:
        """Roll back in place, then raise what happened as a sentence for people."""
        try:
            self._restore(plan, folder)
        except (OSError, OperationFailed) as second:
            raise NeedsPerson(
                "transaction.rollback_incomplete",
                f"the transaction failed ({_reason(fault)}) and could not be rolled back ({_reason(second)})",
                where=plan.transaction,
                mend="free the disk or the files, then recover the transaction",
            ) from fault
        journals_.drop(folder)
        if isinstance(fault, OSError):
            raise OperationFailed(
                "transaction.disk",
                f"the disk refused: {_reason(fault)}; nothing was changed",
                where=str(fault.filename or plan.transaction),
                mend="free space or rights there, then run this again",
            ) from fault
        raise fault

    # -- undoing

    def _restore(self, plan: Journal, folder: Path) -> None:
        """Put back every file that holds our bytes; remove our temporary files and our empty folders."""
        if any(self._side(entry.change) == "after" for entry in plan.entries):
            for name in plan.emptied:
                under(self.root, name).mkdir(parents=True, exist_ok=True)
        for index, entry in enumerate(plan.entries):
            if self._side(entry.change) != "after":
                continue
            self._hook(f"restore:{index}")
            target = under(self.root, entry.path)
            if entry.before is None:
                target.unlink()
                continue
            temporary = self._temporary(plan, index)
            target.parent.mkdir(parents=True, exist_ok=True)
            if copy_durably(folder / "before" / str(index), temporary, entry.mode) != entry.before:
                temporary.unlink()
                raise OperationFailed(
                    "transaction.journal_damaged", "the saved old bytes are damaged", where=entry.path
                )
            temporary.replace(target)
        self._sweep(plan)
        for name in reversed(plan.folders):
            remove_empty(self.root / name)
        for parent in {(self.root / entry.path).parent for entry in plan.entries}:
            if parent.is_dir():
                flush_folder(parent)

    def _sweep(self, plan: Journal) -> None:
        """Remove temporary files that an interrupted attempt left."""
        for index in range(len(plan.entries)):
            self._temporary(plan, index).unlink(missing_ok=True)

    def _temporary(self, plan: Journal, index: int) -> Path:
        """Beside its target, on the same disk; a leading dot, so that Unity's importer never sees it."""
        parent = (self.root / plan.entries[index].path).parent
        return parent / f".fabric-{journals_.folder_name(plan.transaction)[:12]}-{index}.tmp"

    # -- looking

    def _folder(self, transaction: str) -> Path:
        return self.journals / journals_.folder_name(transaction)

    def _side(self, change: FileChange) -> str:
        try:
            found = found_digest(under(self.root, change.path))
        except OperationFailed:
            return "foreign"  # a link stands on the path: nothing of ours
        if change.before == change.after == found:
            return "both"
        if found == change.after:
            return "after"
        return "before" if found == change.before else "foreign"

    def _foreign(self, plan: Journal, verb: str) -> FabricError:
        faults = [
            Fault(
                "transaction.foreign_bytes",
                f"cannot {verb}: the file is no longer what this transaction wrote",
                where=change.path,
                mend="keep or revert that change by hand; nothing was touched",
            )
            for change in plan.changes
            if self._side(change) == "foreign" or (verb == "undo" and self._side(change) == "before")
        ]
        return Conflict.of(faults)

    @staticmethod
    def _interrupted(found: Journal) -> Conflict:
        return Conflict(
            "transaction.interrupted",
            "an earlier transaction was interrupted and waits to be recovered",
            where=found.transaction,
            mend="recover it first",
        )


@dataclass(frozen=True, slots=True)
class _Kind:
    """A fault that may be found at several paths."""

    code: str
    what: str
    mend: str

    def at(self, path: str) -> Fault:
        return Fault(self.code, self.what, path, self.mend)


_READ_ONLY = _Kind("transaction.read_only", "the file is read-only", "check it out or make it writable first")
_STAGE_DAMAGED = _Kind(
    "transaction.stage_damaged", "the staged bytes are not what was planned", "stage the plan again"
)


def _changed(change: FileChange, found: str | None) -> Fault:
    names = {None: "no file", "irregular": "a folder, link or device", "other bytes": "other bytes"}
    return Fault(
        "transaction.changed_underneath",
        f"expected {change.before or 'no file'}, found {names.get(found, found)}",
        where=change.path,
        mend="plan again on what is there now",
    )


def _reason(fault: BaseException) -> str:
    return str(getattr(fault, "strerror", None) or fault or type(fault).__name__)
