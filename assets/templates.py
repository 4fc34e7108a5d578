"""Approved templates as observable source assets: a changed template shows what it makes stale."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import dagster as dg

from assets.failures import told
from assets.names import template_key

if TYPE_CHECKING:
    from fabric_dagster.intelligence.packs import LoadedPack


def template_assets(pack: LoadedPack) -> list[dg.SourceAsset]:
    """One observable source asset per template of ``pack``."""
    with warnings.catch_warnings():
        # Dagster calls observable source assets beta; this is the one place that makes them.
        warnings.filterwarnings("ignore", message=".*observable_source_asset.*")
        return [_template(pack, name) for name in sorted(pack.pack.templates)]


def _template(pack: LoadedPack, name: str) -> dg.SourceAsset:
    template = pack.pack.templates[name]

    @dg.observable_source_asset(
        key=template_key(pack.pack.name, name),
        description=template.description or f"Approved template {template.file} of pack {pack.pack.name}.",
        group_name="templates",
        tags={"fabric/pack": pack.pack.name},
        required_resource_keys={"fabric"},
    )
    def observe(context: dg.OpExecutionContext) -> dg.ObserveResult:
        with told():
            digest = context.resources.fabric.template_digest(template.file)
        return dg.ObserveResult(data_version=dg.DataVersion(digest), metadata={"file": template.file})

    return observe
