"""The package's sources: they compile against the stubs, and hold nothing that runs what they are sent."""

from __future__ import annotations

import json
import re

from live_plans import SOURCES

from resources.unity.index.guids import patterned, read_guid
from resources.unity.live.looks import LOOKS
from resources.unity.live.mcp_route import TOOLS
from resources.unity.live.package import NAME, SOURCE, tree_files
from resources.unity.operations.base import operations

METHOD = re.compile(r'\{ "([^"]+)", text =>')
#: what would turn text into behaviour, reach the network, or write an asset
FORBIDDEN = (
    "System.Reflection", "Activator", "GetMethod", 'GetType("', "Type.GetType", "Assembly.Load", "CodeDom",
    "Roslyn",
    "Process.Start", "System.Net", "Socket", "HttpListener", "ExecuteMenuItem", "SendMessage", "DllImport",
    "dynamic ", "AssetDatabase.CreateAsset", "AssetDatabase.DeleteAsset", "AssetDatabase.MoveAsset",
    "AssetDatabase.SaveAssets", "SaveScene", "ApplyModifiedProperties", "AddObjectToAsset", "unsafe ",
)  # fmt: skip


def test_the_sources_compile_against_the_stubs(host):
    """With every warning an error: a member that the stubs do not declare is none that is used."""
    assert host


def test_every_operation_has_its_handler_on_both_sides():
    """The closed table in C#, the questions in Python and the registered operations are one set."""
    table = set(METHOD.findall((SOURCE / "Editor/Handlers.cs").read_text(encoding="utf-8")))
    assert {"session.hold", "session.import", "session.release", *LOOKS} == table
    assert set(operations()) == set(LOOKS)
    assert set(TOOLS) <= table


def test_nothing_in_it_runs_text_or_reaches_out():
    """No reflection on names, no evaluation, no network, no process, no writing of assets."""
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert [] == [word for word in FORBIDDEN if word in text], path.name


def test_it_is_for_the_editor_alone_and_every_file_has_its_meta():
    """So that no editor writes one into the folder, which would change its digest."""
    definition = json.loads((SOURCE / "Editor/Forge.FabricToolsmith.asmdef").read_text(encoding="utf-8"))
    assert (["Editor"], False) == (definition["includePlatforms"], definition["autoReferenced"])
    assert NAME == json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))["name"]
    files = tree_files(SOURCE)
    assets = [name for name in files if not name.endswith(".meta")]
    assert [] == [name for name in (*assets, "Editor") if f"{name}.meta" not in files]
    guids = [read_guid(path.read_bytes()) for name, path in files.items() if name.endswith(".meta")]
    assert len(guids) == len(set(guids))
    assert [] == [guid for guid in guids if guid is None or patterned(guid)]
    assert [] == [name for name, path in files.items() if b"\r" in path.read_bytes()]
