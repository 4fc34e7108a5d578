"""Planted faults of the checks of looks: what the picture checks of the export alone do not see."""

from __future__ import annotations

import numpy as np
from faults import _declare, edit_document, pixels, put
from validator_world import World

from resources.photoshop.document import layer_name

SIDE = "photoshop_qa"


def looks_fault(*caught: str):
    """Declare a fault that the checks of looks look for, named by its function."""
    return _declare(SIDE, caught, "good")


@looks_fault("reference_match")
def the_frame_is_drawn_in_other_colours(world: World) -> None:
    """Everything outside of the art is as one would expect, in colours that Photoshop did not draw."""
    picture = pixels(world)
    picture[: picture.shape[0] // 8, :, :3] = picture[: picture.shape[0] // 8, :, 2::-1]
    put(world, picture)


@looks_fault("reference_match")
def the_picture_is_moved_by_some_pixels(world: World) -> None:
    """The whole export is three pixels to the right."""
    put(world, np.roll(pixels(world), 3, axis=1))


@looks_fault("output_reopens", "text_fits")
def the_document_is_cut_off(world: World) -> None:
    """The last two thirds of the edited copy are missing."""
    data = world.document.read_bytes()
    world.document.write_bytes(data[: len(data) // 3])


@looks_fault("output_reopens", "reference_match")
def the_export_is_cut_off(world: World) -> None:
    """Half of the export is missing."""
    data = world.export.read_bytes()
    world.export.write_bytes(data[: len(data) // 2])


@looks_fault("output_reopens", "reference_match")
def bytes_follow_the_pictures_end(world: World) -> None:
    """Something is hung onto the export."""
    world.export.write_bytes(world.export.read_bytes() + b"and more")


@looks_fault("text_fits")
def the_label_leaves_the_canvas(world: World) -> None:
    """The text layer's pixels start beyond the right side."""

    def move(container: object) -> None:
        for record in container.layer_info.layers:  # type: ignore[attr-defined]
            if layer_name(record) == "Label":
                record.left, record.right = record.left + 300, record.right + 300
        container.layer_info.touched = True  # type: ignore[attr-defined]

    edit_document(world, move)


@looks_fault("output_reopens")
def the_documents_preview_is_cut_off(world: World) -> None:
    """The end of the edited copy, its merged image, is missing; its layers are whole."""
    world.document.write_bytes(world.document.read_bytes()[:-2000])
