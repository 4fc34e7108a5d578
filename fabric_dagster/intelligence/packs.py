"""Loads a pack's folder whole: contract, graphs, SOP texts; every fault of every file at once.

Rules kept here: a pack that loads can be decided with, without surprises: names that rules use exist, their
evidence stands in texts of the cited digest, and each rule decides exactly what its graph asks for. The
lock is not looked at here (``manifest.lock_faults``): it tells people of a change; authority goes by digest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric_dagster.contracts.expert_pack import ExpertPack
from fabric_dagster.digests import digest_bytes
from fabric_dagster.documents import Source, check, load_yaml
from fabric_dagster.errors import Fault, InvalidDocument
from fabric_dagster.graphs.source import GraphSource, parse_graph
from fabric_dagster.intelligence.crosscheck import pack_faults
from fabric_dagster.intelligence.manifest import files_digest, pack_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["LoadedPack", "load_pack", "pack_files"]

PACK = "pack.yaml"


@dataclass(frozen=True, slots=True)
class LoadedPack:
    """A pack that holds together. ``graphs`` by ``Name@MAJOR``, ``sops`` by citation id."""

    pack: ExpertPack
    folder: Path
    digest: str
    graphs: Mapping[str, GraphSource]
    sops: Mapping[str, str]
    #: POSIX path → digest, as ``digest`` covers them.
    files: Mapping[str, str]
    source: Source


def load_pack(folder: Path) -> LoadedPack:
    """The pack in ``folder``. Raises ``InvalidDocument`` with all faults of all files."""
    if not (folder / PACK).is_file():
        raise InvalidDocument(
            "pack.missing",
            "this folder holds no pack.yaml",
            where=str(folder),
            mend="name a pack's folder, or write its pack.yaml",
        )
    files = pack_files(folder)
    faults: list[Fault] = []
    read = _Reader(folder, files)
    pack, source = _contract(read, faults)
    graphs = _graphs(read, faults)
    sops = _sops(read, pack, source, faults) if pack is not None and source is not None else {}
    if pack is not None and source is not None:
        faults += pack_faults(pack, source, folder.name, graphs, sops)
    if faults or pack is None or source is None:
        raise InvalidDocument.of(faults)
    return LoadedPack(pack, folder, files_digest(files), graphs, sops, files, source)


class _Reader:
    """Reads a pack's files, and proves of each that it is the one that the digest covers."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder, self.files = folder, files

    def name(self, path: str) -> str:
        """What faults call the file."""
        return f"{self.folder.name}/{path}"

    def bytes(self, path: str) -> bytes:
        """The bytes of ``path``; ``InvalidDocument`` where somebody writes to the pack meanwhile."""
        data = (self.folder / path).read_bytes()
        if digest_bytes(data) != self.files.get(path):
            raise InvalidDocument(
                "pack.changed",
                "the file changed while it was read",
                where=self.name(path),
                mend="load it again",
            )
        return data


def _contract(read: _Reader, faults: list[Fault]) -> tuple[ExpertPack | None, Source | None]:
    try:
        source = load_yaml(read.bytes(PACK), read.name(PACK))
        return check(ExpertPack, source), source
    except InvalidDocument as fault:
        faults.extend(fault.faults)
        return None, None


def _graphs(read: _Reader, faults: list[Fault]) -> dict[str, GraphSource]:
    graphs: dict[str, GraphSource] = {}
    for path in read.files:
        if not path.startswith("graphs/"):
            continue
        name = read.name(path)
        if not path.endswith(".yaml") or path.count("/") != 1:
            faults.append(Fault("pack.stray_file", "graphs/ holds *.yaml files only", name, "move it away"))
            continue
        try:
            found = parse_graph(read.bytes(path), name)
        except InvalidDocument as fault:
            faults.extend(fault.faults)
            continue
        twin = graphs.setdefault(found.graph.reference, found)
        if twin is not found:
            what = f"{found.graph.reference} is also defined in {twin.source.name}"
            mend = "keep one graph for each name and major version"
            faults.append(Fault("pack.duplicate_graph", what, found.source.where(("name",)), mend))
    return graphs


def _sops(read: _Reader, pack: ExpertPack, source: Source, faults: list[Fault]) -> dict[str, str]:
    """Citation id → text, for those whose bytes have the cited digest."""
    texts: dict[str, str] = {}
    for name, citation in pack.citations.items():
        place = ("citations", name, "file")
        parts = citation.file.split("/")
        if parts[0] != "sop" or len(parts) != 2 or parts[1] in {"", ".", ".."} or "\\" in parts[1]:  # noqa: PLR2004
            what = f"citation {name!r} names no file of sop/"
            mend = "write sop/NAME.md"
            faults.append(Fault("pack.bad_citation", what, source.where(place), mend, citation.file))
            continue
        if citation.file not in read.files:
            what = f"citation {name!r}: the file is not there"
            mend = "add it or mend the path"
            faults.append(Fault("pack.missing_sop", what, source.where(place), mend, citation.file))
            continue
        data = read.bytes(citation.file)
        if (found := digest_bytes(data)) != citation.digest:
            what = f"citation {name!r}: the text changed; its digest is {found}"
            mend = "read the change, then cite its new revision and digest"
            stated = source.where(("citations", name, "digest"))
            faults.append(Fault("pack.sop_drift", what, stated, mend, citation.digest))
            continue
        try:
            texts[name] = data.decode("utf-8")
        except UnicodeDecodeError:
            what = f"citation {name!r}: the text is not UTF-8"
            where = source.where(place)
            faults.append(Fault("pack.bad_citation", what, where, "save it as UTF-8", citation.file))
    return texts
