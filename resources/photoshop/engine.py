"""What the worker can be asked for: the methods behind the pipe.

Each takes JSON parameters and the limits, and returns JSON. Files are named by path; sources are opened
read-only, results go where the parent says (a private folder of its own).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import InvalidDocument
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits

METHODS: Final = {"ping": "ping", "inspect": "inspect_file"}


def warm_up() -> None:
    """Import what requests need, before the memory limit is set."""
    import cv2
    import numpy as np
    import psd_tools
    from PIL import ImageCms

    from resources.photoshop import parsed

    _ = (np, psd_tools, ImageCms, parsed.load(b""))
    cv2.setNumThreads(1)


def ping(limits: Limits) -> dict[str, Any]:
    """Proof of life."""
    return {"pixels": limits.pixels}


def read(path: str, limits: Limits) -> bytes:
    """The bytes of a source, unless it is larger than allowed."""
    size = Path(path).stat().st_size
    if size > limits.file_bytes:
        raise InvalidDocument(
            "psd.too_large", f"the file has {size} bytes, the limit is {limits.file_bytes}", where=path
        )
    return Path(path).read_bytes()


def inspect_file(path: str, limits: Limits) -> dict[str, Any]:
    """The semantic document of a file, with its digest."""
    from resources.photoshop.inspect import inspect

    data = read(path, limits)
    return {"digest": digest_bytes(data), **inspect(parse(data, limits), data)}
