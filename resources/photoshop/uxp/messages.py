"""JSON-RPC 2.0 as it goes over the socket: what may be sent, and what may come back.

Rules kept here: every frame is validated against its model, unknown keys refused; a failure carries one of
the registered failure codes; its text is for people and decides nothing.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from fabric_dagster.contracts.base import Contract, Digest
from fabric_dagster.errors import CheckFailed, OperationFailed
from resources.photoshop.uxp.methods import MOST_BYTES, PROTOCOL

VERSION: Final = "2.0"
_HEX = r"^[0-9a-f]{64}$"

#: every code that the plugin may answer with; all of them are registered
PLUGIN_FAILURES: Final = (
    "capability_unavailable",
    "photoshop.busy",
    "photoshop.cancelled",
    "photoshop.comp_ambiguous",
    "photoshop.comp_not_found",
    "photoshop.contents_format",
    "photoshop.file_unavailable",
    "photoshop.font_missing",
    "photoshop.host_failed",
    "photoshop.layer_ambiguous",
    "photoshop.layer_kind",
    "photoshop.layer_locked",
    "photoshop.layer_not_found",
    "photoshop.linked_object",
    "photoshop.no_document",
    "photoshop.not_a_smart_object",
    "photoshop.nothing_visible",
    "photoshop.output_twice",
    "photoshop.profile_unsupported",
    "photoshop.quad_unsupported",
    "photoshop.request_refused",
    "photoshop.save_failed",
    "photoshop.smart_filters",
)


class Rpc(Contract):
    """Base of all frames."""

    jsonrpc: Literal["2.0"] = "2.0"


class Challenge(Contract):
    """Our half of the handshake: what we speak, and a nonce."""

    protocol: str = PROTOCOL
    schema_: Digest = Field(alias="schema")
    nonce: str = Field(pattern=_HEX)


class Proof(Contract):
    """The plugin's half: it knows the token, and says what it is."""

    schema_: Digest = Field(alias="schema")
    nonce: str = Field(pattern=_HEX)
    proof: str = Field(pattern=_HEX)
    plugin: str = Field(max_length=64)
    application: str = Field(max_length=256)
    version: str = Field(max_length=64)


class ProofFrame(Rpc):
    """The first frame that the plugin sends."""

    method: Literal["session.proof"]
    params: Proof


class Opening(Contract):
    """Our proof that we know the token too. ``session`` follows from both nonces and ends with the socket."""

    session: str = Field(pattern=r"^[0-9a-f]{32}$")
    signature: str = Field(pattern=_HEX)


class RequestParams(Contract):
    """``identity`` is the request's own for ever."""

    session: str
    identity: Digest
    arguments: dict[str, Any]


class Request(Rpc):
    """One request of ours. ``id`` is ``SESSION-NUMBER``, rising."""

    id: str
    method: str
    params: RequestParams


class About(Contract):
    """Which request a notification is about."""

    id: str = Field(max_length=80)


class Accepted(Rpc):
    """The plugin has taken a request up; it may have an effect from here on."""

    method: Literal["accepted"]
    params: About


class Result(Rpc):
    """Done; ``result`` is the method's."""

    id: str = Field(max_length=80)
    result: dict[str, Any]


class FailureData(Contract):
    """A typed failure. ``rolled_back``: nothing of the request is left in Photoshop or in the stage."""

    code: str = Field(max_length=80)
    where: str = Field(default="", max_length=1024)
    mend: str = Field(default="", max_length=2048)
    rolled_back: bool


class Failure(Contract):
    """JSON-RPC's error object."""

    code: int
    message: str = Field(max_length=4096)
    data: FailureData


class Failed(Rpc):
    """Not done."""

    id: str = Field(max_length=80)
    error: Failure


Incoming = Accepted | Result | Failed
_incoming: TypeAdapter[Incoming] = TypeAdapter(Annotated[Incoming, Field(union_mode="smart")])


def encode(frame: Contract) -> str:
    """A frame as text; refuses one that is too large to send."""
    text = json.dumps(frame.body(), ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > MOST_BYTES:
        raise OperationFailed(
            "photoshop.request_refused",
            f"the request is larger than {MOST_BYTES} bytes",
            mend="give shorter arguments",
        )
    return text


def notification(method: str, params: Contract) -> str:
    """A frame of ours that awaits no answer."""
    return json.dumps({"jsonrpc": VERSION, "method": method, "params": params.body()}, separators=(",", ":"))


def decode(text: str | bytes) -> Incoming:
    """A frame of the plugin's. Raises ``CheckFailed`` (``uxp.bad_frame``) for what is none."""
    frame: Incoming = _decoded(text, _incoming.validate_python)
    return frame


def decode_proof(text: str | bytes) -> Proof:
    """The plugin's first frame. Raises ``CheckFailed`` (``uxp.bad_frame``)."""
    frame: ProofFrame = _decoded(text, ProofFrame.model_validate)
    return frame.params


def _decoded(text: str | bytes, validate: Any) -> Any:  # noqa: ANN401 - the model's own type
    if not isinstance(text, str):
        raise CheckFailed("uxp.bad_frame", "the plugin sent bytes where text must be")
    try:
        return validate(json.loads(text))
    except (ValueError, RecursionError) as fault:
        count = fault.error_count() if isinstance(fault, ValidationError) else 1
        raise CheckFailed("uxp.bad_frame", f"the plugin sent a frame with {count} faults") from fault


def failure_of(failed: Failed) -> OperationFailed:
    """The typed failure that the plugin reported; an unregistered code is ``photoshop.host_failed``."""
    data = failed.error.data
    known = data.code in PLUGIN_FAILURES
    return OperationFailed(
        data.code if known else "photoshop.host_failed",
        failed.error.message or "Photoshop could not do it",
        where=data.where,
        mend=data.mend or "look at Photoshop, then run it again",
        value=None if known else data.code,
    )
