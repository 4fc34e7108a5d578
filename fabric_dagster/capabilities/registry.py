"""Every capability that is installed, found by being in this folder.

The registry is read once; it does no I/O beyond importing its own modules.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

import fabric_dagster.capabilities as room
from fabric_dagster.capabilities.base import Capability, FailureCode
from fabric_dagster.capabilities.effects import EFFECTS
from fabric_dagster.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def capabilities() -> Mapping[str, Capability]:
    """Capability id → declaration, sorted by id."""
    found: dict[str, Capability] = {}
    for module in pkgutil.iter_modules(room.__path__):
        declared = getattr(importlib.import_module(f"{room.__name__}.{module.name}"), "CAPABILITY", None)
        if not isinstance(declared, Capability):
            continue
        if declared.id in found or not declared.effects <= EFFECTS.keys():
            msg = f"capability {declared.id} is declared twice or names an unknown effect"
            raise TypeError(msg)
        found[declared.id] = declared
    return dict(sorted(found.items()))


def capability(identifier: str) -> Capability:
    """The declaration of ``identifier``; an unknown one is refused with what there is."""
    try:
        return capabilities()[identifier]
    except KeyError:
        raise InvalidDocument(
            "capability.unknown",
            f"no capability {identifier!r} is registered",
            mend=f"use one of: {', '.join(capabilities())}",
        ) from None


def failure_codes() -> Mapping[str, FailureCode]:
    """Every failure code that a registered capability declares."""
    return {failure.code: failure for item in capabilities().values() for failure in item.failures}
