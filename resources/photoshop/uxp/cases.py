"""The conformance suite of the Photoshop port: what every provider must do, as cases that any can run.

The project's tests run it over the headless provider and over the plugin in a fake Photoshop;
``fabric photoshop qualify`` runs the very same cases in the real application, on copies. Rules kept here: a
case works in a folder of its own, on files that the project makes; what it expects comes from the
capabilities, never from one provider.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from fabric_dagster.contracts.physical_plan import PhysicalPlan
from fabric_dagster.digests import digest_file
from fabric_dagster.errors import OperationFailed
from resources.conformance import Case, seen
from resources.photoshop.client import Pool, Worker, shared
from resources.photoshop.png import encode_png
from resources.photoshop.sample import build_template
from resources.photoshop.sample_art import daily_deal, starter_pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from fabric_dagster.supervisor.ports import Observation, Provider, Staged

OPEN: Final = "photoshop.open_duplicate@1"
REPLACE: Final = "photoshop.replace_smart_object@1"
VISIBILITY: Final = "photoshop.set_visibility@1"
EXPORT: Final = "photoshop.export_png@1"
TEXT: Final = "photoshop.set_text@1"
MOVE: Final = "photoshop.move_layer@1"
Step = tuple[str, dict[str, Any]]
ART: Final = {"path": "Art/Art"}


@cache
def sample() -> bytes:
    """The square sample template."""
    return build_template("offer_icon.psd")


@cache
def art() -> bytes:
    """A ticket's art, as a PNG."""
    return encode_png(starter_pack())


@dataclass(slots=True)
class Bench:
    """A provider and a folder to try it in."""

    provider: Provider
    folder: Path
    worker: Worker | Pool = field(default_factory=shared)
    number: int = 0

    def lay(self, **files: bytes) -> Path:
        """A new stage with the sample template, art, and ``files`` (name with ``_`` for the dot)."""
        self.number += 1
        stage = self.folder / f"stage-{self.number}"
        (stage / "inputs").mkdir(parents=True)
        laid = {"template_psd": sample(), "art_png": art()}
        for name, data in {**laid, **files}.items():
            (stage / "inputs" / ".".join(name.rsplit("_", 1))).write_bytes(data)
        return stage

    def bind(self, stage: Path, steps: Iterable[Step]) -> PhysicalPlan:
        """A bound plan of ``steps`` over everything that lies in the stage."""
        inputs = sorted(path for path in (stage / "inputs").iterdir())
        body: dict[str, Any] = {
            "schema": PhysicalPlan.SCHEMA,
            "application": "photoshop",
            "operations": [
                {"capability": name, "args": args, "node": f"step_{number}"}
                for number, (name, args) in enumerate(steps)
            ],
            "inputs": [{"path": f"inputs/{path.name}", "digest": digest_file(path)} for path in inputs],
        }
        allocations = self.provider.allocate(PhysicalPlan.model_validate(body))
        return PhysicalPlan.model_validate({**body, "allocations": allocations})

    def done(self, steps: Iterable[Step], stage: Path | None = None) -> tuple[Staged, Path]:
        """Stage ``steps``; what came of it, and the stage."""
        place = stage or self.lay()
        return self.provider.stage(self.bind(place, steps), place), place

    def refusal(self, steps: Iterable[Step], stage: Path | None = None) -> Iterator[tuple[str, str]]:
        """Stage ``steps`` that must fail: the code, and what the delivery then holds."""
        place = stage or self.lay()
        try:
            self.provider.stage(self.bind(place, steps), place)
        except OperationFailed as fault:
            yield "code", fault.code
        else:
            yield "code", "nothing was refused"
        left = sorted(path.name for path in (place / "delivery").rglob("*.p*"))
        yield "left in the delivery", ", ".join(left) or "nothing"

    def look(self, path: Path) -> dict[str, Any]:
        """What our own engine tells of a document."""
        told: dict[str, Any] = self.worker.call("inspect", {"path": str(path)})
        return told

    def layer(self, path: Path, identifier: int) -> dict[str, Any]:
        """One layer of a document, by id."""
        pending = list(self.look(path)["layers"])
        while pending:
            layer = pending.pop()
            if layer["id"] == identifier:
                return dict(layer)
            pending += layer.get("children", [])
        return {}


def _open(copy: str = "icon.psd") -> Step:
    return OPEN, {"source": "inputs/template.psd", "copy": copy}


def _replace(contents: str = "inputs/art.png", **more: Any) -> Step:  # noqa: ANN401 - a plan's arguments
    return REPLACE, {"layer": ART, "contents": contents, **more}


def _export(out: str = "icon.png", preset: Any = "canvas") -> Step:  # noqa: ANN401 - a name or an object
    return EXPORT, {"preset": preset, "out": out}


def _delivers(bench: Bench) -> Iterator[Observation]:
    """Staged, committed, observed and undone; the sources untouched; nothing outside before the commit."""
    steps = [_open(), _replace(), _export(preset={"width": 256, "height": 256})]
    stage = bench.lay()
    plan = bench.bind(stage, steps)
    staged = bench.provider.stage(plan, stage)
    yield seen("delivered before the commit", False, bench.provider.root.exists())
    yield from staged.observations
    yield seen("files", ["icon.psd", "icon.png"], [change.path for change in staged.changes])
    bench.provider.commit(stage, staged, "conformance")
    yield seen("standing after the commit", "after", bench.provider.standing("conformance", staged.changes))
    yield from bench.provider.observe(plan, staged)
    bench.provider.undo("conformance")
    yield seen("standing after the undo", "before", bench.provider.standing("conformance", staged.changes))
    bench.provider.forget("conformance")


def _contents(bench: Bench) -> Iterator[Observation]:
    """The new contents are in the file, byte for byte, where the old were."""
    _, stage = bench.done([_open(), _replace()])
    before = bench.layer(stage / "inputs" / "template.psd", 3)
    after = bench.layer(stage / "delivery" / "icon.psd", 3)
    smart = after.get("smart_object", {})
    yield seen("contents", digest_file(stage / "inputs" / "art.png"), smart.get("digest"))
    corners = [
        [round(float(at)) for point in layer["smart_object"]["quad"] for at in point]
        for layer in (before, after)
    ]
    yield seen("corners, in whole pixels", *corners)


def _twice(bench: Bench) -> Iterator[Observation]:
    """Two templates in one plan do not get in each other's way, nor one replacement in another's."""
    other = encode_png(daily_deal())
    stage = bench.lay(other_png=other)
    steps = [
        _open("one.psd"), _replace(), _export("one.png"),
        _open("two.psd"), _replace("inputs/other.png"), _export("two.png"),
    ]  # fmt: skip
    bench.done(steps, stage)
    for name, source in (("one", "art"), ("two", "other")):
        found = bench.layer(stage / "delivery" / f"{name}.psd", 3)["smart_object"]["digest"]
        yield seen(f"contents of {name}", digest_file(stage / "inputs" / f"{source}.png"), found)
    pictures = [digest_file(stage / "delivery" / f"{name}.png") for name in ("one", "two")]
    yield seen("pictures differ", True, pictures[0] != pictures[1])


def _hidden(bench: Bench) -> Iterator[Observation]:
    """A hidden layer is hidden in the copy and in the picture, and nothing else is."""
    steps = [_open(), _export("shown.png"), (VISIBILITY, {"layer": {"id": 9}, "visible": False}), _export()]
    staged, stage = bench.done(steps)
    yield from staged.observations
    yield seen("visible", False, bench.layer(stage / "delivery" / "icon.psd", 9)["visible"])
    yield seen("its child's own eye", True, bench.layer(stage / "delivery" / "icon.psd", 6)["visible"])
    pictures = [digest_file(stage / "delivery" / name) for name in ("shown.png", "icon.png")]
    yield seen("pictures differ", True, pictures[0] != pictures[1])


#: preset → the size that the sample's picture of 512 x 512 (497 x 492 where it is not transparent) gets
SIZES: Final[tuple[tuple[Any, str], ...]] = (
    ("canvas", "512 x 512"),
    ("content", "497 x 492"),
    ("half", "256 x 256"),
    ("icon_128", "128 x 128"),
    ("sprite", "504 x 496"),
    ({"longest": 100, "area": "content"}, "100 x 99"),
    ({"width": 300, "height": 200, "padding": 10}, "300 x 200"),
)


def _sizes(bench: Bench) -> Iterator[Observation]:
    """Every preset has its size, and the picture is RGBA without a hidden colour space."""
    steps = [_export(f"{number}.png", preset) for number, (preset, _) in enumerate(SIZES)]
    staged, _ = bench.done([_open(), *steps])
    pictures = [item for item in staged.produced if item.name == "png"]
    for (preset, size), item in zip(SIZES, pictures, strict=True):
        yield seen(f"size of {preset}", size, f"{item.facts['width']} x {item.facts['height']}")
        yield seen(f"space of {preset}", "RGBA sRGB", f"{item.facts['mode']} {item.facts['colour_space']}")


REFUSED: Final[tuple[tuple[str, list[Step], str], ...]] = (
    (
        "a layer that is not there",
        [_open(), _replace(layer={"path": "No/Such"})],
        "photoshop.layer_not_found",
    ),
    ("an id that is not there", [_open(), _replace(layer={"id": 999})], "photoshop.layer_not_found"),
    ("a layer of pixels", [_open(), _replace(layer={"id": 7})], "photoshop.not_a_smart_object"),
    ("one file twice", [_open(), _export(), _export("ICON.png")], "photoshop.output_twice"),
    ("an edit before any document", [_replace()], "photoshop.no_document"),
    ("a preset that is not there", [_open(), _export(preset="poster")], "photoshop.preset_unknown"),
)


def _refuses(bench: Bench) -> Iterator[Observation]:
    """Each refusal has its registered code and leaves nothing."""
    for name, steps, code in REFUSED:
        found = dict(bench.refusal(steps))
        yield seen(f"{name}: code", code, found["code"])
        yield seen(f"{name}: left", "nothing", found["left in the delivery"])


def _damaged(bench: Bench) -> Iterator[Observation]:
    """A damaged template is refused before anybody opens it; drift too."""
    whole = sample()
    stage = bench.lay(template_psd=whole[: len(whole) // 2])
    found = dict(bench.refusal([_open(), _export()], stage))
    yield seen("code of a template that is cut off", True, found["code"].startswith("psd."))
    yield seen("left", "nothing", found["left in the delivery"])
    drifted = (OPEN, {**_open()[1], "digest": "sha256:" + "0" * 64})
    yield seen("code of another template", "photoshop.template_drift", dict(bench.refusal([drifted]))["code"])


def _goes_on(bench: Bench) -> Iterator[Observation]:
    """A failure in the middle leaves a provider that works, and a later stage sees nothing of it."""
    found = dict(bench.refusal([_open(), _replace(), _replace(layer={"path": "No/Such"})]))
    yield seen("code", "photoshop.layer_not_found", found["code"])
    staged, stage = bench.done([_open(), _export()])
    smart = bench.layer(stage / "delivery" / "icon.psd", 3)["smart_object"]
    first = bench.layer(stage / "inputs" / "template.psd", 3)["smart_object"]
    yield seen("contents of the next copy", first["digest"], smart["digest"])
    yield seen("files", 2, len(staged.changes))


def _words(bench: Bench) -> Iterator[Observation]:
    """A text layer holds the new words."""
    staged, stage = bench.done([_open(), (TEXT, {"layer": {"id": 11}, "text": "DEAL"}), _export()])
    yield from staged.observations
    yield seen("words", "DEAL", bench.layer(stage / "delivery" / "icon.psd", 11)["text"]["contents"])


def _moves(bench: Bench) -> Iterator[Observation]:
    """A layer is elsewhere, by so many pixels, and the same otherwise."""
    staged, stage = bench.done([_open(), (MOVE, {"layer": {"id": 10}, "dx": 7, "dy": -5})])
    yield from staged.observations
    before = bench.layer(stage / "inputs" / "template.psd", 10)["bounds"]
    after = bench.layer(stage / "delivery" / "icon.psd", 10)["bounds"]
    yield seen("moved by", (7, -5), (after["left"] - before["left"], after["top"] - before["top"]))


def _case(run: Callable[[Bench], Iterable[Observation]], *needs: str) -> Case[Bench]:
    about = (run.__doc__ or "").strip()
    return Case(run.__name__.strip("_"), about, frozenset({OPEN, EXPORT, *needs}), run)


CASES: Final = (
    _case(_delivers, REPLACE),
    _case(_contents, REPLACE),
    _case(_twice, REPLACE),
    _case(_hidden, VISIBILITY),
    _case(_sizes),
    _case(_refuses, REPLACE),
    _case(_damaged),
    _case(_goes_on, REPLACE),
    _case(_words, TEXT),
    _case(_moves, MOVE),
)


def asked_of(provider: Provider) -> tuple[Case[Bench], ...]:
    """The cases that ``provider`` must pass: those for which it serves what they need."""
    return tuple(case for case in CASES if case.needs <= provider.serves)
