"""The live Photoshop provider: the supervisor's port over a UXP plugin in a running Photoshop.

Rules kept here: Photoshop opens copies that lie in the stage and saves copies into ``stage/delivery``; it is
given no other path. What it made is read by our own engine before anything is committed. Delivery itself
(commit, undo, recovery) is the headless provider's: by then Photoshop has no part in it.
"""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING, Any, ClassVar, Final

from fabric_dagster.capabilities.photoshop_shared import PRESETS, ExportPreset
from fabric_dagster.capabilities.registry import capability
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import Fault, NeedsPerson, OperationFailed
from fabric_dagster.supervisor.ports import FileChange, Observation, Produced, Staged
from resources.files.paths import folded, under
from resources.photoshop.provider import DELIVERY, HeadlessPhotoshop, unchanged
from resources.photoshop.uxp import methods
from resources.photoshop.uxp.observed import OTHER_PICTURE, Edit, compare, picture_difference

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fabric_dagster.contracts.base import Contract
    from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
    from resources.photoshop.client import Worker
    from resources.photoshop.psd.limits import Limits
    from resources.photoshop.uxp.bridge import Bridge

SERVES: Final = frozenset(methods.OPERATIONS)
#: Seconds that a stage waits for the plugin to dial in.
PATIENCE: Final = 30.0
#: arguments of a served capability that this provider does not serve, with the value that asks for nothing
UNSERVED: Final[dict[str, dict[str, Any]]] = {methods.EXPORT: {"layer": None}}
UNSERVED_PRESET: Final[dict[str, Any]] = {"profile": "srgb", "depth": 8, "broken_profile": "refuse"}


class UxpPhotoshop(HeadlessPhotoshop):
    """Edits duplicates in a running Photoshop through ``bridge``; delivers into ``root``."""

    name: ClassVar[str] = "uxp"
    version: ClassVar[str] = "1.0.0"

    def __init__(
        self,
        root: Path,
        journals: Path,
        bridge: Bridge,
        *,
        worker: Worker | None = None,
        limits: Limits | None = None,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(root, journals, worker=worker, limits=limits)
        self._bridge = bridge
        self._patience = patience

    @property
    def serves(self) -> frozenset[str]:
        """The capability ids that this provider can execute."""
        return SERVES

    def allocate(self, plan: PhysicalPlan) -> dict[str, str]:
        """Nothing: Photoshop draws its own identities, and they are read back."""
        _ = plan
        return {}

    def stage(self, plan: PhysicalPlan, stage: Path) -> Staged:
        """Execute the bound plan on duplicates; results in ``stage/delivery``, read by our own engine.

        Raises ``OperationFailed`` (a registered code; Photoshop's duplicates are closed unsaved) or
        ``NeedsPerson`` (``photoshop.uncertain``: nobody knows, and nothing is sent until that is decided).
        """
        wanted = [_arguments(number, operation) for number, operation in enumerate(plan.operations)]
        _refuse_twins(wanted)
        self._bridge.open()
        self._bridge.ledger.require_settled()
        self._require_templates(stage, wanted)
        self._bridge.wait(self._patience)
        delivery = stage / DELIVERY
        for args in wanted:
            for key in ("copy", "out"):
                if key in args:
                    under(delivery, args[key]).parent.mkdir(parents=True, exist_ok=True)
        delivery.mkdir(exist_ok=True)
        facts = self._perform(plan, stage, wanted)
        observations = [
            unchanged(item.path, item.digest, digest_file(under(stage, item.path))) for item in plan.inputs
        ]
        seen, produced = self._read(plan, stage, wanted, facts)
        observations += seen
        _require(observations)
        paths = dict.fromkeys(item.path for item in produced if item.path is not None)
        changes = []
        for path in paths:
            relative = path.relative_to(delivery).as_posix()
            changes.append(FileChange(relative, self._before(relative), digest_file(path)))
        told = "".join(f"{item.subject}: {item.found}\n" for item in seen)
        return Staged(tuple(changes), tuple(produced), tuple(observations), (), told)

    def _require_templates(self, stage: Path, wanted: list[dict[str, Any]]) -> None:
        """Refuse a template that is not the one meant, before Photoshop sees it; parse every source."""
        for number, args in enumerate(wanted):
            if "source" not in args:
                continue
            asked = {"path": str(under(stage, args["source"])), "roles": args.get("roles") or {}}
            try:
                found = self._ask("inspect", asked)
            except OperationFailed as fault:
                roles = {"photoshop.layer_not_found", "photoshop.layer_ambiguous", "photoshop.role_shared"}
                if fault.code not in roles:
                    raise
                raise _drift(number, str(fault.faults[0])) from fault
            if args.get("digest") not in {None, found["digest"]}:
                raise _drift(number, "the template's bytes are not those that were meant")

    def _perform(self, plan: PhysicalPlan, stage: Path, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Ask the plugin, operation by operation, and save; its facts by operation."""
        name = secrets.token_hex(16)
        keys = ("source", "contents")
        named = dict.fromkeys(str(args[key]) for args in wanted for key in keys if key in args)
        begin = {
            "partition": name,
            "folder": (stage / DELIVERY).resolve().as_posix(),
            "sources": {path: under(stage, path).resolve().as_posix() for path in named},
        }
        self._bridge.call(methods.BEGIN, begin, partition=name)
        facts = []
        try:
            for number, (operation, args) in enumerate(zip(plan.operations, wanted, strict=True)):
                facts.append(self._operate(number, operation.capability, args, name).body())
            saved = self._bridge.call(methods.FINISH, {"partition": name}, partition=name).body()["saved"]
        except OperationFailed:
            # The failure is what is told; a plugin that can't even close its duplicates is recorded.
            with contextlib.suppress(OperationFailed, NeedsPerson):
                self._bridge.call(methods.ABANDON, {"partition": name}, partition=name)
            raise
        copies = [args["copy"] for args in wanted if "copy" in args]
        if sorted(saved) != sorted(copies):
            raise _differs("Photoshop saved other copies than it was asked for", ", ".join(saved))
        return facts

    def _operate(self, number: int, capability_id: str, args: dict[str, Any], name: str) -> Contract:
        try:
            return self._bridge.call(capability_id, args, partition=name)
        except OperationFailed as error:
            place = f"operations[{number}]"
            raise OperationFailed.of(
                Fault(f.code, f.what, f"{place}, {f.where}" if f.where else place, f.mend, f.value)
                for f in error.faults
            ) from error

    def _read(
        self, plan: PhysicalPlan, stage: Path, wanted: list[dict[str, Any]], facts: list[dict[str, Any]]
    ) -> tuple[list[Observation], list[Produced]]:
        """Read every file that Photoshop saved, and hold it against what was asked."""
        from resources.photoshop.uxp.pictures import normalise

        delivery = stage / DELIVERY
        seen: list[Observation] = []
        produced: list[Produced] = []
        edits: dict[str, list[Edit]] = {}
        sources: dict[str, str] = {}
        exports: list[tuple[str, str, dict[str, Any], Path]] = []
        copy = ""
        for number, (operation, args, fact) in enumerate(zip(plan.operations, wanted, facts, strict=True)):
            node = operation.node or f"operation_{number}"
            if operation.capability == methods.OPEN:
                copy = args["copy"]
                sources[copy], edits[copy] = args["source"], []
            if operation.capability == methods.EXPORT:
                path = under(delivery, args["out"])
                told = normalise(path, fact)
                produced.append(Produced(node, "png", "png", path, facts=told))
                exports.append((copy, args["out"], args["preset"], path))
                continue
            produced.append(Produced(node, "document", "psd", under(delivery, copy), facts=fact))
            if operation.capability != methods.OPEN:
                contents = args.get("contents")
                digest = digest_file(under(stage, contents)) if contents else None
                edits[copy].append(Edit(operation, fact.get("was", fact["id"]), fact["id"], digest))
                # What was exported before shows another state: it can't be drawn again from the copy.
                exports = [item for item in exports if item[0] != copy]
        for name, source in sources.items():
            before = self._ask("inspect", {"path": str(under(stage, source))})
            after = self._ask("inspect", {"path": str(under(delivery, name))})
            seen += compare(name, before, after, edits[name])
        for name, out, preset, file in exports:
            seen.append(self._redrawn(under(delivery, name), out, preset, file, stage))
        return seen, [_with_digest(item) for item in produced]

    def _redrawn(self, copy: Path, out: str, preset: dict[str, Any], file: Path, stage: Path) -> Observation:
        """The picture that Photoshop exported against our own, drawn from the copy that it saved."""
        from resources.photoshop.uxp.pictures import pixels_of

        mine = stage / "redrawn.png"
        asked = {"path": str(copy), "out": str(mine), "layer": None, "preset": preset}
        facts = self._ask("render", asked)
        made, drawn = pixels_of(file), pixels_of(mine)
        mine.unlink()
        subject = f"{out}: mean difference from the copy drawn again"
        expected = f"at most {OTHER_PICTURE:g}"
        if made.shape != drawn.shape:
            sizes = [f"{picture.shape[1]} x {picture.shape[0]}" for picture in (made, drawn)]
            return Observation(subject, expected, f"{sizes[0]}, not {sizes[1]}", holds=False)
        difference = picture_difference(made, drawn)
        holds = difference <= OTHER_PICTURE or bool(facts["not_drawn"])
        return Observation(subject, expected, f"{difference:.2f}", holds=holds)


def _arguments(number: int, operation: Operation) -> dict[str, Any]:
    """Typed arguments; what this provider does not serve is refused before anything is sent."""
    place = f"operations[{number}]"
    if operation.capability not in SERVES:
        raise _unavailable(place, operation.capability)
    args = capability(operation.capability).arguments.model_validate(operation.args).body()
    for key, nothing in UNSERVED.get(operation.capability, {}).items():
        if args.get(key, nothing) != nothing:
            raise _unavailable(place, f"the argument `{key}`")
    if operation.capability == methods.EXPORT:
        preset = args["preset"]
        if isinstance(preset, str):
            if preset not in PRESETS:
                raise OperationFailed(
                    "photoshop.preset_unknown", "no built-in preset has this name", where=place,
                    value=preset, mend=f"use one of: {', '.join(PRESETS)}",
                )  # fmt: skip
            args["preset"] = PRESETS[preset].body()
        else:
            args["preset"] = ExportPreset.model_validate(preset).body()
        for key, served in UNSERVED_PRESET.items():
            if args["preset"][key] != served:
                raise _unavailable(place, f"the preset's `{key}`")
        if args["preset"]["area"] == "artboard":
            raise _unavailable(place, "the area `artboard`")
    return args


def _refuse_twins(wanted: list[dict[str, Any]]) -> None:
    """Two results may not have one path."""
    names = [folded(str(args[key])) for args in wanted for key in ("copy", "out") if key in args]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OperationFailed(
            "photoshop.output_twice", "this file is written twice", value=twice,
            mend="give every result a name of its own",
        )  # fmt: skip


def _require(observations: Iterable[Observation]) -> None:
    """Nothing goes on to the commit that does not hold."""
    broken = next((item for item in observations if not item.holds), None)
    if broken is not None:
        raise _differs(f"{broken.subject}: expected {broken.expected}", broken.found)


def _differs(what: str, found: str) -> OperationFailed:
    return OperationFailed(
        "photoshop.result_differs", what, value=found, mend="nothing was delivered; look at Photoshop"
    )


def _drift(number: int, what: str) -> OperationFailed:
    return OperationFailed(
        "photoshop.template_drift", what, where=f"operations[{number}]",
        mend="certify the changed template, or put it back",
    )  # fmt: skip


def _unavailable(place: str, what: str) -> OperationFailed:
    return OperationFailed(
        "capability_unavailable", f"the live Photoshop provider does not serve {what}", where=place,
        mend="use a provider that does",
    )  # fmt: skip


def _with_digest(item: Produced) -> Produced:
    """The digest of what lies there now, read by us."""
    if item.path is None:
        return item
    facts = {**item.facts, "digest": digest_file(item.path)}
    return Produced(item.node, item.name, item.kind, item.path, item.value, facts)
