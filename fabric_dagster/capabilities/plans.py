"""Read a hand-written plan: strict JSON, every operation's arguments checked, every fault at once.

A fault's ``where`` is the file and the JSON path (``operations[1].args.layer``). Nothing is coerced; a
duplicate key is a fault, since the second would silently win.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import ValidationError

from fabric_dagster.capabilities.registry import capabilities
from fabric_dagster.contracts.physical_plan import PhysicalPlan
from fabric_dagster.errors import Fault, InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic_core import ErrorDetails

    from fabric_dagster.capabilities.base import Arguments

LARGEST = 4 << 20
MOST_OPERATIONS = 1000
#: what pydantic calls the plain alternatives of a union
ALTERNATIVES = frozenset({"str", "int", "bool", "float", "none", "list", "dict"})
#: how pydantic calls what people know as an object
OBJECT = re.compile(r"a valid dictionary or instance of \w+")
SCHEMA_MEND = "see `fabric schema fabric.physical-plan.v1`"


def read_plan(data: bytes, application: str, where: str) -> tuple[PhysicalPlan, tuple[Arguments, ...]]:
    """The plan in ``data`` for ``application`` and the typed arguments of its operations, in order.

    Raises ``InvalidDocument`` with all faults; ``where`` names the file.
    """
    document = _json(data, where)
    try:
        plan = PhysicalPlan.model_validate(document)
    except ValidationError as error:
        raise InvalidDocument.of(_faults(error, where, "", "plan.invalid", SCHEMA_MEND)) from None
    faults: list[Fault] = []
    if plan.application != application:
        what = f"this plan is for {plan.application}, not {application}"
        faults.append(Fault("plan.wrong_application", what, f"{where}: application", value=plan.application))
    if len(plan.operations) > MOST_OPERATIONS:
        what = f"a plan has at most {MOST_OPERATIONS} operations"
        mend = "write several plans"
        raise InvalidDocument(
            "plan.too_large", what, where=f"{where}: operations", mend=mend, value=str(len(plan.operations))
        )
    typed: list[Arguments] = []
    for number, operation in enumerate(plan.operations):
        place = f"operations[{number}]"
        declared = capabilities().get(operation.capability)
        if declared is None or declared.application != plan.application:
            mine = [c.id for c in capabilities().values() if c.application == plan.application]
            what = "no such capability of this application is registered"
            mend = f"use one of: {', '.join(mine)}"
            at = f"{where}: {place}.capability"
            faults.append(Fault("plan.unknown_capability", what, at, mend, operation.capability))
            continue
        try:
            typed.append(declared.arguments.model_validate(operation.args))
        except ValidationError as error:
            mend = f"see `fabric schema {declared.id}`"
            faults += _faults(error, where, f"{place}.args", "plan.bad_argument", mend)
    if faults:
        raise InvalidDocument.of(faults)
    return plan, tuple(typed)


def _json(data: bytes, where: str) -> Any:  # noqa: ANN401 - any JSON value
    if len(data) > LARGEST:
        raise InvalidDocument("plan.too_large", f"a plan has at most {LARGEST} bytes", where=where)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in items:
            if key in found:
                raise InvalidDocument(
                    "plan.duplicate_key", "a key stands twice in one object", where=where, value=key
                )
            found[key] = value
        return found

    def refuse(word: str) -> NoReturn:
        raise InvalidDocument("plan.not_json", f"{word} is no JSON number", where=where)

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=refuse)
    except json.JSONDecodeError as error:
        at = f"{where}:{error.lineno}"
        raise InvalidDocument("plan.not_json", f"this is no JSON: {error.msg}", where=at) from None
    except (UnicodeDecodeError, RecursionError):
        raise InvalidDocument("plan.not_json", "this is no JSON in UTF-8", where=where) from None
    except ValueError:
        # Python refuses to read integers of thousands of digits.
        raise InvalidDocument("plan.not_json", "a number is too long to be read", where=where) from None


def _faults(error: ValidationError, where: str, prefix: str, code: str, mend: str) -> list[Fault]:
    found: dict[str, list[Fault]] = {}
    for item in _likeliest(error):
        path = prefix + "".join(_parts(item["loc"]))
        value = item.get("input")
        missing = item["type"] == "missing"
        what = "this key is missing" if missing else item["msg"].removeprefix("Value error, ")
        what = OBJECT.sub("an object", what)
        if item["type"] == "extra_forbidden":
            what = "this key is unknown"
        shown = None if missing else value if isinstance(value, str) else json.dumps(value, default=str)
        place = f"{where}: {path.removeprefix('.') or 'the document'}"
        found.setdefault(path, []).append(Fault(code, what[:1].lower() + what[1:], place, mend, shown))
    return [_one(faults) for faults in found.values()]


def _likeliest(error: ValidationError) -> list[ErrorDetails]:
    """The complaints, of a union only those of the alternative that the value is nearest to.

    An object that is nearly a reference is told what it lacks as a reference, not as everything else that
    might stand there.
    """
    items = error.errors(include_url=False)
    inside: dict[tuple[int | str, ...], dict[str, list[int]]] = {}
    for number, item in enumerate(items):
        for depth, part in enumerate(item["loc"]):
            if isinstance(part, str) and _alternative(part):
                inside.setdefault(item["loc"][:depth], {}).setdefault(part, []).append(number)
                break
    dropped: set[int] = set()
    for base, alternatives in inside.items():
        deep = {
            name: numbers
            for name, numbers in alternatives.items()
            if any(len(items[n]["loc"]) > len(base) + 1 for n in numbers)
        }
        if deep:
            nearest = min(deep, key=lambda name: len(deep[name]))
            dropped |= {n for name, numbers in alternatives.items() if name != nearest for n in numbers}
    return [item for number, item in enumerate(items) if number not in dropped]


def _one(faults: list[Fault]) -> Fault:
    """One fault of all that is said of one place."""
    first = faults[0]
    said = list(dict.fromkeys(fault.what.removeprefix("input should be ") for fault in faults))
    what = first.what if len(said) == 1 else f"input should be {' or '.join(said)}"
    return Fault(first.code, what, first.where, first.mend, first.value)


def _alternative(part: str) -> bool:
    """Whether a part of a location is the name that a union's alternative has."""
    return part in ALTERNATIVES or "[" in part or part[:1].isupper()


def _parts(location: Iterable[int | str]) -> Iterator[str]:
    """Keys and indices of a location, without the names that it has for a union's alternatives."""
    for part in location:
        if isinstance(part, int):
            yield f"[{part}]"
        elif not _alternative(part):
            yield f".{part}"
