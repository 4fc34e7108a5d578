"""The conformance suite of the Unity port: what every provider must do, as cases that any can run.

The project's tests run it over the headless provider and over the live one (batch, a running editor with the
package, MCP), all on fakes; ``fabric unity qualify`` runs the very same cases with a real editor, on a copy
of a project. Rules kept here: a case works on a project of its own; what it expects comes from the
capabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.contracts.physical_plan import PhysicalPlan
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import FabricError
from resources.conformance import Case, seen
from resources.photoshop.png import encode_png
from resources.photoshop.sample_art import starter_pack
from resources.unity.index.guids import read_guid
from resources.unity.live.batch import BUILD_PLAYER, COMPILE, RUN_TESTS
from resources.unity.manifest import tree_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from fabric_dagster.supervisor.ports import Observation, Provider, Staged

Step = tuple[str, dict[str, Any]]
ICON: Final = "Assets/FabricConformance/icon.png"
IMPORT: Final[Step] = (
    "unity.import_texture@1",
    {"source": "inputs/icon.png", "destination": ICON, "profile": "ui_sprite_512"},
)
MOVED: Final = "Assets/FabricConformance/moved.png"


@dataclass(slots=True)
class Bench:
    """A provider, a folder for stages, and the platform that a player is built for."""

    provider: Provider
    folder: Path
    target: str = "StandaloneLinux64"
    number: int = 0

    def lay(self) -> Path:
        """A new stage with a picture."""
        self.number += 1
        stage = self.folder / f"stage-{self.number}"
        (stage / "inputs").mkdir(parents=True)
        (stage / "inputs/icon.png").write_bytes(encode_png(starter_pack()))
        return stage

    def bind(self, *steps: Step) -> PhysicalPlan:
        """A bound plan of ``steps``."""
        body: dict[str, Any] = {
            "schema": PhysicalPlan.SCHEMA,
            "application": "unity",
            "operations": [
                {"capability": name, "args": args, "node": f"step_{number}"}
                for number, (name, args) in enumerate(steps)
            ],
        }
        plan = PhysicalPlan.model_validate(body)
        return plan.model_copy(update={"allocations": self.provider.allocate(plan)})

    def commit(self, transaction: str, *steps: Step) -> tuple[PhysicalPlan, Staged]:
        """Stage and commit ``steps``."""
        stage = self.lay()
        plan = self.bind(*steps)
        staged = self.provider.stage(plan, stage)
        self.provider.commit(stage, staged, transaction)
        return plan, staged


def _imports(bench: Bench) -> Iterator[Observation]:
    """Imported, observed, undone: the project is as it was, byte for byte, the manifest too."""
    root = bench.provider.root
    before = tree_manifest(root)
    plan, staged = bench.commit("conformance-1", IMPORT)
    yield seen("standing after the commit", "after", bench.provider.standing("conformance-1", staged.changes))
    yield from bench.provider.observe(plan, staged)
    meta = (root / f"{ICON}.meta").read_bytes()
    yield seen("the GUID is the plan's", True, read_guid(meta) in set(plan.allocations.values()))
    bench.provider.undo("conformance-1")
    bench.provider.forget("conformance-1")
    yield from _same(before, tree_manifest(root))


def _moves(bench: Bench) -> Iterator[Observation]:
    """Moved with its meta: the GUID stays, and an undo brings both back."""
    root = bench.provider.root
    bench.commit("conformance-2", IMPORT)
    guid = read_guid((root / f"{ICON}.meta").read_bytes())
    before = tree_manifest(root)
    plan, staged = bench.commit("conformance-3", ("unity.move_asset@1", {"asset": ICON, "to": MOVED}))
    yield from bench.provider.observe(plan, staged)
    yield seen("GUID after the move", guid, read_guid((root / f"{MOVED}.meta").read_bytes()))
    bench.provider.undo("conformance-3")
    yield from _same(before, tree_manifest(root))
    bench.provider.undo("conformance-2")
    for name in ("conformance-2", "conformance-3"):
        bench.provider.forget(name)


def _refuses(bench: Bench) -> Iterator[Observation]:
    """What changed underneath is refused, and nothing is written."""
    root = bench.provider.root
    stage = bench.lay()
    plan = bench.bind(IMPORT)
    staged = bench.provider.stage(plan, stage)
    target = root / ICON
    target.parent.mkdir()
    target.write_bytes(b"somebody else's")
    before = tree_manifest(root)
    yield seen(
        "code", "transaction.changed_underneath", _code(lambda: bench.provider.commit(stage, staged, "c-4"))
    )
    yield from _same(before, tree_manifest(root))
    target.unlink()
    target.parent.rmdir()


def _absent(bench: Bench) -> Iterator[Observation]:
    """A property of an asset that is not there is refused while it is staged."""
    step = ("unity.set_bundle_name@1", {"asset": "Assets/FabricConformance/none.asset", "bundle": "x"})
    yield seen(
        "code", "unity.asset_missing", _code(lambda: bench.provider.stage(bench.bind(step), bench.lay()))
    )


def _compiles(bench: Bench) -> Iterator[Observation]:
    """The project compiles with an import that is only staged; the project itself is not touched."""
    before = tree_manifest(bench.provider.root)
    staged = bench.provider.stage(bench.bind(IMPORT, (COMPILE, {})), bench.lay())
    yield from staged.observations
    (report,) = [item.value for item in staged.produced if item.name == "report"]
    yield seen("result", ("Succeeded", 0), (report["result"], report["errors"]))
    yield from _same(before, tree_manifest(bench.provider.root))


def _tests(bench: Bench) -> Iterator[Observation]:
    """A test run is what its results file says; a filter that matches nothing is a failure."""
    none = (RUN_TESTS, {"tests": ["Fabric.No.Such.Test"]})
    code = _code(lambda: bench.provider.stage(bench.bind(none), bench.lay()))
    yield seen("a filter that matches nothing", True, code in {"unity.no_tests", "unity.no_report"})


def _builds(bench: Bench) -> Iterator[Observation]:
    """A player is built, is there, and has the digest that is told."""
    staged = bench.provider.stage(bench.bind((BUILD_PLAYER, {"target": bench.target})), bench.lay())
    (player,) = [item for item in staged.produced if item.name == "player"]
    digest = digest_file(player.path) if player.path is not None else "no file"
    yield seen("digest of the player", player.facts["digest"], digest)


def _same(before: dict[str, str], after: dict[str, str]) -> Iterator[Observation]:
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    yield seen("files that differ from before", "none", ", ".join(changed) or "none")


def _code(work: Callable[[], object]) -> str:
    try:
        work()
    except FabricError as fault:
        return fault.code
    return "nothing was refused"


def _case(run: Callable[[Bench], Iterable[Observation]], *needs: str) -> Case[Bench]:
    return Case(run.__name__.strip("_"), (run.__doc__ or "").strip(), frozenset(needs), run)


CASES: Final = (
    _case(_imports, IMPORT[0]),
    _case(_moves, IMPORT[0], "unity.move_asset@1"),
    _case(_refuses, IMPORT[0]),
    _case(_absent, "unity.set_bundle_name@1"),
    _case(_compiles, IMPORT[0], COMPILE),
    _case(_tests, RUN_TESTS),
    _case(_builds, BUILD_PLAYER),
)


def asked_of(provider: Provider) -> tuple[Case[Bench], ...]:
    """The cases that ``provider`` must pass: those for which it serves what they need."""
    return tuple(case for case in CASES if case.needs <= provider.serves)
