"""One bridge a process, so that the plugin stays connected from step to step."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path

from resources.photoshop.uxp.bridge import Bridge

#: the connection's folder within a home
FOLDER = "photoshop"


@cache
def shared_bridge(folder: Path) -> Bridge:
    """The bridge over the connection in ``folder``; it listens from the first stage on."""
    made = Bridge(folder)
    atexit.register(made.close)
    return made
