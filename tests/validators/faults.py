"""The declared matrix: every planted fault, where it is planted, and which validators catch it.

``plant`` harms a finished, good world. ``caught`` is exact: no validator more, none less. The picture faults
are planted into export and document apart or alike, since a real defect may be consistent.
"""

from __future__ import annotations

import dataclasses
import io
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from dressed_world import dressed
from PIL import Image
from validator_world import TEMPLATE, World, drawn_art, make_world, photoshop

from fabric_dagster.digests import digest_file
from fabric_dagster.validators.kernels import png
from resources.photoshop import sample
from resources.photoshop.colour import srgb
from resources.photoshop.png import encode_png
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.smartobjects import links, write_links

PHOTOSHOP = frozenset({
    "source_untouched@1", "png_valid@1", "alpha_clean@1", "safe_area@1", "colour_space@1", "art_in_place@1",
    "document_diff@1",
})  # fmt: skip
#: those that look at the export's pixels
PICTURE = PHOTOSHOP - {"source_untouched@1"}
SPRITE, TEXTURE = b"fileID: 21300000", b"fileID: 2800000"


@dataclass(frozen=True)
class Planted:
    """One fault. ``base`` names the world it is planted into (``conftest.py`` makes each once)."""

    name: str
    side: str
    caught: frozenset[str]
    plant: Callable[[World], None]
    base: str = "good"


FAULTS: dict[str, Planted] = {}


def photoshop_fault(
    *caught: str, base: str = "good"
) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    """Declare a fault of the Photoshop side, named by its function."""
    return _declare("photoshop_1", caught, base)


def unity_fault(
    *caught: str, base: str = "good"
) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    """Declare a fault of the Unity side, named by its function."""
    return _declare("unity_1", caught, base)


def whole_project_fault(
    *caught: str, base: str = "rich"
) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    """Declare a fault of the Unity side that every project check looks for, named by its function."""
    return _declare("unity_all", caught, base)


def _declare(
    side: str, caught: tuple[str, ...], base: str
) -> Callable[[Callable[[World], None]], Callable[[World], None]]:
    def register(plant: Callable[[World], None]) -> Callable[[World], None]:
        names = frozenset(name if "@" in name else f"{name}@1" for name in caught)
        FAULTS[plant.__name__] = Planted(plant.__name__, side, names, plant, base)
        return plant

    return register


# -- tools


def pixels(world: World) -> np.ndarray:
    """The export, decoded."""
    return png.decode(world.export.read_bytes(), "export").copy()


def put(world: World, picture: np.ndarray) -> None:
    """Replace the export."""
    world.export.write_bytes(encode_png(np.ascontiguousarray(picture)))


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Kind and data of each chunk."""
    found, at = [], 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def joined(parts: list[tuple[bytes, bytes]]) -> bytes:
    """A PNG of these chunks."""
    packed = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts]
    return png.SIGNATURE + b"".join(packed)


def edit_document(world: World, change: Callable[[object], None]) -> None:
    """Change the edited copy, block by block."""
    container = parse(world.document.read_bytes(), Limits())
    change(container)
    container.layer_info.touched = True
    world.document.write_bytes(container.dump())


def record_of(container: object, name: bytes) -> object:
    """The layer record of a name."""
    return next(record for record in container.layer_info.layers if record.name[1:].startswith(name))


def swap_contents(world: World, data: bytes) -> None:
    """Put other bytes into the smart object, drawing nothing again."""

    def change(container: object) -> None:
        (link,) = links(container).values()
        link.item.data = data
        write_links(link)

    edit_document(world, change)


def again(world: World, art: bytes) -> None:
    """Document and export made from other art, as a specialist would that took the wrong file."""
    filed = world.art.read_bytes()
    world.art.write_bytes(art)
    photoshop(world, {"path": "Art/Art"}, {"width": 256, "height": 256})
    world.art.write_bytes(filed)


def redrawn(world: World, change: Callable[[np.ndarray], np.ndarray]) -> bytes:
    """The ticket's art, changed."""
    return encode_png(np.ascontiguousarray(change(png.decode(world.art.read_bytes(), "art").copy())))


def replace(path: Path, old: bytes, new: bytes) -> None:
    """Replace the one place where ``old`` stands."""
    data = path.read_bytes()
    assert data.count(old) == 1, f"{path.name} holds {old!r} {data.count(old)} times"
    path.write_bytes(data.replace(old, new))


def guid(meta: Path) -> bytes:
    """The GUID in a ``.meta``."""
    return meta.read_bytes().split(b"guid: ")[1][:32]


# -- the picture


@photoshop_fault("art_in_place", "colour_space", "document_diff")
def wrong_art(world: World) -> None:
    """Another ticket's art, consistently."""
    again(world, drawn_art("daily"))


@photoshop_fault("art_in_place")
def mirrored_alike(world: World) -> None:
    """Drawn mirrored in document and export, with the right bytes embedded."""
    again(world, redrawn(world, lambda art: art[:, ::-1]))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("art_in_place")
def shifted_3_px_alike(world: World) -> None:
    """Drawn three canvas pixels to the right in document and export."""
    again(world, redrawn(world, lambda art: np.roll(art, 4, axis=1)))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("art_in_place")
def shifted_a_third_of_a_pixel_alike(world: World) -> None:
    """Drawn one pixel of the art, a third of the icon's, to the right."""
    again(world, redrawn(world, lambda art: np.roll(art, 1, axis=1)))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("art_in_place")
def turned_half_a_degree_alike(world: World) -> None:
    """Drawn slightly turned in document and export."""

    def turned(art: np.ndarray) -> np.ndarray:
        side = art.shape[0]
        return cv2.warpAffine(art, cv2.getRotationMatrix2D((side / 2, side / 2), 0.5, 1), (side, side))

    again(world, redrawn(world, turned))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("art_in_place")
def small_part_wrong_alike(world: World) -> None:
    """Six pixels of the icon, square, show another part of the art."""

    def patched(art: np.ndarray) -> np.ndarray:
        art[250:266, 250:266] = art[200:216, 300:316]
        return art

    again(world, redrawn(world, patched))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("colour_space")
def faded_alike(world: World) -> None:
    """The art at 95 % opacity in document and export."""

    def faded(art: np.ndarray) -> np.ndarray:
        art[..., 3] = np.round(art[..., 3] * 0.95)
        return art

    again(world, redrawn(world, faded))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("art_in_place", "document_diff", "safe_area")
def shifted_3_px(world: World) -> None:
    """The export's picture three pixels down, frame and all."""
    picture = np.zeros_like(pixels(world))
    picture[3:] = pixels(world)[:-3]
    put(world, picture)


@photoshop_fault("art_in_place", "colour_space")
def scaled_alike(world: World) -> None:
    """Drawn at 92 % in document and export."""

    def smaller(art: np.ndarray) -> np.ndarray:
        side = art.shape[0]
        small = cv2.resize(art, (side * 92 // 100, side * 92 // 100), interpolation=cv2.INTER_AREA)
        edge = side - small.shape[0]
        padding = ((edge // 2, edge - edge // 2), (edge // 2, edge - edge // 2), (0, 0))
        return np.pad(small, padding)

    again(world, redrawn(world, smaller))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("art_in_place", "colour_space")
def stale_raster_alike(world: World) -> None:
    """New bytes embedded, but layer, merged image and export still show the placeholder."""
    again(world, encode_png(sample.placeholder()))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("art_in_place", "colour_space", "document_diff")
def old_contents_exported(world: World) -> None:
    """A right document, and an export made before the contents were replaced."""
    document = world.document.read_bytes()
    again(world, encode_png(sample.placeholder()))
    world.document.write_bytes(document)


@photoshop_fault("art_in_place", "colour_space", "document_diff", "safe_area")
def colours_shifted(world: World) -> None:
    """Desaturated by a third, as a missing conversion does."""
    picture = pixels(world).astype(np.float32)
    grey = picture[..., :3].mean(axis=2, keepdims=True)
    picture[..., :3] = grey + (picture[..., :3] - grey) * 0.67
    put(world, np.round(picture).astype(np.uint8))


@photoshop_fault("colour_space")
def colours_shifted_slightly_alike(world: World) -> None:
    """Art drawn without its colour conversion: hardly visible, everywhere."""

    def duller(art: np.ndarray) -> np.ndarray:
        picture = art.astype(np.float32)
        grey = picture[..., :3].mean(axis=2, keepdims=True)
        picture[..., :3] = grey + (picture[..., :3] - grey) * 0.9
        return np.round(picture).astype(np.uint8)

    again(world, redrawn(world, duller))
    swap_contents(world, world.art.read_bytes())


@photoshop_fault("colour_space")
def untagged(world: World) -> None:
    """No colour declaration."""
    data = [part for part in chunks(world.export.read_bytes()) if part[0] != b"sRGB"]
    world.export.write_bytes(joined(data))


@photoshop_fault("colour_space")
def wide_gamut_tagged(world: World) -> None:
    """Right numbers under a profile of another space."""
    wide = srgb().replace("sRGB".encode("utf-16-be"), "Wide".encode("utf-16-be"))
    packed = b"ICC Profile\0\0" + zlib.compress(wide)
    parts = [part for part in chunks(world.export.read_bytes()) if part[0] != b"sRGB"]
    world.export.write_bytes(joined([parts[0], (b"iCCP", packed), *parts[1:]]))


@photoshop_fault("alpha_clean")
def premultiplied(world: World) -> None:
    """Soft edges darkened by their own alpha."""
    picture = pixels(world).astype(np.float32)
    picture[..., :3] *= picture[..., 3:] / 255
    put(world, np.round(picture).astype(np.uint8))


@photoshop_fault("alpha_clean")
def matted_white(world: World) -> None:
    """Soft edges carry the white that they were cut from."""
    picture = pixels(world).astype(np.float32)
    alpha = picture[..., 3:] / 255
    picture[..., :3] = picture[..., :3] * alpha + 255 * (1 - alpha)
    put(world, np.round(picture).astype(np.uint8))


@photoshop_fault("alpha_clean", "art_in_place", "colour_space", "document_diff", "safe_area")
def opaque_background(world: World) -> None:
    """Flattened on white."""
    picture = pixels(world).astype(np.float32)
    alpha = picture[..., 3:] / 255
    picture[..., :3] = picture[..., :3] * alpha + 255 * (1 - alpha)
    picture[..., 3] = 255
    put(world, np.round(picture).astype(np.uint8))


@photoshop_fault("alpha_clean")
def stray_pixels(world: World) -> None:
    """Two faint pixels in a transparent corner."""
    picture = pixels(world)
    picture[1, 2] = picture[2, 3] = (255, 255, 255, 20)
    put(world, picture)


@photoshop_fault("safe_area", base="wide")
def outside_safe_area(_world: World) -> None:
    """The template places the art beyond its own guides; the picture is as expected."""


@photoshop_fault(*PICTURE)
def wrong_size(world: World) -> None:
    """250 pixels instead of 256."""
    put(world, cv2.resize(pixels(world), (250, 250), interpolation=cv2.INTER_AREA))


@photoshop_fault("png_valid")
def sixteen_bits(world: World) -> None:
    """The same picture with 16 bits a sample."""
    put(world, pixels(world).astype(np.uint16) * 257)


@photoshop_fault("art_in_place", "document_diff", "png_valid")
def palette(world: World) -> None:
    """The same picture in a palette of too few colours."""
    stream = io.BytesIO()
    image = Image.fromarray(pixels(world)).quantize(256, method=Image.Quantize.FASTOCTREE)
    image.save(stream, "PNG")
    parts = chunks(stream.getvalue())
    world.export.write_bytes(joined([parts[0], (b"sRGB", b"\0"), *parts[1:]]))


@photoshop_fault(*PICTURE)
def truncated(world: World) -> None:
    """Half of the file."""
    data = world.export.read_bytes()
    world.export.write_bytes(data[: len(data) // 2])


@photoshop_fault(*PICTURE)
def trailing_data(world: World) -> None:
    """Something hidden behind the picture."""
    world.export.write_bytes(world.export.read_bytes() + b"PK\x03\x04")


@photoshop_fault("png_valid")
def metadata(world: World) -> None:
    """A comment with the author's name."""
    parts = chunks(world.export.read_bytes())
    world.export.write_bytes(joined([parts[0], (b"tEXt", b"Author\0somebody"), *parts[1:]]))


# -- sources and document


@photoshop_fault("source_untouched")
def template_saved_over(world: World) -> None:
    """The template's thumbnail differs: somebody opened and saved it."""
    container = parse(world.template.read_bytes(), Limits())
    resource = container.resource(1036)
    resource.replace(resource.data[:-1] + bytes([resource.data[-1] ^ 1]))
    world.template.write_bytes(container.dump())


@photoshop_fault(*PHOTOSHOP)
def ticket_picture_changed(world: World) -> None:
    """Other bytes under the attachment's name since the ticket was accepted."""
    world.art.write_bytes(redrawn(world, lambda art: art[::-1]))


@photoshop_fault("document_diff")
def hidden_layer_moved(world: World) -> None:
    """A layer of the hidden notes, three pixels further: nothing shows it."""

    def change(container: object) -> None:
        record = record_of(container, b"Safe area")
        record.left += 3
        record.right += 3

    edit_document(world, change)


@photoshop_fault("document_diff")
def layer_locked_away(world: World) -> None:
    """A layer inside the hidden group loses its eye."""
    edit_document(world, lambda container: setattr(record_of(container, b"Safe area"), "flags", 10))


@photoshop_fault("document_diff")
def extra_layer(world: World) -> None:
    """One layer more, inside the hidden group."""

    def change(container: object) -> None:
        layers = container.layer_info.layers
        at = layers.index(record_of(container, b"Safe area"))
        layers.insert(at, layers[at])
        container.layer_info.count = -len(layers) if container.layer_info.count < 0 else len(layers)

    edit_document(world, change)


@photoshop_fault("document_diff")
def embedded_bytes_swapped(world: World) -> None:
    """The right picture drawn, another one embedded."""
    swap_contents(world, redrawn(world, lambda art: art[::-1]))


@photoshop_fault("document_diff")
def preview_left_stale(world: World) -> None:
    """Layers and export are right, the merged image is the template's."""

    def change(container: object) -> None:
        container.image = parse(world.template.read_bytes(), Limits()).image

    edit_document(world, change)


@photoshop_fault("document_diff")
def guides_lost(world: World) -> None:
    """The copy has no guides any more."""

    def change(container: object) -> None:
        container.resources = [resource for resource in container.resources if resource.id != 1032]

    edit_document(world, change)


# -- the project


@unity_fault("import_profile")
def filter_mode_changed(world: World) -> None:
    """Point filtering."""
    replace(world.meta, b"filterMode: 1", b"filterMode: 0")


@unity_fault("import_profile")
def max_texture_size_changed(world: World) -> None:
    """The default platform's limit."""
    data = world.meta.read_bytes()
    world.meta.write_bytes(data.replace(b"maxTextureSize: 512", b"maxTextureSize: 256", 1))


@unity_fault("import_profile")
def importer_key_missing(world: World) -> None:
    """A key that the profile does not name."""
    replace(world.meta, b"  isReadable: 0\n", b"")


@unity_fault("import_profile", base="imported")
def guid_changed(world: World) -> None:
    """A new GUID on re-import, and the offer wired to it."""
    old, new = guid(world.meta), b"3f2b8c5d7e904a61b8d2f1c0a9e47d53"
    for path in (world.meta, world.asset):
        replace(path, old, new)


@unity_fault("import_profile", base="imported")
def labels_lost(world: World) -> None:
    """Something that the profile does not name changed on re-import."""
    replace(world.meta, b"  userData: \n", b"  userData: changed\n")


@unity_fault("goal_met", "import_profile", "references_resolve")
def meta_stub(world: World) -> None:
    """Nothing but a GUID."""
    world.meta.write_bytes(b"fileFormatVersion: 2\nguid: " + guid(world.meta) + b"\n")


@unity_fault("goal_met", "references_resolve")
def texture_in_sprite_field(world: World) -> None:
    """The icon refers to the texture, not to its sprite."""
    replace(world.asset, SPRITE, TEXTURE)


@unity_fault("goal_met", "references_resolve")
def unknown_guid(world: World) -> None:
    """The icon refers to nothing."""
    replace(world.asset, guid(world.meta), b"5d0c6b7a8e9f41b2a3c4d5e6f7081929")


@unity_fault("references_resolve")
def dangling_neighbour(world: World) -> None:
    """The offer's badge led nowhere already before the run."""
    badges = guid(world.project / "Assets/Art/Offers/badges.png.meta")
    for path in (world.asset, world.folder / "before" / world.asset.relative_to(world.project)):
        replace(path, badges, b"5d0c6b7a8e9f41b2a3c4d5e6f7081929")
    manifest = json.loads((world.folder / "manifest.json").read_bytes())
    name = world.asset.relative_to(world.project).as_posix()
    manifest[name] = digest_file(world.folder / "before" / name)
    (world.folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


@unity_fault("goal_met", "project_diff")
def wrong_offer_wired(world: World) -> None:
    """Icon and title went to another offer."""
    wired = world.asset.read_bytes()
    world.asset.write_bytes((world.folder / "before" / world.asset.relative_to(world.project)).read_bytes())
    other = world.asset.with_name("daily_deal.asset")
    other.write_bytes(wired.replace(b"starter_pack", b"daily_deal"))


@unity_fault("goal_met")
def title_typo(world: World) -> None:
    """One letter."""
    replace(world.asset, b"displayName: Starter Pack", b"displayName: Startr Pack")


@unity_fault("project_diff")
def another_file_changed(world: World) -> None:
    """A script got a line more."""
    script = world.project / "Assets/Scripts/Offers/OfferCatalog.cs"
    script.write_bytes(script.read_bytes() + b"// changed\n")


@unity_fault("project_diff")
def another_property_changed(world: World) -> None:
    """The price."""
    replace(world.asset, b"price: 4.99", b"price: 0.99")


@unity_fault("project_diff")
def line_ends_changed(world: World) -> None:
    """The offer was written again with other line ends."""
    world.asset.write_bytes(world.asset.read_bytes().replace(b"\n", b"\r\n"))


@unity_fault("project_diff")
def extra_file(world: World) -> None:
    """A backup copy left beside the offer."""
    (world.asset.parent / "starter_pack.bak").write_bytes(b"backup")


@unity_fault("project_diff")
def settings_changed(world: World) -> None:
    """The project's own settings."""
    settings = world.project / "ProjectSettings/ProjectVersion.txt"
    settings.write_bytes(settings.read_bytes().replace(b"2022", b"6000"))


@unity_fault("project_diff")
def outside_the_commission(world: World) -> None:
    """Decided, done as decided, and never commissioned."""
    world.writes = ("Assets/Data",)


@unity_fault("project_diff", "references_resolve")
def file_deleted(world: World) -> None:
    """A picture that the offer's badge needs is gone."""
    (world.project / "Assets/Art/Offers/badges.png").unlink()


@unity_fault("import_profile")
def not_the_sealed_bytes(world: World) -> None:
    """The same pixels, encoded again."""
    parts = chunks(world.icon.read_bytes())
    data = zlib.compress(zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT")), 1)
    world.icon.write_bytes(joined([parts[0], (b"sRGB", b"\0"), (b"IDAT", data), (b"IEND", b"")]))


@unity_fault("goal_met")
def wrong_art_sealed(world: World) -> None:
    """Another ticket's picture was sealed and imported, consistently."""
    again(world, drawn_art("daily"))
    for path in (world.icon, world.folder / "sealed.png"):
        path.write_bytes(world.export.read_bytes())


# -- worlds


def base_worlds() -> dict[str, Callable[[Path], World]]:
    """Name → maker of a whole, good run."""
    return {
        "good": make_world,
        "imported": lambda folder: make_world(folder, imported_before=True),
        "wide": _beyond_guides,
        "rich": lambda folder: make_world(folder, dress=dressed),
    }


def _beyond_guides(folder: Path) -> World:
    """A commissioned template that places the art too large, and art that fills its square."""
    look = sample.TEMPLATES[TEMPLATE]
    sample.TEMPLATES[TEMPLATE] = dataclasses.replace(
        look, quad=(20.0, 20.0, 492.0, 20.0, 492.0, 492.0, 20.0, 492.0)
    )
    try:
        template = sample.build_template(TEMPLATE)
    finally:
        sample.TEMPLATES[TEMPLATE] = look
    rows, columns = np.indices((256, 256))
    art = np.stack([rows, columns, 255 - rows, np.full_like(rows, 255)], axis=-1).astype(np.uint8)
    return make_world(folder, template=template, art=encode_png(art))
