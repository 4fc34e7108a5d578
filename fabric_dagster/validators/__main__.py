"""``python -m fabric_dagster.validators``: the validator's own program; see ``program.py``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from fabric_dagster.errors import CheckFailed, FabricError, InvalidDocument
from fabric_dagster.validators import program
from fabric_dagster.validators.keys import load_key, make_key
from fabric_dagster.validators.run import Bench
from fabric_dagster.validators.verdicts import sign_verdict

INTERRUPTED = 130


def main(words: list[str] | None = None) -> int:
    """Run one subcommand; the exit code is that of design/CLI.md."""
    asked = _parser().parse_args(words)
    output = program.private_output()
    try:
        return COMMANDS[asked.command](asked, output)
    except FabricError as error:
        for fault in error.faults:
            sys.stderr.write(f"validator: {fault}\n")
        return error.exit_code
    except OSError as fault:
        sys.stderr.write(f"validator: {fault.strerror or fault}: {fault.filename or ''} [os.{fault.errno}]\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        output.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fabric_dagster.validators", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("serve", "answer requests on standard input until it ends"),
        ("keygen", "make the key of a new validator's home"),
        ("judge", "judge one evidence file; print the envelope"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--home", type=Path, required=True, help="the validator's own home")
        if name == "judge":
            command.add_argument("evidence", type=Path)
            command.add_argument(
                "--out", type=Path, help="folder for the pictures (default: a temporary one)"
            )
    return parser


def _serve(asked: argparse.Namespace, output: TextIO) -> int:
    reader = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
    return program.serve(load_key(asked.home), reader, output)


def _keygen(asked: argparse.Namespace, output: TextIO) -> int:
    key = make_key(asked.home)
    output.write(json.dumps({"identity": key.identity, "keyid": key.keyid}) + "\n")
    return 0


def _judge(asked: argparse.Namespace, output: TextIO) -> int:
    path, out = asked.evidence, asked.out
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as fault:
        raise InvalidDocument("validator.bad_request", f"this is no JSON: {fault}", where=str(path)) from None
    evidence = program.read_evidence(value, str(path))
    folder = out if out is not None else Path(tempfile.mkdtemp(prefix="verdict-"))
    signer = load_key(asked.home)
    verdict = Bench(log=lambda text: print(text, file=sys.stderr)).judge(evidence, folder)  # noqa: T201 - log
    output.write(json.dumps(sign_verdict(verdict, evidence, signer)) + "\n")
    if verdict.passed:
        return 0
    failed = ", ".join(check.id for check in verdict.checks if check.blocking and not check.passed)
    raise CheckFailed("validator.failed", f"blocking checks failed: {failed or 'none were asked for'}")


COMMANDS: dict[str, Callable[[argparse.Namespace, TextIO], int]] = {
    "serve": _serve,
    "keygen": _keygen,
    "judge": _judge,
}

if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # a check that overran still holds a thread
