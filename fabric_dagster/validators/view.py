"""What a validator sees: the evidence, its files read and proven, and what can be derived from them.

Rules kept here:

* A file is read once, whole, and used only if its bytes have the digest that the evidence states; links
  and anything but regular files are refused.
* The decision is derived again from pack and ticket; nothing decided by the run reaches a validator.
* What several checks need is derived once (``once``); a derivation that failed fails for each of them.
* Artifacts are found by what they are (``*.png``, ``*.document``), not by the names of a graph's nodes.
"""

from __future__ import annotations

import json
import stat
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from fabric_dagster.contracts.evidence import FileFact
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import FabricError
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.intelligence.decide import decide
from fabric_dagster.intelligence.packs import load_pack, pack_files
from fabric_dagster.validators.base import Unjudgeable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabric_dagster.contracts.evidence import BlindEvidence
    from fabric_dagster.contracts.ticket import TicketFile
    from fabric_dagster.intelligence.decide import Decision
    from fabric_dagster.intelligence.packs import LoadedPack

Value = TypeVar("Value")

LARGEST_FILE = 1 << 30
REPARSE_POINT = 0x400
BEFORE = "before:"


@dataclass(frozen=True)
class Actual:
    """One actual file: its name in the evidence, where it lies, and its proven bytes."""

    name: str
    path: Path
    data: bytes

    @property
    def digest(self) -> str:
        """``sha256:…`` of the bytes."""
        return digest_bytes(self.data)


class EvidenceView:
    """Evidence, opened. One per verdict; used by one thread at a time."""

    def __init__(self, evidence: BlindEvidence) -> None:
        self.evidence = evidence
        self._derived: dict[str, tuple[bool, Any]] = {}
        self._lock = threading.RLock()

    def once(self, key: str, make: Callable[[], Value]) -> Value:
        """``make()``, kept under ``key``; what it raised is raised again."""
        with self._lock:
            if key not in self._derived:
                try:
                    self._derived[key] = (True, make())
                except Exception as fault:  # kept, not swallowed: raised to every caller  # noqa: BLE001
                    self._derived[key] = (False, fault)
            good, value = self._derived[key]
        if not good:
            raise value
        return cast("Value", value)

    # -- files

    def read(self, fact: FileFact, name: str) -> Actual:
        """The bytes of ``fact``, proven; ``Unjudgeable`` where they are not what it states."""
        return self.once(f"file:{name}:{fact.path}", lambda: _read(fact, name))

    def template(self, name: str | None = None) -> Actual:
        """The source template, as it lies there now; by default the decided one."""
        file = name if name is not None else self.decision.template
        fact = self.evidence.templates.get(file)
        if fact is None:
            raise Unjudgeable(
                f"the template {file} among the source facts", _listed(self.evidence.templates), "templates"
            )
        return self.read(fact, f"template {file}")

    def art(self, name: str | None = None) -> tuple[TicketFile, Actual]:
        """The ticket's picture: what the ticket says of it, and its bytes. ``name`` where it has several."""
        files = self.evidence.ticket.files
        if name is None and len(files) == 1:
            (name,) = files
        if name is None or name not in files or name not in self.evidence.ticket_files:
            wanted = "one picture" if name is None else f"the picture {name}"
            raise Unjudgeable(f"{wanted} in the ticket", _listed(files), "ticket")
        actual = self.read(self.evidence.ticket_files[name], f"ticket {name}")
        if actual.digest != files[name].digest:
            raise Unjudgeable(files[name].digest, actual.digest, f"ticket {name}")
        return files[name], actual

    def artifact(self, kinds: tuple[str, ...], name: str | None = None) -> Actual:
        """The actual artifact of one of ``kinds`` (the part after the node's dot), earlier kinds first.

        Of several of one kind with different bytes, the one of the node that all the others lead to.
        """
        facts = self.evidence.artifacts
        if name is not None:
            if name not in facts:
                raise Unjudgeable(f"the artifact {name}", _listed(facts), "artifacts")
            return self.read(facts[name], name)
        for kind in kinds:
            named = [key for key in facts if not key.startswith(BEFORE) and key.endswith(f".{kind}")]
            if named:
                return self.read(facts[chosen := self._last(named)], chosen)
        raise Unjudgeable(f"an artifact *.{' or *.'.join(kinds)}", _listed(facts), "artifacts")

    def before(self, path: str) -> Actual | None:
        """The project file ``path`` as it was before the run; ``None`` where it did not exist.

        A file that the run left as it was needs no bytes among the evidence: the manifest proves them.
        """
        fact = self.evidence.artifacts.get(BEFORE + path)
        if fact is None:
            was = self.manifest.get(path)
            if was is None:
                return None
            if not was.startswith("sha256:"):
                raise Unjudgeable("a plain file before the run", was, path)
            return self.read(FileFact(path=str(self.project / path), digest=was), path)
        actual = self.read(fact, BEFORE + path)
        if actual.digest != self.manifest.get(path):
            raise Unjudgeable(self.manifest.get(path, "no such file before the run"), actual.digest, path)
        return actual

    def _last(self, names: list[str]) -> str:
        if len({self.evidence.artifacts[name].digest for name in names}) == 1:
            return min(names)
        nodes = {name.rpartition(".")[0]: name for name in names}
        source = self.pack.graphs.get(self.evidence.ticket.graph)
        needs = {node.id: set(node.needs) for node in source.graph.nodes} if source else {}
        last = [node for node in nodes if nodes.keys() - {node} <= _upstream(node, needs)]
        if len(last) != 1:
            raise Unjudgeable(
                "one artifact of this kind, or a parameter that names it", _listed(nodes.values())
            )
        return nodes[last[0]]

    # -- derivations

    @property
    def pack(self) -> LoadedPack:
        """The pack, loaded again; its digest is the evidence's and the commission's."""
        return self.once("pack", self._load_pack)

    @property
    def decision(self) -> Decision:
        """The decision, derived again from pack and ticket."""
        return self.once(
            "decision", lambda: decide(self.pack, self.evidence.ticket.graph, self.evidence.ticket)
        )

    def decided(self, name: str) -> Any:  # noqa: ANN401 - decided values have their own types
        """One decided value by its name."""
        values = self.decision.values
        if name not in values:
            raise Unjudgeable(f"a decided {name}", _listed(values), f"rule {self.decision.rule}")
        return values[name]

    @property
    def manifest(self) -> Mapping[str, str]:
        """The project's tree before the run: POSIX path → ``sha256:…`` (``link:…`` for a link).

        What other governed runs changed since the manifest was taken counts as it is now.
        """
        return self.once("manifest", self._load_manifest)

    @property
    def trust(self) -> TrustRoot:
        """Whose keys are pinned, as the house has it."""
        fact = self.evidence.trust
        if fact is None:
            raise Unjudgeable("the trust root", "none in the evidence", "trust")
        return self.once("trust", lambda: TrustRoot.parse(self.read(fact, "trust").data, "trust"))

    @property
    def project(self) -> Path:
        """The project's folder, as it is now."""
        return Path(self.evidence.project)

    def _load_pack(self) -> LoadedPack:
        folder = Path(self.evidence.pack)
        try:
            loaded = _pack(folder, tuple(sorted(pack_files(folder).items())))
        except OSError as fault:
            raise Unjudgeable("a readable pack", fault.strerror or str(fault), "pack") from fault
        for expected, where in (
            (self.evidence.pack_digest, "pack"),
            (self.evidence.commission.pack, "commission.pack"),
        ):
            if loaded.digest != expected:
                raise Unjudgeable(expected, loaded.digest, where)
        return loaded

    def _load_manifest(self) -> Mapping[str, str]:
        data = self.read(self.evidence.manifest_before, "manifest").data
        try:
            listed = json.loads(data)
            tree = {
                str(path): digest if ":" in digest else f"sha256:{digest}" for path, digest in listed.items()
            }
        except (ValueError, AttributeError) as fault:
            raise Unjudgeable("a JSON object of path: digest", str(fault), "manifest") from fault
        for change in self.evidence.others:
            if change.after is None:
                tree.pop(change.path, None)
            else:
                tree[change.path] = change.after
        return tree


_PACKS: dict[tuple[Path, tuple[tuple[str, str], ...]], LoadedPack] = {}


def _pack(folder: Path, files: tuple[tuple[str, str], ...]) -> LoadedPack:
    """The pack of exactly these bytes: parsed once, kept while they stay the same."""
    if (folder, files) not in _PACKS:
        _PACKS.clear()
        _PACKS[folder, files] = load_pack(folder)
    return _PACKS[folder, files]


def _read(fact: FileFact, name: str) -> Actual:
    path = Path(fact.path)
    try:
        found = path.lstat()
        link = stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & REPARSE_POINT
        if link or not stat.S_ISREG(found.st_mode):
            raise Unjudgeable("a regular file", "a link or something else", name)
        if found.st_size > LARGEST_FILE:
            raise Unjudgeable(f"at most {LARGEST_FILE} bytes", f"{found.st_size} bytes", name)
        data = path.read_bytes()
    except OSError as fault:
        raise Unjudgeable("a readable file", fault.strerror or str(fault), name) from fault
    if digest_bytes(data) != fact.digest:
        raise Unjudgeable(fact.digest, digest_bytes(data), name)
    return Actual(name, path, data)


def _upstream(node: str, needs: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(needs.get(node, ()))
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            waiting.extend(needs.get(one, ()))
    return found


def _listed(names: object) -> str:
    listed = sorted(map(str, cast("Any", names)))
    return ", ".join(listed) if listed else "none"


def explained(fault: FabricError) -> list[Unjudgeable]:
    """An error of ours as findings: what there was where something else was needed."""
    return [
        Unjudgeable(item.mend or "something that can be judged", f"{item.what} [{item.code}]", item.where)
        for item in fault.faults
    ]
