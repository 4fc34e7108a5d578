"""The references around one asset: what it needs and what needs it, as far as asked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fabric_dagster.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from resources.unity.index.project import ProjectIndex

META = ".meta"


@dataclass
class Neighbourhood:
    """Assets around ``asset``: distance → paths, and the edges between them (user → used)."""

    asset: str
    #: 1 is what refers to it, 2 what refers to those, …
    users: dict[int, list[str]] = field(default_factory=dict)
    #: 1 is what it refers to, …
    needs: dict[int, list[str]] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    #: GUIDs that it refers to and that are no asset of the project, with their class
    outside: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "asset": self.asset,
            "users": {str(depth): paths for depth, paths in self.users.items()},
            "needs": {str(depth): paths for depth, paths in self.needs.items()},
            "edges": [list(edge) for edge in self.edges],
            "outside": self.outside,
        }


class References:
    """The project's references as a graph of assets: an asset and its ``.meta`` are one."""

    def __init__(self, index: ProjectIndex, known: Mapping[str, str] | None = None) -> None:
        self.index = index
        self._known = known

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """Asset → the assets that it refers to."""
        found: dict[str, set[str]] = defaultdict(set)
        for use in self.index.uses:
            user = use.path.removesuffix(META)
            for asset in self.index.assets.get(use.guid, ()):
                if asset != user:
                    found[user].add(asset)
        return {user: frozenset(assets) for user, assets in found.items()}

    @cached_property
    def users(self) -> Mapping[str, frozenset[str]]:
        """Asset → the assets that refer to it."""
        found: dict[str, set[str]] = defaultdict(set)
        for user, assets in self.needs.items():
            for asset in assets:
                found[asset].add(user)
        return {asset: frozenset(users) for asset, users in found.items()}

    def around(self, asset: str, depth: int = 2) -> Neighbourhood:
        """What lies within ``depth`` references of ``asset``; ``UsageFault`` where there is no such asset."""
        if asset not in self.index.guids:
            name = asset.rpartition("/")[2].casefold()
            near = [path for path in self.index.guids if path.rpartition("/")[2].casefold() == name]
            raise UsageFault(
                "unity.asset_missing",
                "there is no such asset",
                where=asset,
                mend=f"did you mean {', '.join(sorted(near)[:3])}?" if near else "give its path from Assets/",
            )
        found = Neighbourhood(asset)
        found.users = _layers(asset, self.users, depth)
        found.needs = _layers(asset, self.needs, depth)
        shown = {asset}.union(*found.users.values(), *found.needs.values())
        found.edges = sorted(
            (user, used) for user in shown for used in self.needs.get(user, ()) if used in shown
        )
        for path in (asset, asset + META):
            for use in self.index.uses_in(path):
                kind = self.index.classify(use.guid, self._known)
                if kind != "project":
                    found.outside[use.guid] = kind
        return found


def _layers(asset: str, edges: Mapping[str, Iterable[str]], depth: int) -> dict[int, list[str]]:
    seen, layers, edge = {asset}, {}, {asset}
    for distance in range(1, depth + 1):
        edge = {other for path in edge for other in edges.get(path, ())} - seen
        if not edge:
            break
        seen |= edge
        layers[distance] = sorted(edge)
    return layers
