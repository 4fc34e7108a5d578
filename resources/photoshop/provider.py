"""The headless Photoshop provider: the supervisor's port over the worker.

Rules kept here: inputs lie in the stage under their plan paths and are proven unchanged; results are made
in ``stage/delivery`` and reach ``root`` only through one journaled transaction; random uuids come from the
bound plan; what was committed is believed only after it was opened again.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from fabric_dagster.capabilities.registry import capability
from fabric_dagster.contracts.physical_plan import Operation, PhysicalPlan
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import FabricError, OperationFailed
from fabric_dagster.supervisor.ports import FileChange, Observation, Produced, Staged, Standing
from resources.files.durable import found_digest
from resources.files.paths import folded, under
from resources.files.transaction import FileTransactions
from resources.photoshop.client import Pool, Worker, shared
from resources.photoshop.psd.limits import Limits

DELIVERY: Final = "delivery"
OPEN, REPLACE, EXPORT = (
    "photoshop.open_duplicate@1",
    "photoshop.replace_smart_object@1",
    "photoshop.export_png@1",
)
SERVES: Final = frozenset({
    OPEN, REPLACE, EXPORT, "photoshop.align_layer@1", "photoshop.apply_layer_comp@1",
    "photoshop.assign_profile@1", "photoshop.checkpoint@1", "photoshop.convert_profile@1",
    "photoshop.edit_mask@1", "photoshop.fill_layer@1", "photoshop.move_layer@1", "photoshop.replace_mask@1",
    "photoshop.resize_layer@1", "photoshop.restore@1", "photoshop.set_effect@1", "photoshop.set_text@1",
    "photoshop.set_visibility@1",
})  # fmt: skip
#: capability → the argument whose value the layer must have afterwards, as ``inspect`` tells it
PROMISES: Final = {"photoshop.set_text@1": "text", "photoshop.set_visibility@1": "visible"}
#: capability → the argument that is a file to read
READS: Final = {
    OPEN: "source",
    REPLACE: "contents",
    "photoshop.replace_mask@1": "mask",
    "photoshop.assign_profile@1": "file",
    "photoshop.convert_profile@1": "file",
}


class HeadlessPhotoshop:
    """Edits copies of templates and exports PNGs into the delivery folder ``root``.

    ``journals`` is a folder outside of ``root`` for undo journals; ``fonts`` are folders whose fonts come
    before the system's.
    """

    application: ClassVar[str] = "photoshop"
    name: ClassVar[str] = "headless"
    version: ClassVar[str] = "1.0.0"

    def __init__(
        self,
        root: Path,
        journals: Path,
        *,
        worker: Worker | Pool | None = None,
        limits: Limits | None = None,
        fonts: tuple[Path, ...] = (),
    ) -> None:
        self._root = root
        self._journals = journals
        self._worker = worker
        self._limits = limits
        self._fonts = [str(folder) for folder in fonts]

    @property
    def serves(self) -> frozenset[str]:
        """The capability ids that this provider can execute."""
        return SERVES

    @property
    def root(self) -> Path:
        """The delivery folder; made by the first commit."""
        return self._root

    @property
    def _transactions(self) -> FileTransactions:
        return FileTransactions(self._root, self._journals)

    def allocate(self, plan: PhysicalPlan) -> dict[str, str]:
        """One uuid for each smart object that may have to be cloned."""
        return {
            name: str(uuid.uuid4())
            for number, operation in enumerate(plan.operations)
            for name in allocation_names(number, operation)
        }

    def stage(self, plan: PhysicalPlan, stage: Path) -> Staged:
        """Execute the bound plan in ``stage``; results in ``stage/delivery``.

        Raises ``OperationFailed`` with one of the capabilities' failure codes.
        """
        sources = {item.path: item.digest for item in plan.inputs}
        steps = [
            _step(stage, number, operation, plan.allocations)
            for number, operation in enumerate(plan.operations)
        ]
        _refuse_twins(steps)
        delivery = stage / DELIVERY
        delivery.mkdir(exist_ok=True)
        asked = {"steps": steps, "folder": str(delivery), "allocations": dict(plan.allocations)}
        reply = self._ask("execute", {**asked, "fonts": self._fonts})
        observations = [
            unchanged(path, digest, digest_file(under(stage, path))) for path, digest in sources.items()
        ]
        produced = _produced(plan, delivery, reply)
        paths = dict.fromkeys(item.path for item in produced if item.path is not None)
        changes = []
        for path in paths:
            relative = path.relative_to(delivery).as_posix()
            changes.append(FileChange(relative, self._before(relative), digest_file(path)))
        for report in reply["documents"]:
            listed = ", ".join(change["block"] for change in report["changes"]) or "nothing"
            subject = f"{report['document']}: blocks that differ from the template"
            observations.append(Observation(subject, "only blocks that operations name", listed, holds=True))
        return Staged(
            tuple(changes),
            tuple(produced),
            tuple(observations),
            _warnings(produced),
            describe(reply["documents"]),
        )

    def commit(self, stage: Path, staged: Staged, transaction: str) -> None:
        """Put the delivery in place as one transaction; ``Conflict`` if anything changed."""
        self._root.mkdir(parents=True, exist_ok=True)
        self._transactions.commit(transaction, stage / DELIVERY, staged.changes)

    def standing(self, transaction: str, changes: tuple[FileChange, ...]) -> Standing:
        """What is there now, by reading the bytes."""
        _ = transaction
        if not self._root.exists():
            return "before" if all(change.before is None for change in changes) else "foreign"
        return self._transactions.standing(changes)

    def recover(self, transaction: str) -> Standing:
        """Finish or take back an interrupted transaction."""
        return self._transactions.recover(transaction)

    def undo(self, transaction: str) -> None:
        """Restore what ``transaction`` wrote."""
        self._transactions.undo(transaction)

    def forget(self, transaction: str) -> None:
        """Drop its undo journal."""
        self._transactions.forget(transaction)

    def abandon(self, transaction: str) -> None:
        """Drop the journal of a transaction that a person has settled by hand."""
        self._transactions.abandon(transaction)

    def observe(self, plan: PhysicalPlan, staged: Staged) -> tuple[Observation, ...]:
        """Open again what was committed: digests, that PSDs parse, that PNGs decode in their size."""
        seen = []
        for change in staged.changes:
            found = found_digest(under(self._root, change.path)) or "absent"
            holds = found == change.after
            seen.append(Observation(f"{change.path}: digest", change.after or "absent", found, holds=holds))
        for item in staged.produced:
            if item.path is None or item.name != "png":
                continue
            relative = _argument(plan, item.node, "out")
            expected = f"{item.facts['width']} x {item.facts['height']} RGBA"
            shown = _picture(self._root / relative)
            seen.append(Observation(f"{relative}: picture", expected, shown, holds=shown == expected))
        for relative, wanted in promised(plan).items():
            seen += self._reopened(relative, wanted)
        return tuple(seen)

    def _reopened(self, relative: str, wanted: list[tuple[dict[str, Any], str, Any]]) -> list[Observation]:
        """That a copy opens, and that its layers are as the plan's last word on them was."""
        subject = f"{relative}: document"
        try:
            found = self._ask("inspect", {"path": str(self._root / relative)})
        except FabricError as error:
            return [Observation(subject, "opens", str(error), holds=False)]
        shown = f"opens as {found['format']} {found['width']} x {found['height']}"
        seen = [Observation(subject, shown, shown, holds=True)]
        layers = list(_flat(found["layers"]))
        last: dict[tuple[int, str], tuple[str, str]] = {}
        for address, what, value in wanted:
            key, name = next(iter(address.items()))
            fits = [number for number, layer in enumerate(layers) if layer[key] == name]
            # A path in another spelling than the tree's own is found by the operation, not by this look.
            if len(fits) == 1:
                last[fits[0], what] = str(name), str(value).rstrip("\n")
        for (number, what), (name, expected) in last.items():
            layer = layers[number]
            now = str((layer.get("text") or {}).get("contents") if what == "text" else layer[what])
            seen.append(Observation(f"{relative}: {what} of {name}", expected, now, holds=now == expected))
        return seen

    def _before(self, relative: str) -> str | None:
        return found_digest(under(self._root, relative)) if self._root.exists() else None

    def _ask(self, method: str, params: dict[str, Any]) -> Any:  # noqa: ANN401 - the worker's JSON
        worker = self._worker or shared()
        try:
            return worker.call(method, params, limits=self._limits)
        except OperationFailed:
            raise
        except FabricError as error:
            # A damaged template is an operation's failure here: its psd.* codes are declared.
            raise OperationFailed.of(error.faults) from error


def promised(plan: PhysicalPlan) -> dict[str, list[tuple[dict[str, Any], str, Any]]]:
    """Copy → what its layers must be in the end: (address, ``text`` or ``visible``, value).

    What comes before a restore or a layer comp is no promise any more: those may take it back.
    """
    found: dict[str, dict[str, tuple[dict[str, Any], str, Any]]] = {}
    current: dict[str, tuple[dict[str, Any], str, Any]] = {}
    for operation in plan.operations:
        name, args = operation.capability, operation.args
        if name == OPEN:
            current = found.setdefault(str(args["copy"]), {})
        elif name in {"photoshop.restore@1", "photoshop.apply_layer_comp@1"}:
            current.clear()
        elif name in PROMISES:
            what = PROMISES[name]
            current[f"{what} {sorted(args['layer'].items())}"] = (dict(args["layer"]), what, args[what])
    return {copy: list(wanted.values()) for copy, wanted in found.items()}


def _flat(layers: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for layer in layers:
        yield layer
        yield from _flat(layer.get("children", []))


def allocation_names(number: int, operation: Operation) -> tuple[str, ...]:
    """The random choices that operation ``number`` needs."""
    return (f"smart_object_uuid_{number}",) if operation.capability == REPLACE else ()


def _step(stage: Path, number: int, operation: Operation, allocations: Mapping[str, str]) -> dict[str, Any]:
    """An operation with typed arguments and paths inside the stage."""
    if operation.capability not in SERVES:
        raise OperationFailed(
            "capability_unavailable",
            f"this provider does not serve {operation.capability}",
            where=f"operations[{number}]",
            mend="use a provider that does",
        )
    missing = [name for name in allocation_names(number, operation) if name not in allocations]
    if missing:
        raise OperationFailed(
            "photoshop.allocation_missing",
            "the plan is not bound: a random choice is missing",
            where=f"operations[{number}]",
            mend="bind the plan again",
            value=missing[0],
        )
    args = capability(operation.capability).arguments.model_validate(operation.args).body()
    key = READS.get(operation.capability, "")
    if key in args:
        args[key] = str(under(stage, args[key]))
    for key in ("copy", "out"):
        if key in args:
            under(stage, args[key])
    return {"capability": operation.capability, "args": args}


def _refuse_twins(steps: list[dict[str, Any]]) -> None:
    """Two results may not have one path."""
    seen: set[str] = set()
    for number, step in enumerate(steps):
        name = folded(str(step["args"].get("copy") or step["args"].get("out") or f"\0{number}"))
        if name in seen:
            raise OperationFailed(
                "photoshop.output_twice",
                "this file is written twice",
                where=f"operations[{number}]",
                mend="give every result a name of its own",
                value=name,
            )
        seen.add(name)


def _produced(plan: PhysicalPlan, delivery: Path, reply: dict[str, Any]) -> list[Produced]:
    """Outputs by node; a document's outputs all are the saved copy, since a plan is atomic."""
    made = []
    current: Path | None = None
    digests = {report["document"]: report["digest"] for report in reply["documents"]}
    for number, (operation, facts) in enumerate(zip(plan.operations, reply["facts"], strict=True)):
        node = operation.node or f"operation_{number}"
        if operation.capability == OPEN:
            current = delivery / operation.args["copy"]
        if operation.capability == EXPORT:
            made.append(Produced(node, "png", "png", delivery / operation.args["out"], facts=facts))
        elif current is not None:
            digest = digests[current.relative_to(delivery).as_posix()]
            made.append(Produced(node, "document", "psd", current, facts={**facts, "digest": digest}))
    return made


def _warnings(produced: list[Produced]) -> tuple[str, ...]:
    """What the engine left out of a picture, or drew in Photoshop's place, for people."""
    return tuple(f"{item.node}: {said}" for item in produced for said in warnings_of(item.facts))


def warnings_of(facts: Mapping[str, Any]) -> list[str]:
    """What a person should know of one operation's result."""
    said = [
        f"the engine can't draw {count} x {gap.replace('_', ' ')}"
        for gap, count in facts.get("not_drawn", {}).items()
    ]
    if facts.get("redrawn") == "headless" and "font" in facts:
        said.append(
            f"text redrawn headlessly in {facts['font']['name']}: letter shapes and spacing may differ from "
            "Photoshop's by fractions of a pixel"
        )
    if facts.get("overflow"):
        said.append(f"{facts['overflow']} lines of the text are cut off by its box")
    return said


def _argument(plan: PhysicalPlan, node: str, key: str) -> str:
    for number, operation in enumerate(plan.operations):
        if (operation.node or f"operation_{number}") == node:
            return str(operation.args[key])
    raise KeyError(node)


def unchanged(path: str, before: str, after: str) -> Observation:
    """That a source is what it was."""
    return Observation(f"{path}: source", before, after, holds=before == after)


def _picture(path: Path) -> str:
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.load()
            return f"{image.width} x {image.height} {image.mode}"
    except (OSError, SyntaxError, ValueError) as fault:
        return f"does not decode ({type(fault).__name__})"


def describe(documents: list[dict[str, Any]]) -> str:
    """The block differences as lines for people."""
    lines = []
    for report in documents:
        lines.append(f"{report['document']}: {len(report['changes'])} blocks differ from the template")
        for change in report["changes"]:
            sizes = f"{change['before_bytes']} -> {change['after_bytes']} bytes"
            lines.append(f"  {change['change']:8} {change['block']}  {sizes}")
    return "\n".join(lines) + "\n" if lines else ""
