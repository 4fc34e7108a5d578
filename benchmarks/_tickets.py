"""Tickets and homes for the comparisons: every ticket is another one, so that nothing is ever replayed."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from resources.supervision.assembly import Hall

GRAPH = "CreateOfferIconAndIntegrate@1"
EXAMPLES = ("OFFER-101", "OFFER-102", "OFFER-103")


def open_home(folder: Path) -> Hall:
    """A fresh demo home in ``folder`` with the sample graph executable."""
    from resources.home import Home
    from resources.setup import initialise
    from resources.supervision.assembly import hall as open_hall
    from resources.supervision.demonstration import make_executable

    home = Home(folder)
    initialise(home)
    hall = open_hall(home.path)
    make_executable(hall, hall.workflow(GRAPH), lambda _line: None)
    return hall


def make_ticket(folder: Path, examples: Path, number: int) -> Path:
    """Ticket ``BENCH-number`` in ``folder``: an example's art with a line of its own, under its own title."""
    from PIL import Image, ImageDraw

    name = EXAMPLES[number % len(EXAMPLES)]
    key = f"BENCH-{number}"
    issue = json.loads((examples / f"{name}.json").read_text(encoding="utf-8"))
    issue["key"] = key
    text = re.sub(r"title: [^\\\"]+", f"title: Offer {number}", json.dumps(issue))
    (folder / key).mkdir(parents=True)
    for picture in (examples / name).iterdir():
        with Image.open(picture) as image:
            art = image.convert("RGBA")
        width, height = art.size
        ink = (number * 37 % 256, number * 91 % 256, 200, 255)
        ImageDraw.Draw(art).line((width // 4, height // 2, width * 3 // 4, height // 2), ink, 9)
        data = io.BytesIO()
        art.save(data, "PNG")
        (folder / key / picture.name).write_bytes(data.getvalue())
    path = folder / f"{key}.json"
    path.write_text(text, encoding="utf-8")
    return path
