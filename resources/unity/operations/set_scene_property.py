"""``unity.set_scene_property@1``: see ``objects.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resources.unity.operations.base import UnityOperation
from resources.unity.operations.objects import object_observed, object_subject, set_object_property

if TYPE_CHECKING:
    from fabric_dagster.capabilities.unity_set_scene_property import SetSceneProperty

SUFFIX = ".unity"

OPERATION: UnityOperation[SetSceneProperty] = UnityOperation(
    capability="unity.set_scene_property@1",
    execute=lambda workspace, args: set_object_property(workspace, args, SUFFIX),
    observe=object_observed,
    subject=object_subject,
)
