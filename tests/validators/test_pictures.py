"""Measures of likeness: exact where pictures are equal, sure where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fabric_dagster.validators.base import Outcome
from fabric_dagster.validators.kernels import pictures
from fabric_dagster.validators.kernels.likeness import Likeness, measure, must_be_alike

PICTURES = arrays(np.float32, (16, 16, 4), elements=st.floats(0, 1, width=32))


def pattern(side: int = 128) -> pictures.Picture:
    """A picture with edges everywhere."""
    rows, columns = np.indices((side, side))
    checks = ((rows // 8 + columns // 8) % 2).astype(np.float32)
    alpha = (np.hypot(rows - side / 2, columns - side / 2) < side * 0.45).astype(np.float32)
    return np.stack([checks, rows / side, columns / side, alpha], axis=-1).astype(np.float32)


@given(PICTURES)
def test_a_picture_is_itself(picture: pictures.Picture) -> None:
    """Similarity 1, difference 0."""
    assert np.allclose(pictures.ssim(picture, picture), 1)
    assert not pictures.delta_e(picture, picture).any()


@given(PICTURES, PICTURES)
def test_measures_are_symmetric(one: pictures.Picture, other: pictures.Picture) -> None:
    """Neither picture is the better one."""
    assert np.allclose(pictures.ssim(one, other), pictures.ssim(other, one), atol=1e-5)
    assert np.allclose(pictures.delta_e(one, other), pictures.delta_e(other, one), atol=1e-3)


@given(PICTURES)
def test_straight_undoes_multiplied(picture: pictures.Picture) -> None:
    """Colours that alpha can hold come back; those under none become black."""
    back = pictures.straight(pictures.multiplied(picture))
    held = picture[..., 3] > 1e-4

    assert np.allclose(picture[held], back[held], atol=1e-3)
    assert not back[picture[..., 3] == 0].any()


@pytest.mark.parametrize(
    ("colour", "lab"),
    [((1, 1, 1), (100, 0, 0)), ((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (53.24, 80.09, 67.2))],
)
def test_lab_is_that_of_srgb(colour: tuple[float, ...], lab: tuple[float, ...]) -> None:
    """White, black and red under D65."""
    assert np.allclose(lab, pictures.lab(np.array([[colour]], np.float32))[0, 0], atol=0.3)


def test_a_difference_under_alpha_counts_as_it_shows() -> None:
    """Colours that nobody sees are equal; white on nothing is seen over black."""
    hidden = np.zeros((4, 4, 4), np.float32)
    other = hidden.copy()
    other[..., 0] = 1
    white = np.ones((4, 4, 4), np.float32)

    assert pictures.delta_e(hidden, other).max() == 0
    assert pictures.delta_e(hidden, white).max() > 99


@pytest.mark.parametrize("name", ["shifted", "mirrored", "patched", "recoloured", "emptied"])
def test_another_picture_is_not_alike(name: str) -> None:
    """Each by at least one of the limits."""
    picture, other = pattern(), pattern()
    if name == "shifted":
        other = np.roll(other, 1, axis=1)
    elif name == "mirrored":
        other = np.ascontiguousarray(other[:, ::-1])
    elif name == "patched":
        other[60:76, 60:76] = other[20:36, 60:76]
    elif name == "recoloured":
        other[..., 1] = np.clip(other[..., 1] + 0.2, 0, 1)
    else:
        other[...] = 0
    outcome = Outcome()

    must_be_alike(outcome, picture, other, Likeness(), "picture")

    assert not outcome.passed
    assert list(outcome.pictures) == ["expected | found | difference"]


def test_a_little_noise_is_alike() -> None:
    """What eight bits and a filter leave is no finding."""
    picture = pattern()
    noise = np.random.default_rng(1).normal(0, 1 / 255, picture.shape).astype(np.float32)
    outcome = Outcome()

    must_be_alike(outcome, picture, np.clip(picture + noise * picture[..., 3:], 0, 1), Likeness(), "picture")

    assert outcome.passed, outcome.wrong
    assert outcome.pictures == {}


def test_the_worst_tile_is_found() -> None:
    """The figure names the place of a small defect."""
    other = pattern()
    other[64:96, 32:64] = 0.5

    assert measure(pattern(), other, Likeness()).tile == (32, 64)


def test_sizes_that_differ_are_a_finding_and_a_picture() -> None:
    """Nothing is scaled to fit."""
    outcome = Outcome()

    must_be_alike(outcome, pattern(128), pattern(96), Likeness(), "picture")

    assert [("128 x 128", "96 x 96")] == [(item.expected, item.found) for item in outcome.wrong]
    assert outcome.pictures


def test_bounds_are_half_open_and_none_of_nothing() -> None:
    """Left, top, right, bottom."""
    mask = np.zeros((5, 6), bool)
    assert pictures.bounds(mask) is None
    mask[1, 2] = mask[3, 4] = True
    assert pictures.bounds(mask) == (2, 1, 5, 4)
