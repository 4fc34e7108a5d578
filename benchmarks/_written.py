"""Hand-written Dagster assets in the shape of the sample graph, as compactly and quickly as Dagster allows.

One function that is called once a graph: literals only, no files, no digests, no validation. What it yields
is what the compiler yields for the sample graph: the same steps, keys, checks, specs and versions.
"""

# No `from __future__ import annotations`: Dagster reads the contexts' annotations at run time.

import warnings
from typing import Any

import dagster as dg

STEPS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "ticket_brief": (("ticket_brief", "fabric.ticket_brief@1", ""),),
    "asset_decision": (("asset_decision", "fabric.asset_decision@1", "ticket_brief"),),
    "photoshop_1": (
        ("open_template", "photoshop.open_duplicate@1", "asset_decision"),
        ("place_art", "photoshop.replace_smart_object@1", "open_template"),
        ("export_icon", "photoshop.export_png@1", "place_art"),
    ),
    "icon_handoff": (("icon_handoff", "fabric.seal_handoff@1", "export_icon"),),
    "unity_1": (
        ("import_icon", "unity.import_texture@1", "icon_handoff"),
        ("wire_icon", "unity.set_property@1", "import_icon"),
        ("set_title", "unity.set_property@1", "wire_icon"),
    ),
    "verdict": (("verdict", "fabric.independent_verdict@1", "set_title"),),
}
CHECKS = {
    "export_icon": (
        "source_untouched_v1",
        "png_valid_v1",
        "alpha_clean_v1",
        "safe_area_v1",
        "colour_space_v1",
        "art_in_place_v1",
        "document_diff_v1",
    ),
    "set_title": ("import_profile_v1", "references_resolve_v1", "project_diff_v1", "goal_met_v1"),
}
KINDS = {"photoshop": {"photoshop", "psd"}, "unity": {"unity"}, "fabric": {"fabric"}}
TEMPLATES = ("offer_icon", "offer_icon_wide")
INTAKE = dg.AssetKey(["intake", "tickets"])
SAID = (
    "A duplicate of the approved template; the template itself is only read.\n\n`{}` of `{}` 1.0.0.\n\n"
    "Observed, not believed:\n* the file opens again\n* its digest is the one that was reported"
)
DIGEST = "sha256:" + "0" * 64


def written_definitions(count: int) -> dg.Definitions:
    """``count`` workflows of ten assets."""
    assets: list[Any] = [
        dg.AssetSpec(
            INTAKE, description="Jira-format issues in the inbox.", group_name="intake", kinds={"jira"}
        )
    ]
    checks: list[dg.AssetChecksDefinition] = []
    for number in range(count):
        _workflow(number, assets, checks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assets += [_template(number, which) for number in range(-(-count // 10)) for which in TEMPLATES]
    return dg.Definitions(
        assets=assets,
        asset_checks=checks,
        resources={"fabric": dg.ResourceDefinition.hardcoded_resource(None)},
        executor=dg.in_process_executor,
    )


def _workflow(number: int, assets: list[Any], checks: list[dg.AssetChecksDefinition]) -> None:
    name = f"make_icon{number:04}"
    partitions = dg.DynamicPartitionsDefinition(name=f"tickets__{name}")
    for step, nodes in STEPS.items():
        application = nodes[0][1].partition(".")[0]
        assets.append(_step(name, number, step, application, nodes, partitions))
    for side, names in zip(("photoshop_1", "unity_1"), CHECKS.items(), strict=True):
        checks.append(_side(name, side, *names, partitions))


def _deps(name: str, number: int, node: str, need: str) -> list[dg.AssetKey]:
    found = [dg.AssetKey([name, need])] if need else [INTAKE]
    if node == "asset_decision":
        found += [dg.AssetKey(["templates", f"pack{number // 10:03}", which]) for which in TEMPLATES]
    return found


def _step(
    name: str,
    number: int,
    step: str,
    application: str,
    nodes: tuple[tuple[str, str, str], ...],
    partitions: dg.DynamicPartitionsDefinition,
) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name=f"{name}__{step}",
        specs=[
            dg.AssetSpec(
                dg.AssetKey([name, node]),
                deps=_deps(name, number, node, need),
                description=SAID.format(capability, name),
                group_name=name,
                code_version=DIGEST,
                owners=["team:live-ops-art"],
                kinds=KINDS[application],
                tags={"fabric/pack": f"pack{number // 10:03}", "fabric/application": application},
                metadata={
                    "fabric/capability": capability,
                    "fabric/graph": DIGEST,
                    "fabric/effects": "photoshop.document.write",
                },
            )
            for node, capability, need in nodes
        ],
        can_subset=False,
        partitions_def=partitions,
        required_resource_keys={"fabric"},
        pool=None if application == "fabric" else f"{application}__default",
        description="The icon in the project.",
    )
    def run(context: dg.AssetExecutionContext):  # type: ignore[no-untyped-def]
        raise NotImplementedError(context.run_id)

    return run


def _side(
    name: str, side: str, node: str, names: tuple[str, ...], partitions: dg.DynamicPartitionsDefinition
) -> dg.AssetChecksDefinition:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        specs = [
            dg.AssetCheckSpec(
                check,
                asset=dg.AssetKey([name, node]),
                blocking=True,
                description="The right art in the right place, compared with an independent expectation.",
                partitions_def=partitions,
            )
            for check in names
        ]

    @dg.multi_asset_check(
        name=f"{name}__{side}__checks", specs=specs, required_resource_keys={"fabric"}, pool="validator"
    )
    def judge(context: dg.AssetCheckExecutionContext):  # type: ignore[no-untyped-def]
        raise NotImplementedError(context.run_id)

    return judge


def _template(number: int, which: str) -> Any:
    @dg.observable_source_asset(
        key=dg.AssetKey(["templates", f"pack{number:03}", which]),
        description="Square icon, 512 by 512 pixels.",
        group_name="templates",
        required_resource_keys={"fabric"},
    )
    def observe(context: dg.OpExecutionContext) -> dg.ObserveResult:
        raise NotImplementedError(context.run_id)

    return observe
