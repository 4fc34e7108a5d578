r"""Find one layer by path or id, or say exactly why not.

A path is names from the top level down, joined by ``/``. Names may hold slashes, dots and anything else:
the path is matched against the tree, never split. In a path, ``\/`` always means a slash within a name
and ``\\`` a backslash; a plain slash may be either. Two layers that the same path fits make it
ambiguous: the error lists them with their ids. Comparison is exact, after Unicode NFC.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import Fault, OperationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from resources.photoshop.document import Document, Layer

SHOWN_CANDIDATES = 8
#: spellings of one path that are looked at; each name with a slash on the way doubles them
MOST_FORMS = 64


def escape(name: str) -> str:
    """A name as a path's part that can be read in one way only."""
    return name.replace("\\", "\\\\").replace("/", "\\/")


def path_of(layer: Layer) -> str:
    """The escaped path of a layer."""
    return "/".join(map(escape, layer.names))


def matches(document: Document, path: str) -> list[Layer]:
    """Every layer that ``path`` fits, in panel order."""
    wanted = unicodedata.normalize("NFC", path)
    found: dict[int, Layer] = {}
    _match(document.roots, wanted, found)
    return [layer for layer in document.walk() if layer.index in found]


def _match(siblings: Iterable[Layer], wanted: str, found: dict[int, Layer]) -> None:
    for layer in siblings:
        for form in {layer.name, escape(layer.name)}:
            if wanted == form:
                found[layer.index] = layer
            elif layer.children and wanted.startswith(form + "/"):
                _match(layer.children, wanted[len(form) + 1 :], found)


def ambiguous(document: Document) -> set[int]:
    """Indices of the layers whose escaped path fits another layer too: those need their id."""
    fits: dict[str, set[int]] = {}

    def note(siblings: Iterable[Layer], above: tuple[str, ...]) -> None:
        for layer in siblings:
            forms = {layer.name, escape(layer.name)}
            here = tuple(f"{head}/{form}" if head else form for head in above for form in forms)
            here = here[:MOST_FORMS]
            for path in here:
                fits.setdefault(path, set()).add(layer.index)
            note(layer.children, here)

    note(document.roots, ("",))
    return {layer.index for layer in document.walk() if len(fits.get(path_of(layer), ())) != 1}


def resolve(document: Document, address: Mapping[str, Any], where: str = "layer") -> Layer:
    """The one layer that ``address`` (``{"path": …}`` or ``{"id": …}``) names.

    Raises ``OperationFailed``: ``photoshop.layer_not_found`` or ``photoshop.layer_ambiguous``.
    """
    found, fault = _look(document, address, where)
    if fault is not None:
        raise OperationFailed.of([fault])
    return found[0]


def resolve_roles(document: Document, roles: Mapping[str, str | int | Mapping[str, Any]]) -> dict[str, Layer]:
    """Role → layer. A role names a path (text), an id (number) or an address.

    Raises ``OperationFailed`` with every missing, ambiguous and doubly used role at once.
    """
    found: dict[str, Layer] = {}
    faults: list[Fault] = []
    for role, wanted in roles.items():
        if isinstance(wanted, str):
            address: Mapping[str, Any] = {"path": wanted}
        else:
            address = {"id": wanted} if isinstance(wanted, int) else wanted
        layers, fault = _look(document, address, f"role {role}")
        if fault is not None:
            faults.append(fault)
            continue
        found[role] = layers[0]
    owners: dict[int, str] = {}
    for role, layer in found.items():
        first = owners.setdefault(layer.index, role)
        if first != role:
            what = f"roles {first} and {role} name the same layer {path_of(layer)!r}"
            faults.append(
                Fault("photoshop.role_shared", what, f"role {role}", "give each role its own layer")
            )
    if faults:
        raise OperationFailed.of(faults)
    return found


def _look(document: Document, address: Mapping[str, Any], where: str) -> tuple[list[Layer], Fault | None]:
    if "id" in address:
        shown = str(address["id"])
        layers = [layer for layer in document.walk() if layer.id == address["id"]]
    else:
        shown = str(address.get("path", ""))
        layers = matches(document, shown)
    if len(layers) == 1:
        return layers, None
    if layers:
        listed = "; ".join(f"id {layer.id}: {path_of(layer)}" for layer in layers[:SHOWN_CANDIDATES])
        more = len(layers) - SHOWN_CANDIDATES
        tail = f"; and {more} more" if more > 0 else ""
        mend = f"address it by id: {listed}{tail}"
        what = f"{len(layers)} layers fit this address"
        return layers, Fault("photoshop.layer_ambiguous", what, where, mend, shown)
    near = _near(document, shown)
    mend = f"did you mean {near}?" if near else "list the layers with `fabric photoshop inspect`"
    return [], Fault("photoshop.layer_not_found", "no layer fits this address", where, mend, shown)


def _near(document: Document, shown: str) -> str:
    import difflib

    paths = [path_of(layer) for layer in document.walk()]
    close = difflib.get_close_matches(shown, paths, n=2, cutoff=0.5)
    same_name = [path for path in paths if path.split("/")[-1] == shown and path not in close]
    return " or ".join(repr(path) for path in [*close, *same_name[:2]])
