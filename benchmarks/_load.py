"""Loads one code location in a process of its own and says what it took, as JSON on standard output.

python benchmarks/_load.py compiled|written FOLDER COUNT
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import dagster as dg

STARTED = time.perf_counter()
MEBIBYTE = 1 << 20


def peak() -> float:
    """The most memory that this process had, in MiB; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / MEBIBYTE if sys.platform == "darwin" else used / 1024


def definitions_of(variant: str, folder: str, count: int) -> dg.Definitions:
    """The code location; what it imports is imported by now."""
    import dagster as dg

    if variant == "written":
        from benchmarks._written import written_definitions

        return written_definitions(count)
    from assets.component import packs_definitions
    from resources.supervision.dagster import FabricResource

    return dg.Definitions.merge(
        packs_definitions(Path(folder), pools=True),
        dg.Definitions(resources={"fabric": FabricResource()}, executor=dg.in_process_executor),
    )


def main(variant: str, folder: str, count: str) -> None:
    """Import, load, and resolve everything that Dagster resolves for a code location."""
    import dagster as dg

    if variant == "compiled":
        importlib.import_module("assets.component")
        importlib.import_module("resources.supervision.dagster")
    else:
        importlib.import_module("benchmarks._written")
    bare, imported = peak(), time.perf_counter()
    definitions = definitions_of(variant, folder, int(count))
    defined = time.perf_counter()
    dg.Definitions.validate_loadable(definitions)
    done = time.perf_counter()
    found = {
        "import_seconds": imported - STARTED,
        "define_seconds": defined - imported,
        "resolve_seconds": done - defined,
        "load_seconds": done - imported,
        "total_seconds": done - STARTED,
        "peak_mib": peak(),
        "import_mib": bare,
        "assets": sum(1 for _ in definitions.resolve_all_asset_keys()),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main(*sys.argv[1:])
