"""An MCP server with the tools of CoplayDev/unity-mcp that are used, and one that never may be.

Run as a program: ``fake_mcp.py PORT PROJECT FOLDER``. A file in FOLDER says how it misbehaves; every call
is a line of ``calls.jsonl`` there.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

PORT, PROJECT, FOLDER = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
server = MCPServer("fake unity")


def says(what):
    """Whether it is told to misbehave so."""
    return (FOLDER / what).exists()


def noted(tool, **given):
    """Keep the call."""
    with (FOLDER / "calls.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": tool, **given}) + "\n")


@server.tool()
def set_active_instance(instance: str) -> dict:
    """Choose an editor by the beginning of its hash."""
    noted("set_active_instance", instance=instance)
    mine = hashlib.sha1(f"{PROJECT.as_posix()}/Assets".encode(), usedforsecurity=False).hexdigest()
    if says("another_project") or not mine.startswith(instance):
        return {
            "success": False,
            "error": f"Instance hash '{instance}' does not match any running Unity editors.",
        }
    return {"success": True, "data": {"instance": f"x@{mine[:16]}"}}


@server.tool()
def manage_scene(action: str) -> dict:
    """Only what is read is played."""
    noted("manage_scene", action=action)
    scene = (FOLDER / "scene").read_text(encoding="utf-8").strip() if says("scene") else "Assets/Other.unity"
    return {"success": True, "data": {"scenes": [{"path": scene, "isDirty": False}]}}


@server.tool()
def refresh_unity(
    mode: str = "if_dirty",
    scope: str = "all",
    compile: str = "none",  # noqa: A002 - the tool's own name for it
    wait_for_ready: bool = True,
) -> dict:
    """Import what changed."""
    noted("refresh_unity", mode=mode, scope=scope, compile=compile, wait_for_ready=wait_for_ready)
    if says("drops"):
        os._exit(1)
    if says("refuses"):
        return {"success": False, "error": "reloading"}
    if says("postprocessor"):
        for meta in (PROJECT / "Assets/Art").rglob("new.png.meta"):
            meta.write_bytes(meta.read_bytes() + b"# rewritten\n")
    return {"success": True, "data": {}}


@server.tool()
def manage_asset(action: str, path: str) -> dict:
    """What the editor knows of an asset."""
    noted("manage_asset", action=action, path=path)
    meta = PROJECT / f"{path}.meta"
    if not meta.exists():
        return {"success": False, "error": "no such asset"}
    guid = next(line[6:] for line in meta.read_text("utf-8").splitlines() if line.startswith("guid: "))
    return {"success": True, "data": {"guid": "0" * 32 if says("lies") else guid, "path": path}}


@server.tool()
def execute_code(code: str) -> dict:
    """Never to be called."""
    noted("execute_code", code=code)
    return {"success": True}


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=PORT)
