"""The product's code location with one fault in it: Unity refuses the first picture that it is given.

For ``test_daemon.py`` alone, which names the file that remembers the refusal in ``FABRIC_TEST_REFUSED``.
"""

import os
from pathlib import Path

from fabric_dagster.definitions import defs
from fabric_dagster.errors import OperationFailed
from resources.unity.provider import HeadlessUnity

__all__ = ["defs"]

_plain = HeadlessUnity.stage


def _stage(self, plan, folder):
    refused = Path(os.environ["FABRIC_TEST_REFUSED"])
    if not refused.exists():
        refused.touch()
        raise OperationFailed("unity.dimensions", "the picture is 3 by 3 pixels")
    return _plain(self, plan, folder)


HeadlessUnity.stage = _stage
