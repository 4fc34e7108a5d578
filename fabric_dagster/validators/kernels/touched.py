"""What of a project differs from before the run, and what of it is a text that holds references."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from fabric_dagster.validators.kernels.derive import project_tree
from fabric_dagster.validators.kernels.project import SERIALIZED, Tree, guid_of

if TYPE_CHECKING:
    from fabric_dagster.validators.view import EvidenceView

META = ".meta"
#: beside the serialized files, what else holds another asset's GUID
OTHERS = frozenset({".asmdef", ".asmref", ".spriteatlasv2", ".shadergraph", ".shadersubgraph", ".vfx"})


@dataclass(frozen=True)
class Touched:
    """Paths that are new, that changed, and that are gone; each sorted."""

    tree: Tree
    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def present(self) -> tuple[str, ...]:
        """What is new or changed."""
        return tuple(sorted((*self.new, *self.changed)))

    def metas(self, suffixes: frozenset[str] | None = None) -> list[str]:
        """The assets whose ``.meta`` or bytes are new or changed, of these suffixes."""
        assets = {path.removesuffix(META) for path in self.present}
        return sorted(
            asset
            for asset in assets
            if f"{asset}{META}" in self.tree.files
            and (suffixes is None or PurePosixPath(asset).suffix.lower() in suffixes)
        )


def touched(view: EvidenceView) -> Touched:
    """What differs between the tree now and the manifest taken before the run."""
    tree, before = project_tree(view), view.manifest
    return Touched(
        tree,
        tuple(sorted(tree.files.keys() - before.keys())),
        tuple(sorted(path for path in tree.files.keys() & before.keys() if tree.files[path] != before[path])),
        tuple(sorted(before.keys() - tree.files.keys())),
    )


def guid_before(view: EvidenceView, asset: str) -> str | None:
    """The GUID that an asset had before the run; ``None`` where it had no ``.meta``."""
    if f"{asset}{META}" not in view.manifest:
        return None
    actual = view.before(f"{asset}{META}")
    return None if actual is None else guid_of(actual.data)


def holds_references(path: str) -> bool:
    """Whether a file may hold another asset's GUID."""
    suffix = PurePosixPath(path).suffix.lower()
    return suffix == META or suffix in SERIALIZED or suffix in OTHERS
