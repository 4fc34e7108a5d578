"""The closed list of what the plugin can be asked: a method a capability, three a partition, inspection.

Rules kept here: a method's name is the capability's id and its arguments are the capability's own model;
nothing takes script, a descriptor or a method name. Paths in arguments are plan paths: the plugin may read
only what ``partition.begin`` lists and write only under its folder. What is ``read_only`` may be asked at
any time, also while a request is uncertain; everything else is recorded before it is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import Field

from fabric_dagster.capabilities.registry import capability
from fabric_dagster.contracts.base import Contract

PROTOCOL: Final = "fabric.photoshop-uxp.v1"
#: Bytes of one message, either way.
MOST_BYTES: Final = 1 << 20
#: Seconds that an operation, and a save, may take before its completion is unknown.
OPERATION_SECONDS: Final = 300.0
SAVE_SECONDS: Final = 900.0
INSPECTION_SECONDS: Final = 30.0

OPEN: Final = "photoshop.open_duplicate@1"
REPLACE: Final = "photoshop.replace_smart_object@1"
VISIBILITY: Final = "photoshop.set_visibility@1"
EXPORT: Final = "photoshop.export_png@1"
TEXT: Final = "photoshop.set_text@1"
COMP: Final = "photoshop.apply_layer_comp@1"
MOVE: Final = "photoshop.move_layer@1"
BEGIN: Final = "partition.begin"
FINISH: Final = "partition.finish"
ABANDON: Final = "partition.abandon"
HOST: Final = "inspect.host"
DOCUMENTS: Final = "inspect.documents"
REQUESTS: Final = "inspect.requests"

_SHORT = Field(max_length=1024)
_COUNT = Field(ge=0, le=2**53 - 1)


class Begin(Contract):
    """``folder`` and the values of ``sources`` (plan path → file) are absolute, with forward slashes."""

    partition: str = Field(pattern=r"^[0-9a-f]{32}$")
    folder: str = Field(min_length=1, max_length=4096)
    sources: dict[str, str] = Field(default_factory=dict)


class Named(Contract):
    """One partition, by the name that it began with."""

    partition: str = Field(pattern=r"^[0-9a-f]{32}$")


class Nothing(Contract):
    """No arguments, or no answer but that it is done."""


class Opened(Contract):
    """A duplicate that is open: its size in pixels."""

    width: int = _COUNT
    height: int = _COUNT


class Layer(Contract):
    """The layer that was worked on: ``id`` is what it has now, ``was`` what it had before."""

    layer: str = Field(max_length=4096)
    id: int = _COUNT
    was: int = _COUNT


class Comp(Contract):
    """The layer comp that was applied."""

    comp: str = Field(max_length=4096)
    id: int = _COUNT


class Exported(Contract):
    """A picture that was saved; ``left`` and ``top`` are where it was cut from the canvas."""

    width: int = _COUNT
    height: int = _COUNT
    left: int
    top: int


class Saved(Contract):
    """Paths under the partition's folder that were saved."""

    saved: tuple[str, ...] = Field(strict=False, max_length=256)


class Host(Contract):
    """What Photoshop is and does now."""

    application: str = _SHORT
    version: str = _SHORT
    plugin: str = _SHORT
    documents: int = _COUNT
    modal: bool
    fonts: int = _COUNT


class OpenDocument(Contract):
    """One document that is open in Photoshop."""

    id: int = _COUNT
    name: str = _SHORT
    ours: bool
    saved: bool


class OpenDocuments(Contract):
    """All of them."""

    documents: tuple[OpenDocument, ...] = Field(strict=False)


class Remembered(Contract):
    """A request as the plugin remembers it, for as long as it is loaded."""

    identity: str = _SHORT
    method: str = _SHORT
    state: str = Field(pattern=r"^(running|completed|failed)$")


class RememberedRequests(Contract):
    """The newest of them, oldest first."""

    requests: tuple[Remembered, ...] = Field(strict=False, max_length=256)


@dataclass(frozen=True, slots=True)
class Method:
    """One entry of the list."""

    name: str
    arguments: type[Contract]
    result: type[Contract]
    read_only: bool
    seconds: float


def _operation(name: str, result: type[Contract]) -> Method:
    return Method(name, capability(name).arguments, result, read_only=False, seconds=OPERATION_SECONDS)


def _inspection(name: str, result: type[Contract]) -> Method:
    return Method(name, Nothing, result, read_only=True, seconds=INSPECTION_SECONDS)


#: what a plan may name, in this provider
OPERATIONS: Final = {
    item.name: item
    for item in (
        _operation(OPEN, Opened),
        _operation(REPLACE, Layer),
        _operation(VISIBILITY, Layer),
        _operation(TEXT, Layer),
        _operation(MOVE, Layer),
        _operation(COMP, Comp),
        _operation(EXPORT, Exported),
    )
}

METHODS: Final = {
    **OPERATIONS,
    BEGIN: Method(BEGIN, Begin, Nothing, read_only=False, seconds=INSPECTION_SECONDS),
    FINISH: Method(FINISH, Named, Saved, read_only=False, seconds=SAVE_SECONDS),
    ABANDON: Method(ABANDON, Named, Nothing, read_only=False, seconds=INSPECTION_SECONDS),
    HOST: _inspection(HOST, Host),
    DOCUMENTS: _inspection(DOCUMENTS, OpenDocuments),
    REQUESTS: _inspection(REQUESTS, RememberedRequests),
}
