"""A running editor behind an MCP server, through the official SDK: a second route beside our own package.

Rules kept here:

* A closed table: a method of ours → one tool and one fixed shape of arguments. No tool is called whose name
  comes from a plan, none that runs code, a menu item, a script or several calls at once.
* Loopback alone, no proxy. The tool must be there with the arguments that are meant before it is called.
* The very editor: it is chosen by the hash of the project's path, in the connection that asks it.
* What mutates is recorded before it is sent and never sent again; a connection that ends afterwards leaves it
  uncertain. A reply is no proof: the provider reads the files again.

The tools are CoplayDev/unity-mcp's, read at ``bd72241a``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import urlsplit

from fabric_dagster.digests import digest_of
from fabric_dagster.errors import FabricError, NeedsPerson, OperationFailed, UsageFault
from resources.unity.live.looks import LOOKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.client import Client

    from resources.requests import RequestLedger
    from resources.unity.project import Project

HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SELECT: Final = "set_active_instance"
#: what such an editor can tell of an asset; the rest of a look is not asked
TELLS: Final = frozenset({"guid", "imported"})


@dataclass(frozen=True, slots=True)
class Tool:
    """One allowed call. ``shape`` makes its arguments, ``read`` the facts of its reply's ``data``."""

    name: str
    shape: Callable[[Mapping[str, Any]], dict[str, Any]]
    read: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, str]]
    mutates: bool = False


def _scenes(args: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, str]:
    """Refuse what the editor has open, as ``Hold.cs`` does."""
    wanted = {str(path).removesuffix(".meta") for path in args["paths"]}
    scenes = data.get("scenes")
    if not isinstance(scenes, list):
        raise OperationFailed("unity.no_session", "the editor does not tell its open scenes")
    for scene in scenes:
        path = str(scene.get("path", "")) if isinstance(scene, dict) else ""
        if path in wanted:
            raise OperationFailed(
                "unity.scene_open",
                f"the editor has this scene open: {path}",
                mend="close the scene in the editor",
            )
    return {"held": "false"}


def _info(_args: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, str]:
    return {"guid": str(data.get("guid", "")), "imported": "yes" if data.get("guid") else "no"}


_LOOK: Final = Tool("manage_asset", lambda args: {"action": "get_info", "path": args["asset"]}, _info)
TOOLS: Final[dict[str, Tool]] = {
    "session.hold": Tool("manage_scene", lambda _args: {"action": "get_loaded_scenes"}, _scenes),
    "session.import": Tool(
        "refresh_unity",
        lambda _args: {"mode": "force", "scope": "assets", "compile": "none", "wait_for_ready": False},
        lambda _args, _data: {},
        mutates=True,
    ),
    **{method: _LOOK for method in LOOKS if method != "unity.delete_asset@1"},
}


class McpSession:
    """``EditorSession``'s part over MCP. ``address`` is asked at each connection: a server may have moved."""

    tells: Final = TELLS

    def __init__(
        self, project: Project, address: Callable[[], str], ledger: RequestLedger, *, seconds: float = 120.0
    ) -> None:
        self._project = project
        self._address = address
        self._ledger = ledger
        self._seconds = seconds
        self._session = secrets.token_hex(16)

    def call(self, method: str, args: Mapping[str, Any], *, partition: str = "") -> dict[str, str]:
        """Ask once; the facts. Raises as ``EditorSession.call`` does."""
        tool = TOOLS.get(method)
        if tool is None:
            raise OperationFailed(
                "capability_unavailable", "the MCP route has no tool for this", value=method,
                mend="use the package, or compare the file alone",
            )  # fmt: skip
        shaped = tool.shape(args)
        url = _loopback(self._address())
        identity = digest_of(
            "fabric.unity-mcp-request.v1",
            {"id": secrets.token_hex(16), "session": self._session, "tool": tool.name, "args": shaped},
        )
        sent = Sent()
        try:
            data = asyncio.run(
                asyncio.wait_for(self._ask(url, tool, shaped, identity, partition, sent), self._seconds)
            )
        except FabricError:
            if sent.recorded and not sent.answered:
                self._lose(identity, method, "it was refused on the way")
            raise
        except Exception as fault:  # noqa: BLE001 - an SDK, its transport and a stranger's server: any may break
            first = _first(fault)
            if isinstance(first, FabricError):
                raise first from None
            why = str(first)[:200] or type(first).__name__
            if sent.recorded and not sent.answered:
                self._lose(identity, method, why)
            raise OperationFailed(
                "unity.no_session", f"the MCP server did not answer: {why}", where=url,
                mend="start the server, open the project's editor, see that it is connected",
            ) from None  # fmt: skip
        facts = tool.read(args, data)
        if tool.mutates:
            self._ledger.move(identity, "complete", {"facts": facts})
        return facts

    async def _ask(
        self, url: str, tool: Tool, shaped: dict[str, Any], identity: str, partition: str, sent: Sent
    ) -> Mapping[str, Any]:
        import httpx2
        from mcp.client import Client
        from mcp.client.streamable_http import streamable_http_client

        # No proxy of the environment: loopback is loopback.
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=self._seconds) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            listed = {item.name: item for item in (await client.list_tools()).tools}
            selected = {"instance": self._instance()}
            for name, arguments in ((SELECT, selected), (tool.name, shaped)):
                known = listed.get(name)
                if known is None or not set(arguments) <= set(known.input_schema.get("properties", {})):
                    raise OperationFailed(
                        "capability_unavailable", "the server has no such tool with these arguments",
                        value=name,
                        mend="use the server at the revision that was read",
                    )  # fmt: skip
            await _called(client, SELECT, selected)
            if tool.mutates:
                self._ledger.record(identity, self._session, tool.name, partition)
                sent.recorded = True
            return await self._answered(client, tool, shaped, identity, sent)

    async def _answered(
        self, client: Client, tool: Tool, shaped: dict[str, Any], identity: str, sent: Sent
    ) -> Mapping[str, Any]:
        try:
            data = await _called(client, tool.name, shaped)
        except _Refusal as fault:
            sent.answered = True
            if tool.mutates:
                # "Not done" is a claim like any other, and this one may have begun: nobody knows.
                self._lose(identity, tool.name, str(fault))
            raise
        sent.answered = True
        return data

    def _instance(self) -> str:
        """The beginning of the project's hash: SHA-1 of ``Application.dataPath``, an address and no seal."""
        path = f"{self._project.root.as_posix()}/Assets"
        return hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()[:8]

    def _lose(self, identity: str, method: str, why: str) -> NoReturn:
        self._ledger.move(identity, "lose", {"why": why})
        raise NeedsPerson(
            "unity.uncertain",
            f"whether the editor did {method} is unknown: {why}",
            where=identity[7:19],
            mend="look at the editor, then run `fabric unity resolve`; it is never sent again",
        )


@dataclass(slots=True)
class Sent:
    """How far a request came: recorded just before it was sent, answered in a form that can be read."""

    recorded: bool = False
    answered: bool = False


class _Refusal(OperationFailed):
    """The server says no."""


async def _called(client: Client, name: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
    """The ``data`` of a successful reply. The session's own call: it answers no question of the server."""
    result = await client.session.call_tool(name, arguments)
    document: Any = result.structured_content
    if not isinstance(document, dict):
        text = "".join(getattr(item, "text", "") for item in result.content)
        try:
            document = json.loads(text)
        except ValueError:
            document = {"success": False, "error": text}
    if isinstance(document.get("result"), dict) and "success" not in document:
        document = document["result"]
    if result.is_error or document.get("success") is not True:
        told = document.get("error") or document.get("message") or "no reason"
        raise _Refusal("unity.no_session", f"{name}: {str(told)[:200]}", mend="see the server's log")
    data = document.get("data")
    return data if isinstance(data, dict) else {}


def _loopback(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in HOSTS or parts.username is not None:
        raise UsageFault(
            "unity.not_loopback", "the MCP server must be on this machine", value=url,
            mend="give an address such as http://127.0.0.1:8080/mcp",
        )  # fmt: skip
    return url


def _first(fault: BaseException) -> BaseException:
    """The first thing that happened, of however many groups of errors."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault
