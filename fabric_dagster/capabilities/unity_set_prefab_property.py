"""``unity.set_prefab_property@1``: a property of an object of a prefab or variant, by its fileID."""

from __future__ import annotations

from fabric_dagster.capabilities.base import Capability
from fabric_dagster.capabilities.unity_objects import (
    OBJECT_FAILURES,
    OBJECT_POSTCONDITIONS,
    OBJECT_PRECONDITIONS,
    SetObjectProperty,
)
from fabric_dagster.capabilities.unity_shared import failures


class SetPrefabProperty(SetObjectProperty):
    """``asset`` is a ``.prefab``."""


CAPABILITY = Capability(
    id="unity.set_prefab_property@1",
    application="unity",
    summary="Set a property of an object of a prefab, or its override on a prefab instance, by fileID.",
    arguments=SetPrefabProperty,
    outputs={"asset": "unity_path"},
    effects=frozenset({"unity.serialized.write"}),
    preconditions=OBJECT_PRECONDITIONS,
    postconditions=OBJECT_POSTCONDITIONS,
    failures=failures(*OBJECT_FAILURES),
)
