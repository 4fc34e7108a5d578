"""``unity.build_player@1``: a player of the enabled scenes, in an editor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabric_dagster.capabilities.base import Arguments, Capability, FailureCode
from fabric_dagster.capabilities.unity_editor import EDITOR_FAILURES


class BuildPlayer(Arguments):
    """``name`` is the name of the executable, archive or folder that Unity writes."""

    target: Literal["StandaloneWindows64", "StandaloneLinux64", "StandaloneOSX", "Android", "iOS", "WebGL"]
    name: str = Field("player", pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")
    development: bool = False


CAPABILITY = Capability(
    id="unity.build_player@1",
    application="unity",
    summary="Build a player in a batch editor, on a copy; the build report decides, the files are hashed.",
    arguments=BuildPlayer,
    outputs={"report": "unity_report", "player": "file"},
    effects=frozenset({"unity.editor.run", "unity.player.write"}),
    preconditions=("an editor of the project's version is configured", "no file edit follows in the plan"),
    postconditions=(
        "the build report says that it succeeded and counts no error",
        "what it says it wrote is there",
        "the editor left every file that the plan changes as it was staged",
    ),
    failures=(
        *EDITOR_FAILURES,
        FailureCode("unity.build_failed", "pack", False, "see the errors of the build report"),
        FailureCode("unity.compile_failed", "pack", False, "mend the scripts that the failure names"),
    ),
)
