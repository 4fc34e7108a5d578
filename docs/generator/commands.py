"""The command line's reference, from the same objects that ``--help`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer.main

from fabric_dagster.cli.main import build
from generator.reference import cell

if TYPE_CHECKING:
    from collections.abc import Iterator

INTRODUCTION = """\
Every command that reads prints text for a person and, with `--json`, one JSON document on standard output
and nothing else there. Exit codes: 0 done; 1 the thing asked about is not so; 2 the call's own words are
off; 3 refused by authority; 4 stopped and needs a person; 130 interrupted."""


def command_page() -> str:
    """Every command with its arguments and options."""
    root: Any = typer.main.get_command(build())
    parts = [
        "# `fabric`: the command line",
        "",
        INTRODUCTION,
        "",
        *(f"* [`{path}`](#{path.replace(' ', '-')})" for path, _ in _leaves(root, "fabric")),
        "",
    ]
    for path, command in _leaves(root, "fabric"):
        parts += [*_command(path, command), ""]
    return "\n".join(parts)


def _leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - typer's own click
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name in sorted(inner):
        yield from _leaves(inner[name], f"{path} {name}")


def _command(path: str, command: Any) -> Iterator[str]:  # noqa: ANN401
    options, arguments = [], []
    for one in command.params:
        if one.param_type_name == "argument":
            arguments.append(one)
        elif "--help" not in one.opts:
            options.append(one)
    words = " ".join(_word(one) for one in arguments)
    yield f"## {path}"
    yield ""
    yield " ".join((command.help or "").split())
    yield ""
    yield "```"
    yield " ".join(part for part in (path, "[OPTIONS]" if options else "", words) if part)
    yield "```"
    if arguments or options:
        yield ""
        yield "| | | |"
        yield "|---|---|---|"
    for one in arguments:
        yield f"| `{_word(one)}` | {_given(one)} | {cell(one.help or '')} |"
    for one in options:
        names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
        yield f"| {names} | {_given(one)} | {cell(one.help or '')} |"


def _word(one: Any) -> str:  # noqa: ANN401
    name = one.metavar or one.name.upper()
    return name if one.required else f"[{name}]"


def _given(one: Any) -> str:  # noqa: ANN401
    if one.required:
        return "required"
    if one.default in (None, False, (), []) or callable(one.default):
        return ""
    return f"default `{one.default}`"
