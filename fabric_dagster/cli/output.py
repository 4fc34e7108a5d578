"""How a command speaks: one JSON document or text for people on stdout, everything else on stderr."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The home; default $FABRIC_HOME, else .fabric.")
]
PacksOption = Annotated[Path | None, typer.Option("--packs", help="The folder that holds the packs.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")]


#: what a terminal obeys or hides instead of showing: control characters, reordering, half characters.
#: Tabs and line ends are a text's own.
UNSHOWN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)


def emit(document: Any, *, as_json: bool, human: Callable[[], object] | None = None) -> None:  # noqa: ANN401
    """Print ``document`` as JSON, or call ``human`` to print it for a person."""
    if as_json or human is None:
        json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        human()


def say(text: str = "") -> None:
    """Print a line (or lines) for a person, without markup; what would move a terminal is escaped."""
    sys.stdout.write(UNSHOWN.sub(_escaped, text) + "\n")


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def note(text: str) -> None:
    """Progress and remarks: standard error, and only where a person watches."""
    if sys.stderr.isatty():
        sys.stderr.write(text + "\n")


@contextlib.contextmanager
def seen(what: str) -> Iterator[Callable[[int], None]]:
    """A line on standard error that counts while long work goes on; nothing where nobody watches.

    The function that the block gets is told how many there are so far.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _count: None
        return
    with console.status("Reading") as status:
        yield lambda count: status.update(f"Reading: {count:,} {what}")
