"""``python -m resources.reviewer``: the validator's program for reviews; see ``desk.py``.

Standard output carries one JSON document, standard error one line a fault. The exit code is that of
design/CLI.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import FabricError
from fabric_dagster.governance.trust import TrustRoot
from fabric_dagster.validators.keys import make_key
from fabric_dagster.validators.program import private_output
from resources.reviewer.desk import Desk, Recorded, first_root, pin_root, read_trust

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130


def main(words: list[str] | None = None) -> int:
    """Run one subcommand."""
    asked = _parser().parse_args(words)
    output = private_output()
    try:
        output.write(json.dumps(COMMANDS[asked.command](asked)) + "\n")
    except FabricError as error:
        for fault in error.faults:
            # whole, not shortened for people: whoever asked says it to them
            told = {name: value for name, value in asdict(fault).items() if value is not None}
            sys.stderr.write(f"validator: {json.dumps(told)}\n")
        return error.exit_code
    except OSError as fault:
        found = {"code": f"os.{fault.errno}", "what": str(fault.strerror or fault)}
        sys.stderr.write(f"validator: {json.dumps(found | {'where': str(fault.filename or '')})}\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        output.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m resources.reviewer", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("keygen", "make the key of a new validator's home"),
        ("trust", "pin a trust root, or follow it to its next version"),
        ("review", "review a candidate graph over its pack's corpus, and keep the review"),
        ("sign", "sign the receipt of a review that is kept"),
        ("reviews", "every review that is kept"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--home", type=Path, required=True, help="the validator's own home")
        if name == "trust":
            command.add_argument("file", type=Path)
        if name == "review":
            command.add_argument("--pack", type=Path, required=True, help="the pack's folder")
            command.add_argument("--graph", required=True, help="the graph as Name@MAJOR")
            command.add_argument("--corpus", help="the corpus (default: the one for this graph)")
            command.add_argument("--sign", action="store_true", help="and sign it: print the receipt")
        if name == "sign":
            command.add_argument("review", help="the review's digest, or a graph's newest by Name@MAJOR")
    return parser


def _keygen(asked: argparse.Namespace) -> dict[str, Any]:
    import base64

    key = make_key(asked.home)
    public = base64.b64encode(key.public).decode()
    return {"identity": key.identity, "keyid": key.keyid, "public": public}


def _trust(asked: argparse.Namespace) -> dict[str, Any]:
    given = read_trust(asked.file)
    if isinstance(given, TrustRoot) or not (asked.home / "trust.json").exists():
        root = given if isinstance(given, TrustRoot) else first_root(given)
        pin_root(asked.home, root)
    else:
        desk = Desk(asked.home)
        try:
            root = desk.succeed(given)
        finally:
            desk.close()
    return {"version": root.version, "digest": root.digest}


def _review(asked: argparse.Namespace) -> dict[str, Any]:
    desk = Desk(asked.home)
    try:
        found = desk.review(asked.pack, asked.graph, asked.corpus)
        return desk.sign(found.digest) if asked.sign else _shown(found)
    finally:
        desk.close()


def _sign(asked: argparse.Namespace) -> dict[str, Any]:
    desk = Desk(asked.home)
    try:
        return desk.sign(asked.review)
    finally:
        desk.close()


def _reviews(asked: argparse.Namespace) -> dict[str, Any]:
    desk = Desk(asked.home)
    try:
        return {"reviews": [_shown(item) for item in desk.reviews()]}
    finally:
        desk.close()


def _shown(found: Recorded) -> dict[str, Any]:
    receipt = {} if found.receipt is None else {"receipt": found.receipt}
    return {"digest": found.digest, "review": found.review.body(), **receipt}


COMMANDS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "keygen": _keygen,
    "trust": _trust,
    "review": _review,
    "sign": _sign,
    "reviews": _reviews,
}

if __name__ == "__main__":
    sys.exit(main())
