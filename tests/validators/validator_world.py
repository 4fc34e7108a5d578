"""A finished offer icon, made with the real hands, and the evidence on it: what tests plant faults into."""

from __future__ import annotations

import dataclasses
import functools
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fabric_dagster.capabilities.photoshop_shared import ExportPreset
from fabric_dagster.capabilities.unity_import_texture import ImportTexture
from fabric_dagster.capabilities.unity_set_property import SetProperty
from fabric_dagster.contracts.commission import Commission, Scope
from fabric_dagster.contracts.evidence import BlindEvidence, CheckRequest, FileFact
from fabric_dagster.contracts.importer_profile import ImporterProfile
from fabric_dagster.contracts.ticket import Ticket, TicketFile
from fabric_dagster.digests import digest_bytes, digest_file
from fabric_dagster.intelligence.decide import decide
from fabric_dagster.intelligence.packs import load_pack
from fabric_dagster.validators.kernels import png
from resources.photoshop.edit import Session
from resources.photoshop.psd.limits import Limits
from resources.photoshop.sample import build_template, write_art
from resources.unity import sample
from resources.unity.manifest import tree_manifest
from resources.unity.operations.import_texture import import_texture, needed_allocations
from resources.unity.operations.set_property import set_property
from resources.unity.operations.workspace import Workspace
from resources.unity.project import open_project

PACK = Path(__file__).resolve().parents[2] / "packs" / "offers"
GRAPH = "CreateOfferIconAndIntegrate@1"
TEMPLATE = "offer_icon.psd"
DOCUMENT, EXPORT, SEALED = "place_art.document", "export_icon.png", "icon_handoff.artifact"
RUN = digest_bytes(b"run")
SIDES = {
    "photoshop_1": (
        "source_untouched@1", "png_valid@1", "alpha_clean@1", "safe_area@1", "colour_space@1",
        "art_in_place@1", "document_diff@1",
    ),
    "photoshop_qa": ("reference_match@1", "output_reopens@1", "text_fits@1"),
    "unity_1": ("import_profile@1", "references_resolve@1", "project_diff@1", "goal_met@1"),
    "unity_all": (
        "import_profile@1", "references_resolve@1", "project_diff@1", "goal_met@1", "guids_kept@1",
        "slices_kept@1", "atlases_sound@1", "addressables_sound@1", "texture_rules@1", "import_settles@1",
        "dependants_kept@1",
    ),
}  # fmt: skip


@dataclass
class World:
    """One run's files. Paths are below ``folder``; a fault changes them as it likes."""

    folder: Path
    title: str = "Starter Pack"
    offer: str = "starter_pack"
    category: str = "offer.bundle"
    template_name: str = TEMPLATE
    art_name: str = "art.png"
    writes: tuple[str, ...] = ("Assets/Art", "Assets/Data/")
    params: dict[str, dict[str, object]] = field(default_factory=dict)
    checks: tuple[str, ...] | None = None

    @property
    def template(self) -> Path:
        """The source template."""
        return self.folder / "templates" / self.template_name

    @property
    def art(self) -> Path:
        """The ticket's picture."""
        return self.folder / self.art_name

    @property
    def document(self) -> Path:
        """The edited copy."""
        return self.folder / "delivery" / "icon.psd"

    @property
    def export(self) -> Path:
        """The exported icon."""
        return self.folder / "delivery" / "icon.png"

    @property
    def project(self) -> Path:
        """The Unity project."""
        return self.folder / "project"

    @property
    def asset(self) -> Path:
        """The offer's asset."""
        return self.project / "Assets" / "Data" / "Offers" / f"{self.offer}.asset"

    @property
    def icon(self) -> Path:
        """The icon in the project."""
        return self.project / "Assets" / "Art" / "Offers" / f"{self.offer}.png"

    @property
    def meta(self) -> Path:
        """The icon's ``.meta``."""
        return self.icon.with_name(self.icon.name + ".meta")

    @property
    def ticket(self) -> Ticket:
        """The ticket, whose picture is the art as it was when the world was made."""
        facts = json.loads((self.folder / "facts.json").read_bytes())
        inputs = {
            "offer_id": self.offer,
            "category": self.category,
            "art": f"attachment:{self.art_name}",
            "title": facts["title"],
        }
        file = TicketFile(path=f"attachment:{self.art_name}", format=self.art.suffix[1:], **facts["art"])
        return Ticket(
            schema_="fabric.ticket.v1", key="ART-1", graph=GRAPH, inputs=inputs, files={"art": file}
        )

    def evidence(self, side: str) -> BlindEvidence:
        """What the supervisor hands over: source facts, and the artifacts as they lie there now."""
        facts = json.loads((self.folder / "facts.json").read_bytes())
        pack = load_pack(PACK)
        artifacts = {DOCUMENT: fact(self.document), EXPORT: fact(self.export)}
        before = self.folder / "before"
        if side.startswith("unity"):
            artifacts[SEALED] = fact(self.folder / "sealed.png")
            for path in sorted(before.rglob("*")):
                if path.is_file():
                    artifacts[f"before:{path.relative_to(before).as_posix()}"] = fact(path)
        commission = Commission(
            schema_="fabric.commission.v1",
            workspace="test",
            reference=GRAPH,
            graph=RUN,
            pack=pack.digest,
            certificate=RUN,
            scope=Scope(
                project="project", templates={self.template_name: facts["template"]}, writes=self.writes
            ),
            effects=(),
            sops={},
            providers={},
            expires="2999-01-01T00:00:00Z",
            commissioner="commissioner",
        )
        return BlindEvidence(
            schema_="fabric.blind-evidence.v1",
            run=RUN,
            graph=RUN,
            side=side,
            pack=str(PACK),
            pack_digest=pack.digest,
            ticket=self.ticket,
            ticket_files={"art": fact(self.art)},
            commission=commission,
            templates={self.template_name: fact(self.template)},
            project=str(self.project),
            manifest_before=fact(self.folder / "manifest.json"),
            artifacts=artifacts,
            checks=tuple(
                CheckRequest(
                    id=name,
                    after="export_icon" if side == "photoshop_1" else "set_title",
                    blocking=True,
                    params=self.params.get(name, {}),
                )
                for name in self.checks or SIDES[side]
            ),
        )

    def copy(self, folder: Path) -> World:
        """The same world elsewhere, to be harmed there."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return dataclasses.replace(self, folder=folder, params=dict(self.params))


def fact(path: Path) -> FileFact:
    """A file's fact as it is now."""
    return FileFact(path=str(path), digest=digest_file(path))


@functools.cache
def built(name: str) -> bytes:
    """One of the sample's templates."""
    return build_template(name)


@functools.cache
def _art() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_art(Path(folder))
        return {path.stem: path.read_bytes() for path in sorted(Path(folder).glob("*.png"))}


def drawn_art(name: str) -> bytes:
    """One of the sample's pictures, by the beginning of its name."""
    return next(data for stem, data in _art().items() if stem.startswith(name))


def make_world(
    folder: Path,
    *,
    template: bytes | None = None,
    art: bytes | None = None,
    size: tuple[int, int] | None = None,
    imported_before: bool = False,
    dress: Callable[[Path], None] | None = None,
    **about: str,
) -> World:
    """Do the whole job with the real hands: template, art, project, PSD copy, PNG, import, wiring."""
    world = World(folder, **about)
    world.template.parent.mkdir(parents=True)
    world.template.write_bytes(template if template is not None else built(world.template_name))
    art = drawn_art("starter") if art is None else art
    world.art.write_bytes(art)
    found = png.examine(art)
    write_facts(world, digest_file(world.template), *(size or (found.width, found.height)))
    decision = decide(load_pack(PACK), GRAPH, world.ticket)
    photoshop(world, decision.values["art_layer"], decision.values["preset"])
    sample.build(world.project)
    if dress is not None:
        dress(world.project)
    if imported_before:
        world.icon.write_bytes((world.project / "Assets/Art/Offers/placeholder.png").read_bytes())
        stage_unity(world, decision.values, world.icon.read_bytes(), wire=False)
    write_manifest(world)
    (folder / "sealed.png").write_bytes(world.export.read_bytes())
    stage_unity(world, decision.values, world.export.read_bytes(), wire=True)
    return world


def write_facts(world: World, template: str, width: int, height: int) -> None:
    """Keep what was commissioned and filed."""
    data = world.art.read_bytes()
    art = {"digest": digest_bytes(data), "size": len(data), "width": width, "height": height}
    facts = {"template": template, "title": world.title, "art": art}
    (world.folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


def write_manifest(world: World) -> None:
    """Take the tree manifest, and keep the bytes of what will be touched."""
    (world.folder / "manifest.json").write_text(json.dumps(tree_manifest(world.project)), encoding="utf-8")
    for path in (world.asset, world.icon, world.meta):
        if path.exists():
            kept = world.folder / "before" / path.relative_to(world.project)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(path.read_bytes())


def photoshop(world: World, layer: dict[str, object], preset: dict[str, object]) -> None:
    """Open, replace, export."""
    session = Session(Limits(), {"smart_object_uuid_1": "11111111-2222-4333-8444-555555555555"})
    steps = (
        ("photoshop.open_duplicate@1", {"source": str(world.template), "copy": "icon.psd"}),
        ("photoshop.replace_smart_object@1", {"layer": layer, "contents": str(world.art), "scope": "layer"}),
        ("photoshop.export_png@1", {"preset": ExportPreset.model_validate(preset).body(), "out": "icon.png"}),
    )
    for number, (capability, args) in enumerate(steps):
        session.run(number, capability, args)
    session.save(world.folder / "delivery")


def stage_unity(world: World, values: dict[str, object], picture: bytes, *, wire: bool) -> None:
    """Import and, with ``wire``, set icon and title; written into the project at once."""
    stage = world.folder / "stage"
    source = world.folder / "source.png"
    source.write_bytes(picture)
    project = open_project(world.project)
    destination = str(values["destination"])
    names = needed_allocations(Workspace(project, stage), destination)
    drawn = {name: digest_bytes(f"{name} {number}".encode())[7:39] for number, name in enumerate(names)}
    workspace = Workspace(project, stage, drawn)
    profile = ImporterProfile.model_validate(values["profile"])
    if not wire:
        profile = profile.model_copy(update={"dimensions": ImporterProfile().dimensions})
    outputs = import_texture(
        workspace, ImportTexture(source="source.png", destination=destination, profile=profile), source
    )
    if wire:
        for path, value in (("icon", outputs["sprite"]), ("displayName", world.title)):
            args = {"asset": values["offer_asset"], "document": "11400000", "path": path, "value": value}
            set_property(workspace, SetProperty.model_validate(args))
    for change in workspace.flush():
        target = world.project / change.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((stage / change.path).read_bytes())
    shutil.rmtree(stage, ignore_errors=True)
    source.unlink()
