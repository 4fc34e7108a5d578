"""Where the packs of a command are, and what the embedded providers serve, with or without a home."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabric_dagster.errors import InvalidDocument, UsageFault

if TYPE_CHECKING:
    from fabric_dagster.graphs.source import GraphSource
    from fabric_dagster.intelligence import LoadedPack
    from fabric_dagster.intelligence.catalog import Catalog
    from resources.home import Home


def nearby(home: Path | None) -> Home | None:
    """The home that is named or stands where it is looked for; ``None`` where no one named any.

    A home named with ``--home`` must be there: ``UsageFault``.
    """
    from resources.home import Home

    found = Home.find(home)
    if home is not None:
        return found.require()
    return found if found.exists else None


def roots(home: Home | None, packs: Path | None) -> tuple[Path, ...]:
    """The folders that hold packs: ``packs``, else the home's, else the checkout's."""
    from resources.home import CHECKOUT

    if packs is not None and not packs.is_dir():
        raise UsageFault("packs.missing", "there is no such folder", where=str(packs), mend="name a folder")
    return (packs.absolute(),) if packs is not None else home.packs if home else (CHECKOUT / "packs",)


def catalog(home: Home | None, packs: Path | None) -> Catalog:
    """Every pack of ``roots``, loaded."""
    from fabric_dagster.intelligence.catalog import load_catalog

    return load_catalog(roots(home, packs))


def called(known: Catalog, graph: str) -> tuple[LoadedPack, GraphSource]:
    """The graph that a command's argument names; an unknown one is the call's fault, not a document's."""
    try:
        return known.graph(graph)
    except InvalidDocument as fault:
        raise UsageFault.of(fault.faults) from None


def served_by(home: Path | None) -> frozenset[str]:
    """The capability ids that this home's providers serve; without a home, the embedded ones'."""
    from resources.home import Home
    from resources.supervision.assembly import Hall

    found = Home.find(home)
    return Hall(found).served if found.exists and found.trust.is_file() else served_here()


def served_here() -> frozenset[str]:
    """The capability ids that the embedded providers serve."""
    from resources.photoshop.provider import HeadlessPhotoshop
    from resources.unity.provider import HeadlessUnity

    nowhere = Path("nowhere")  # looked at by nobody: what a provider serves depends on no folder
    return HeadlessPhotoshop(nowhere, nowhere).serves | HeadlessUnity(nowhere, nowhere).serves
