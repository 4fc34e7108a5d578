"""Surface: what a graph asks of tickets, applications and owners."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from fabric_dagster.capabilities.base import Application
from fabric_dagster.graphs.case import Case, listed
from fabric_dagster.graphs.partitions import CONTROL
from fabric_dagster.graphs.patterns import pattern_problem
from fabric_dagster.graphs.ranges import parse_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabric_dagster.errors import Fault

#: The first key of a ticket's block, which names the graph.
MARKER = "fabric"
MAX_NODES = 512
TEXTUAL = frozenset({"slug", "text"})

_INPUT = re.compile(r"[a-z][a-z0-9_]{0,62}")
_OWNER = re.compile(
    r"team:[A-Za-z0-9][A-Za-z0-9_-]{0,62}|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
)


def size(case: Case) -> Iterator[Fault]:
    """A graph is something that a person can oversee."""
    if (count := len(case.graph.nodes)) > MAX_NODES:
        yield case.fault(
            ("nodes",), "too_large", f"a graph has at most {MAX_NODES} nodes", "split it", str(count)
        )


def owners(case: Case) -> Iterator[Fault]:
    """Owners are ``team:NAME`` or a mail address, each once."""
    for place, owner in enumerate(case.graph.owners):
        path = ("owners", place)
        if not _OWNER.fullmatch(owner):
            mend = "write team:NAME or a mail address"
            yield case.fault(path, "bad_owner", "an owner is a team or a mail address", mend, owner)
        elif owner in case.graph.owners[:place]:
            yield case.fault(path, "duplicate_owner", "this owner stands twice", "keep one", owner)


def compatibility(case: Case) -> Iterator[Fault]:
    """Every application that the graph uses has a range of versions that some version lies in."""
    known = get_args(Application)
    for application, text in case.graph.compatibility.items():
        path = ("compatibility", application)
        if application not in known:
            mend = f"use one of: {listed(known)}"
            yield case.fault(path, "unknown_application", "there is no such application", mend, application)
        try:
            parse_range(text)
        except ValueError as problem:
            mend = "write comparators such as >=2021.3,<6001"
            yield case.fault(path, "bad_range", f"this is no version range: {problem}", mend, text)
    used = {case.applications[name] for name in case.nodes} & set(known) - {CONTROL}
    for application in sorted(used - case.graph.compatibility.keys()):
        yield case.fault(
            ("compatibility",),
            "missing_range",
            "the graph uses an application without saying in which versions",
            f"add a range, such as {application}: '>=1,<2'",
            application,
        )


def inputs(case: Case) -> Iterator[Fault]:
    """Inputs can be named in a ticket's block, and their limits can be met and kept."""
    for name, field in case.graph.inputs.items():
        path = ("inputs", name)
        if not _INPUT.fullmatch(name) or name == MARKER:
            yield case.fault(
                path,
                "bad_input_name",
                "a ticket's block cannot have such a key",
                f"use small letters, digits and underscores, and not {MARKER!r}",
                name,
            )
        if field.type not in TEXTUAL:
            for limit in sorted({"pattern", "min_length", "max_length"} & field.model_fields_set):
                yield case.fault(
                    (*path, limit),
                    "idle_limit",
                    f"{limit!r} means nothing for an input of type {field.type}",
                    "remove it",
                    str(getattr(field, limit)),
                )
            continue
        if field.min_length > field.max_length:
            yield case.fault(
                (*path, "min_length"),
                "empty_limits",
                f"no text has {field.min_length} characters or more and {field.max_length} or less",
                "mend one of the two",
                str(field.min_length),
            )
        if field.pattern is not None and (problem := pattern_problem(field.pattern, field.max_length)):
            yield case.fault((*path, "pattern"), "bad_pattern", problem[0], problem[1], field.pattern)


RULES = (size, owners, compatibility, inputs)
