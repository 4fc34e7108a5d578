"""The component that compiles every pack folder: add a folder, never edit Python."""

from pathlib import Path

import dagster as dg

from assets.factory import workflow_assets, workflow_checks
from assets.specs import intake_spec
from assets.templates import template_assets
from fabric_dagster.errors import InvalidDocument
from fabric_dagster.supervisor.workflows import each_pack


class PacksComponent(dg.Component, dg.Model, dg.Resolvable):
    """Compiles the Skill Graphs of every Expert Pack in a folder into assets, checks and source assets.

    Each pack is a folder with a ``pack.yaml`` (``fabric.expert-pack.v1``) and ``graphs/*.yaml``
    (``fabric.skill-graph.v1``). Every fault of every file is reported at once, with its file and line.
    """

    folder: str = "packs"
    """The folder of packs, relative to the project's root."""

    pools: bool = True
    """Whether sealed partitions and checks take a pool's slot; in-process runs are fenced by locks."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions of every workflow in the folder."""
        return packs_definitions(Path(context.project_root) / self.folder, pools=self.pools)


def packs_definitions(folder: Path, *, pools: bool) -> dg.Definitions:
    """Every workflow in ``folder`` as definitions."""
    assets: list[dg.AssetSpec | dg.AssetsDefinition | dg.SourceAsset] = [intake_spec()]
    checks: list[dg.AssetChecksDefinition] = []
    try:
        for pack, graphs in each_pack([folder]):
            if graphs:
                assets += template_assets(pack)
            for graph in graphs:
                assets += workflow_assets(pack, graph, pools=pools)
                checks += workflow_checks(graph, pools=pools)
    except InvalidDocument as fault:
        raise dg.DagsterInvalidDefinitionError("\n" + "\n".join(map(str, fault.faults))) from None
    return dg.Definitions(assets=assets, asset_checks=checks)
