"""``fabric bench``: the measured comparisons of ``benchmarks/``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabric_dagster.cli.output import JsonFlag, emit, note, say

if TYPE_CHECKING:
    from pathlib import Path

EVERY = "all"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bench")(bench)


def bench(
    name: Annotated[
        str | None, typer.Argument(help="A module of benchmarks/, or all; none lists them.")
    ] = None,
    rounds: Annotated[int | None, typer.Option("--rounds", min=1, help="Rounds instead of its own.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Measured comparisons, variants in turn: ratios with their spread; nothing passes or fails."""
    from fabric_dagster.errors import UsageFault

    folder = _folder()
    names = sorted(path.stem for path in folder.glob("[!_]*.py"))
    abouts = {item: _module(folder, item).ABOUT for item in names} if name is None else {}
    if name is None:
        emit(
            abouts,
            as_json=as_json,
            human=lambda: say("\n".join(f"{item:<16} {about}" for item, about in abouts.items())),
        )
        return
    if name not in {EVERY, *names}:
        raise UsageFault(
            "bench.unknown", f"there is no benchmark {name!r}", mend=f"use one of: {', '.join(names)}"
        )
    documents: list[dict[str, Any]] = []
    for item in names if name == EVERY else [name]:
        note(f"Measuring {item}")
        report = _module(folder, item).measure(rounds)
        documents.append(report.document())
        if not as_json:
            say(report.text() + "\n")
    if as_json:
        emit(documents if name == EVERY else documents[0], as_json=True)


def _folder() -> Path:
    from fabric_dagster.errors import UsageFault
    from resources.home import CHECKOUT

    folder = CHECKOUT / "benchmarks"
    if not folder.is_dir():
        raise UsageFault("bench.no_checkout", "benchmarks/ is not here", mend="run it in a checkout")
    return folder


def _module(folder: Path, name: str) -> Any:  # noqa: ANN401 - a module
    import importlib

    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    return importlib.import_module(f"benchmarks.{name}")
