"""What stands behind the fake Photoshop: real PSD bytes, edited by the headless engine.

A line of JSON in, a line of JSON out. Documents are bytes by id; merged duplicates are pixels.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from resources.photoshop.document import build
from resources.photoshop.edit import Session
from resources.photoshop.inspect import inspect
from resources.photoshop.png import encode_png
from resources.photoshop.psd.container import parse
from resources.photoshop.psd.limits import Limits
from resources.photoshop.raster import premultiplied, resample, straightened

LIMITS = Limits()
KINDS = {"smart_object": "smartObject", "text": "text", "group": "group", "artboard": "group"}


class Engine:
    """Open documents, as Photoshop would hold them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents: dict[int, bytes] = {}
        self.merged: dict[int, np.ndarray] = {}
        self.snapshots: list[bytes] = []
        self.next = 100

    def _add(self, store: dict, value) -> int:
        self.next += 1
        store[self.next] = value
        return self.next

    def told(self, identifier: int) -> dict:
        """A document as the fake shows it."""
        if identifier in self.merged:
            pixels = self.merged[identifier]
            rows, columns = pixels[..., 3].any(axis=1), pixels[..., 3].any(axis=0)
            box = [0, 0, 0, 0]
            if rows.any():
                found = np.flatnonzero(columns), np.flatnonzero(rows)
                box = [int(found[0][0]), int(found[1][0]), int(found[0][-1]) + 1, int(found[1][-1]) + 1]
            layer = {"id": 1, "name": "merged", "kind": "pixel", "visible": True, "locks": [], "box": box}
            size = {"width": pixels.shape[1], "height": pixels.shape[0]}
            return {"id": identifier, **size, "mode": "RGBColorMode", "depth": 8, "layers": [layer]}
        data = self.documents[identifier]
        found = inspect(parse(data, LIMITS), data)
        return {
            "id": identifier,
            "width": found["width"],
            "height": found["height"],
            "mode": {"rgb": "RGBColorMode", "gray": "grayscaleMode"}.get(
                found["mode"].lower(), "CMYKColorMode"
            ),
            "depth": found["depth"],
            "tagged": found["profile"] is not None,
            "comps": found["comps"],
            "layers": [self._layer(layer) for layer in found["layers"]],
        }

    def _layer(self, layer: dict) -> dict:
        smart = layer.get("smart_object")
        told = {
            "id": layer["id"],
            "name": layer["name"],
            "kind": KINDS.get(layer["kind"], "pixel"),
            "visible": layer["visible"],
            "locks": layer["locks"],
            "box": [layer["bounds"][side] for side in ("left", "top", "right", "bottom")],
            "text": (layer.get("text") or {}).get("contents"),
            "fonts": (layer.get("text") or {}).get("fonts", []),
        }
        if smart:
            told["smart"] = {
                "uuid": smart.get("uuid"),
                "linked": smart["kind"] == "linked",
                "filtered": bool(smart.get("filters")),
                "corners": [float(value) for corner in smart.get("quad") or () for value in corner],
                "size": [float(smart.get("width") or 0), float(smart.get("height") or 0)],
            }
        if layer["kind"] in {"group", "artboard"}:
            told["layers"] = [self._layer(child) for child in layer.get("children", [])]
        return told

    def open(self, path: str) -> dict:
        """A file, as a document."""
        data = Path(path).read_bytes()
        parse(data, LIMITS)
        return self.told(self._add(self.documents, data))

    def duplicate(self, id: int, merged: bool = False) -> dict:  # noqa: A002 - the wire's own word
        """The same document again, or its picture."""
        if not merged:
            return self.told(self._add(self.documents, self.documents[id]))
        from resources.photoshop.colour import convert
        from resources.photoshop.compose import composite

        data = self.documents[id]
        picture = composite(build(parse(data, LIMITS)).container, data)
        rgb = convert(np.ascontiguousarray(picture.pixels[..., :3]), picture.profile, None, "the document")
        pixels = np.concatenate([rgb, picture.pixels[..., 3:]], axis=-1)
        return self.told(self._add(self.merged, pixels))

    def close(self, id: int) -> dict:  # noqa: A002
        """Forget a document."""
        self.documents.pop(id, None)
        self.merged.pop(id, None)
        return {}

    def edit(self, id: int, capability: str, args: dict) -> dict:  # noqa: A002
        """One operation of the headless engine on an open document."""
        file = self.folder / "document.psd"
        file.write_bytes(self.documents[id])
        session = Session(LIMITS, {"smart_object_uuid_1": f"00000000-0000-4000-8000-{self.next:012d}"})
        session.run(0, "photoshop.open_duplicate@1", {"source": str(file), "copy": "document.psd"})
        session.run(1, capability, args)
        self.documents[id] = session.current.data()
        return self.told(id)

    def renumber(self, id: int, layer: int, number: int) -> dict:  # noqa: A002
        """Give a layer another id, as Photoshop may when contents are replaced."""
        container = parse(self.documents[id], LIMITS)
        for record in container.layer_info.layers:
            for block in record.blocks:
                if block.key == b"lyid" and int.from_bytes(block.data[:4], "big") == layer:
                    block.data = number.to_bytes(4, "big")
        container.layer_info.touched = True
        self.documents[id] = container.dump()
        return self.told(id)

    def snapshot(self, id: int) -> dict:  # noqa: A002
        """Keep the state of a document; its number."""
        self.snapshots.append(self.documents[id])
        return {"snapshot": len(self.snapshots) - 1}

    def restore(self, id: int, snapshot: int) -> dict:  # noqa: A002
        """Bring a document back to a kept state."""
        self.documents[id] = self.snapshots[snapshot]
        return self.told(id)

    def save(self, id: int, path: str) -> dict:  # noqa: A002
        """Write a document."""
        Path(path).write_bytes(self.documents[id])
        return {}

    def png(self, id: int, path: str, blank: bool = False) -> dict:  # noqa: A002
        """Write a merged picture; ``blank`` writes another picture of its size."""
        pixels = self.merged[id]
        if blank:
            pixels = np.full_like(pixels, 200)
            pixels[..., 3] = 255
        Path(path).write_bytes(encode_png(np.ascontiguousarray(pixels), None))
        return {}

    def trim(self, id: int) -> dict:  # noqa: A002
        """Cut a picture to what is not transparent."""
        left, top, right, bottom = self.told(id)["layers"][0]["box"]
        self.merged[id] = self.merged[id][top:bottom, left:right]
        return self.told(id)

    def resize(self, id: int, width: int, height: int) -> dict:  # noqa: A002
        """Resample a picture."""
        drawn = resample(premultiplied((self.merged[id] / 255).astype(np.float32)), width, height)
        self.merged[id] = np.round(straightened(drawn) * 255).astype(np.uint8)
        return self.told(id)

    def canvas(self, id: int, width: int, height: int) -> dict:  # noqa: A002
        """Another canvas around a picture, which stays in the middle."""
        pixels = self.merged[id]
        framed = np.zeros((height, width, 4), np.uint8)
        left, top = (width - pixels.shape[1]) // 2, (height - pixels.shape[0]) // 2
        framed[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
        self.merged[id] = framed
        return self.told(id)


def main() -> None:
    """Serve until the input ends."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(Path(folder))
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                reply = {"result": getattr(engine, asked["method"])(**asked["params"])}
            except Exception as fault:  # the fake Photoshop tells it  # noqa: BLE001
                reply = {"error": f"{type(fault).__name__}: {fault}"}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
