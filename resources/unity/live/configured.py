"""The live provider as a home configures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resources.unity.live.batch import BatchEditor
from resources.unity.live.provider import LiveUnity

if TYPE_CHECKING:
    from resources.home import Home


def live_unity(home: Home) -> LiveUnity:
    """The provider for the home's project; what needs an editor is served where one is named."""
    config = home.config
    batch = None
    if config.unity_editor is not None:
        batch = BatchEditor((str(home.path / config.unity_editor),), library=home.unity / "library")
    address = config.unity_mcp
    return LiveUnity(
        home.project,
        home.transactions / "unity",
        state=home.unity,
        batch=batch,
        mcp=None if address is None else lambda: address,
    )
