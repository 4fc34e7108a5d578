"""The contracts: one file a family; frozen, unknown keys refused, canonical digests.

``documents()`` lists the documents by schema name; ``fabric schema NAME`` prints their JSON Schema.
Contracts hold data and identity, never behaviour: no I/O, no decisions.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabric_dagster.contracts.base import Document


@cache
def documents() -> Mapping[str, type[Document]]:
    """Schema name → document class, for every contract module in this folder."""
    from fabric_dagster.contracts.base import Document  # the package must import without its modules

    found: dict[str, type[Document]] = {}
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Document) and value is not Document:
                found[value.SCHEMA] = value
    return dict(sorted(found.items()))
