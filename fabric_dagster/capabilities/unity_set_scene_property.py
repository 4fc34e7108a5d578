"""``unity.set_scene_property@1``: one property of one object of a scene, by its fileID."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Capability
from fabric_dagster.capabilities.unity_objects import (
    OBJECT_FAILURES,
    OBJECT_POSTCONDITIONS,
    OBJECT_PRECONDITIONS,
    SetObjectProperty,
)
from fabric_dagster.capabilities.unity_shared import failures


class SetSceneProperty(SetObjectProperty):
    """``asset`` is a ``.unity``."""


CAPABILITY = Capability(
    id="unity.set_scene_property@1",
    application="unity",
    summary="Set a property of an object of a scene, or its override on a prefab instance, by fileID.",
    arguments=SetSceneProperty,
    outputs={"asset": "unity_path"},
    effects=frozenset({"unity.serialized.write"}),
    preconditions=OBJECT_PRECONDITIONS,
    postconditions=OBJECT_POSTCONDITIONS,
    failures=failures(*OBJECT_FAILURES),
)
