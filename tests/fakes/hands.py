"""A specialist in memory that keeps the provider's port, and may die, fail or lie where it is told."""

import json

from fabric_dagster.capabilities.registry import capability
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import Conflict
from fabric_dagster.supervisor import watch
from fabric_dagster.supervisor.ports import FileChange, Observation, Produced, Staged


class Killed(BaseException):
    """The process ended here; nothing of ours runs after it."""


class FakeHands:
    """One application on one root. ``world`` says what goes wrong and is told of every effect."""

    name, version = "fake", "1"

    def __init__(self, application, root, world):
        self.application, self.root, self.world = application, root, world
        self.serves = world.serves[application]

    def allocate(self, plan):
        """Nothing is drawn."""
        return {"drawn": "once"} if plan.operations else {}

    def stage(self, plan, stage):
        """One file for each operation that makes one."""
        self.world.at("stage")
        watch.check()
        made, changes = [], {}
        for operation in plan.operations:
            outputs = capability(operation.capability).outputs
            for name, kind in outputs.items():
                if kind in {"png", "psd"}:
                    path = operation.args.get("out") or operation.args.get("copy") or "icon.psd"
                    target = stage / "out" / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    if not target.exists():
                        target.write_bytes(f"{operation.node} {self.world.art}".encode())
                    changes[path] = target
                    made.append(Produced(operation.node, name, kind, target, facts={}))
                else:
                    made.append(Produced(operation.node, name, kind, value=f"{operation.node}.{name}"))
        if self.application == "unity":
            for suffix in ("", ".meta"):
                path = f"{self.world.place}/icon.png{suffix}"
                target = stage / "out" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(json.dumps([plan.run, self.world.art, suffix]).encode())
                changes[path] = target
        self.world.at("staged")
        found = tuple(
            FileChange(path, self._digest(path), digest_file(target))
            for path, target in sorted(changes.items())
        )
        return Staged(found, tuple(made), (Observation("stage", "made", "made", holds=True),))

    def commit(self, stage, staged, transaction):
        """Compare and swap with an undo journal; every effect is one the world must have allowed."""
        self.world.effect(self, staged, transaction)
        self.world.at("commit")
        for change in staged.changes:
            if self._digest(change.path) != change.before:
                raise Conflict("transaction.changed_underneath", "somebody wrote there", where=change.path)
        journal = {
            change.path: (self.root / change.path).read_bytes() if change.before else None
            for change in staged.changes
        }
        self.world.journals[transaction] = (self.root, journal, staged.changes)
        for number, change in enumerate(staged.changes):
            if number:
                self.world.at("half")
            self._put(change.path, (stage / "out" / change.path).read_bytes())
        self.world.at("committed")

    def standing(self, _transaction, changes):
        """By reading the bytes."""
        found = [self._digest(change.path) for change in changes]
        if all(now == c.after for now, c in zip(found, changes, strict=True)):
            return "after"
        if all(now == c.before for now, c in zip(found, changes, strict=True)):
            return "before"
        known = all(now in {c.before, c.after} for now, c in zip(found, changes, strict=True))
        return "partial" if known else "foreign"

    def recover(self, transaction):
        """Half of it goes back; a whole one stays."""
        if transaction not in self.world.journals:
            return "before"
        _, _, changes = self.world.journals[transaction]
        if self.standing(transaction, changes) == "partial":
            self._restore(transaction)
        return self.standing(transaction, changes)

    def undo(self, transaction):
        """Back to what stood there, where it is still ours."""
        self.world.at("undo")
        if transaction not in self.world.journals:
            raise Conflict("transaction.unknown", "there is no journal")
        _, _, changes = self.world.journals[transaction]
        if self.standing(transaction, changes) == "foreign":
            raise Conflict("transaction.not_ours", "somebody wrote there")
        self._restore(transaction)
        self.world.at("undone")

    def forget(self, transaction):
        """The journal goes."""
        self.world.journals.pop(transaction, None)

    abandon = forget

    def observe(self, _plan, staged):
        """The bytes, read again."""
        self.world.at("observe")
        broken = self.world.broken()
        return tuple(
            Observation(
                change.path,
                change.after or "",
                "else" if broken else str(self._digest(change.path)),
                holds=not broken and self._digest(change.path) == change.after,
            )
            for change in staged.changes
        )

    def _restore(self, transaction):
        _, journal, _ = self.world.journals[transaction]
        for path, data in journal.items():
            if data is None:
                (self.root / path).unlink(missing_ok=True)
            else:
                self._put(path, data)

    def _put(self, path, data):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def _digest(self, path):
        target = self.root / path
        return digest_file(target) if target.is_file() else None
