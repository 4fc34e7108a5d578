"""Good runs of many kinds pass: another template, other proportions, depths, profiles, formats and titles.

A validator that refuses good work is as useless as one that lets bad work through.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from faults import joined
from PIL import Image
from validator_world import SIDES, built, drawn_art, make_world

from fabric_dagster.validators.kernels import png
from fabric_dagster.validators.run import Bench
from resources.photoshop.colour import srgb
from resources.photoshop.compose import composite, refresh_previews
from resources.photoshop.png import encode_png
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits


@pytest.fixture(scope="module")
def art() -> np.ndarray:
    """The sample's art, 512 x 512."""
    return png.decode(drawn_art("starter"), "art")


def wide_gamut() -> bytes:
    """A profile of larger primaries than sRGB: its red is another one."""
    profile = srgb().replace("sRGB".encode("utf-16-be"), "Wide".encode("utf-16-be"))
    at = profile.index(b"rXYZ")
    start = int.from_bytes(profile[at + 4 : at + 8], "big") + 8
    red, _, rest = profile[:start], profile[start : start + 12], profile[start + 12 :]
    return (
        red
        + b"".join(round(value * 65536).to_bytes(4, "big", signed=True) for value in (0.55, 0.25, 0.0))
        + rest
    )


def saved(art: np.ndarray, mode: str, **options: object) -> bytes:
    """The art by Pillow, in another mode."""
    stream = io.BytesIO()
    Image.fromarray(art).convert(mode).save(stream, "PNG", **options)
    return stream.getvalue()


def flat(art: np.ndarray) -> np.ndarray:
    """The art over white, opaque."""
    alpha = art[..., 3:].astype(np.float32) / 255
    out = art.astype(np.float32) * alpha + 255 * (1 - alpha)
    out[..., 3] = 255
    return np.round(out).astype(np.uint8)


def interlaced(art: np.ndarray) -> bytes:
    """The art as seven passes, which neither Pillow nor OpenCV writes."""
    raw = b""
    for left, top, across, down in png.ADAM7:
        part = np.ascontiguousarray(art[top::down, left::across])
        raw += b"".join(b"\0" + row.tobytes() for row in part)
    header = struct.pack(">IIBBBBB", art.shape[1], art.shape[0], 8, 6, 0, 0, 1)
    return joined([(b"IHDR", header), (b"IDAT", zlib.compress(raw)), (b"IEND", b"")])


def opaque(plane: np.ndarray) -> bytes:
    """A grey picture of one plane."""
    return encode_png(np.repeat(plane.astype(np.uint8)[..., None], 3, axis=-1))


ART: dict[str, Callable[[np.ndarray], bytes]] = {
    "wider": lambda art: encode_png(np.ascontiguousarray(art[100:400])),
    "taller": lambda art: encode_png(np.ascontiguousarray(art[:, 150:410])),
    "smaller": lambda art: encode_png(cv2.resize(art, (300, 300), interpolation=cv2.INTER_AREA)),
    "larger": lambda art: encode_png(cv2.resize(art, (1500, 1500), interpolation=cv2.INTER_CUBIC)),
    "opaque": lambda art: encode_png(np.ascontiguousarray(flat(art)[..., :3])),
    "sixteen bits": lambda art: encode_png(art.astype(np.uint16) * 257),
    "wide gamut": lambda art: encode_png(art, wide_gamut()),
    "grey": lambda art: saved(art, "LA"),
    "palette": lambda art: saved(flat(art), "P"),
    "interlaced": interlaced,
    "lines one pixel wide": lambda _art: opaque(np.indices((512, 512))[1] % 2 * 255),
    "checks two pixels wide": lambda _art: opaque(np.indices((512, 512)).sum(axis=0) // 2 % 2 * 255),
    "noise": lambda _art: opaque(np.random.default_rng(1).integers(0, 256, (256, 256))),
}


@pytest.mark.parametrize("kind", ART)
def test_art_of_any_kind_passes(art: np.ndarray, tmp_path: Path, kind: str) -> None:
    """Whatever the art is, the independent expectation agrees with the hands."""
    world = make_world(tmp_path / "world", art=ART[kind](art))

    for side in SIDES:
        verdict = Bench().judge(world.evidence(side), tmp_path / "out")
        assert verdict.passed, [(c.id, c.findings, c.figures) for c in verdict.checks if not c.passed]


def test_a_psd_as_art_passes(tmp_path: Path) -> None:
    """Its picture is what it shows; its bytes are embedded as they are."""
    data = built("offer_icon.psd")
    world = make_world(tmp_path / "world", art=data, size=(512, 512), art_name="art.psd")

    for side in SIDES:
        verdict = Bench().judge(world.evidence(side), tmp_path / "out")
        assert verdict.passed, [(c.id, c.findings, c.figures) for c in verdict.checks if not c.passed]


def test_a_psd_that_the_simple_renderer_cannot_draw_passes_by_its_merged_image(tmp_path: Path) -> None:
    """Colour dodge is the hands' business; what Photoshop stored beside the layers says how it looks."""
    container = parse(built("offer_icon.psd"), Limits())
    record = next(r for r in container.layer_info.layers if r.name[1:].startswith(b"Ribbon"))
    record.blend = b"div "
    container.layer_info.touched = True
    refresh_previews(container, composite(container, container.dump()).pixels)
    world = make_world(tmp_path / "world", art=container.dump(), size=(512, 512), art_name="art.psd")

    verdict = Bench().judge(world.evidence("photoshop_1"), tmp_path / "out")

    assert verdict.passed, [(c.id, c.findings, c.figures) for c in verdict.checks if not c.passed]


def test_another_template_passes(tmp_path: Path) -> None:
    """The wide one, with a perspective placement and another preset."""
    about = {"category": "offer.featured", "template_name": "offer_icon_wide.psd"}
    world = make_world(tmp_path / "world", **about)

    for side in SIDES:
        verdict = Bench().judge(world.evidence(side), tmp_path / "out")
        assert verdict.passed, [(c.id, c.findings, c.figures) for c in verdict.checks if not c.passed]


@pytest.mark.parametrize(
    "title", ["Größe: 50 % off!", "'quoted' # no comment", "0123", "- [x] {y}", "日本語", "yes"]
)
def test_any_title_is_read_as_unity_reads_it(tmp_path: Path, title: str) -> None:
    """Quoting and escapes are undone before the title is compared."""
    world = make_world(tmp_path / "world", title=title)
    world.checks = ("goal_met@1", "project_diff@1")

    assert Bench().judge(world.evidence("unity_1"), tmp_path / "out").passed
