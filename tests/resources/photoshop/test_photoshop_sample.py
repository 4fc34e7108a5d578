"""The sample templates and art: small, original, the same bytes each time, read alike by both engines."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys

import numpy as np
import pytest
from photoshop_builders import ROOT
from PIL import Image

from resources.photoshop.colour import FIRST_OF_2000, srgb
from resources.photoshop.compose import composite
from resources.photoshop.psd.container import parse
from resources.photoshop.sample import TEMPLATES, build_template, write_art, write_templates


def test_templates_are_small_and_always_the_same(template, wide_template, tmp_path):
    """Under 330 kB; equal versions make equal bytes; written by name."""
    assert template == build_template("offer_icon.psd")
    assert max(len(template), len(wide_template)) < 330_000
    written = write_templates(tmp_path / "templates")
    assert set(TEMPLATES) == {path.name for path in (tmp_path / "templates").iterdir()} == set(written)
    assert template == written["offer_icon.psd"].read_bytes()


def test_another_process_makes_the_same_template(template):
    """Nothing of the clock, the process or the platform is in it."""
    program = (
        "import hashlib; from resources.photoshop.sample import build_template\n"
        "print(hashlib.sha256(build_template()).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert hashlib.sha256(template).hexdigest() == other.stdout.strip()
    assert FIRST_OF_2000 == srgb()[24:36]


@pytest.mark.parametrize("name", TEMPLATES)
def test_both_engines_draw_the_same_picture(name):
    """psd-tools' own compositor agrees with psdparse's within rounding, and with the merged image."""
    from psd_tools import PSDImage

    data = build_template(name)
    fast = composite(parse(data), data).pixels
    image = PSDImage.open(io.BytesIO(data))
    slow = np.asarray(image.composite(ignore_preview=True).convert("RGBA"))
    seen = fast[..., 3] > 0
    assert np.abs(fast.astype(int) - slow)[seen].mean() < 0.5
    merged = np.asarray(image.topil().convert("RGBA"))
    assert np.abs(fast.astype(int) - merged)[fast[..., 3] == 255].max() <= 1


def test_psd_tools_reads_smart_object_and_text(template):
    """The independent reader finds the embedded file, its quad and the text engine's data."""
    from psd_tools import PSDImage

    layers = {layer.layer_id: layer for layer in PSDImage.open(io.BytesIO(template)).descendants()}
    assert len(layers) == 12
    smart = layers[3].smart_object
    assert ("data", "png", "placeholder.png") == (smart.kind, smart.filetype, smart.filename)
    assert len(smart.transform_box) == 8
    text = layers[11]
    assert ("type", "OFFER") == (text.kind, text.text)
    assert text.engine_dict["Editor"]["Text"].value == "OFFER\r"
    assert text.resource_dict["FontSet"][0]["Name"].value == "Aileron-Regular"


def test_art_is_drawn_with_room_around_it(tmp_path):
    """Three pictures of 512 pixels, transparent at their borders."""
    written = write_art(tmp_path)
    assert {"starter_pack.png", "daily_deal.png", "mega_bundle.png"} == set(written)
    for path in written.values():
        pixels = np.asarray(Image.open(path))
        assert (512, 512, 4) == pixels.shape
        assert not pixels[[0, -1], :, 3].any()
        assert 0.2 < (pixels[..., 3] > 0).mean() < 0.8
