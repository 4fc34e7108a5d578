"""Makes a pack's graph executable in a demo home, act by act, each by its own identity.

    python docs/tutorial/commission.py CreateOfferBadge@1 Assets/Art/Badges Assets/Data/Offers/

The words after the graph are the paths under the project that its runs may write to. It does what
``fabric demo`` does for the sample pack: one person holds every key, so the commission is marked as a
demo's and holds in this home only.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fabric_dagster.errors import FabricError
from resources.home import Home
from resources.supervision.assembly import hall as open_hall
from resources.supervision.demonstration import make_executable


def main(graph: str, writes: list[str]) -> None:
    """Qualify, have it reviewed, certify, commission."""
    hall = open_hall(Home.find(None).require().path)
    make_executable(hall, hall.workflow(graph), print, tuple(writes))


if __name__ == "__main__":
    if len(sys.argv) < 3:  # noqa: PLR2004 - the graph and at least one path
        sys.exit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2:])
    except FabricError as fault:
        sys.exit(str(fault))
