"""What the peers are asked to do with a PSD, as scripts for their own environments.

psd-tools has no replacement of smart objects: the script does what one would write with it, a perspective
transform by Pillow into the layer's own rectangle, channel by channel. It proves nothing and leaves the
previews stale, which is less than ours does. ag-psd draws nothing: it reads, replaces the linked file's bytes
and writes. ImageMagick replaces nothing: it reads, merges the layers without their effects, and writes a PNG.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PSD_TOOLS = ("psd-tools[composite]==1.26.0",)
AG_PSD = "ag-psd@31.0.2"
MINUTES = 5 * 60
MAGICK = ("magick", "convert", "convert-im6.q16")

EDIT = """
import io, json, sys, time
import numpy as np
from PIL import Image
from psd_tools import PSDImage

def once(template, art, out):
    began = time.perf_counter()
    psd = PSDImage.open(template)
    layer = next(each for each in psd.descendants() if each.kind == "smartobject")
    data = open(art, "rb").read()
    layer.smart_object._data.data = data
    picture = Image.open(io.BytesIO(data)).convert("RGBA")
    wide, high = picture.size
    corners = np.reshape(layer.smart_object.transform_box, (4, 2)) - [layer.left, layer.top]
    rows, values = [], []
    for (u, v), (x, y) in zip([(0, 0), (wide, 0), (wide, high), (0, high)], corners):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    solved = np.linalg.solve(rows, values)
    way = Image.Transform.PERSPECTIVE
    drawn = picture.transform(layer.size, way, tuple(solved), Image.Resampling.BICUBIC)
    planes = np.asarray(drawn)
    for info, channel in zip(layer._record.channel_info, layer._channels):
        plane = planes[..., 3 if info.id < 0 else info.id]
        info.length = 2 + channel.set_data(plane.tobytes(), layer.width, layer.height, 8, 1)
    psd.composite(ignore_preview=True).save(out + ".png")
    psd.save(out + ".psd")
    return time.perf_counter() - began

template, out, *arts = sys.argv[1:]
once(template, arts[0], out)
print(json.dumps([once(template, art, out) for art in arts]))
"""

DRAW = """
import json, sys, time
from psd_tools import PSDImage
began = time.perf_counter()
PSDImage.open(sys.argv[1]).composite(ignore_preview=True).save(sys.argv[2])
taken = time.perf_counter() - began
try:
    # Not getrusage: that one still counts what the process was before it became this program.
    status = open("/proc/self/status", encoding="ascii").read()
    peak = int(status.partition("VmHWM:")[2].split()[0])
except OSError:
    peak = 0
print(json.dumps([taken, peak]))
"""

OURS = """
import json, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from resources.photoshop import engine
from resources.photoshop.psd.limits import Limits
engine.warm_up()
began = time.perf_counter()
engine.render_file(sys.argv[1], sys.argv[2], None, "canvas", Limits())
taken = time.perf_counter() - began
try:
    # Not getrusage: that one still counts what the process was before it became this program.
    status = open("/proc/self/status", encoding="ascii").read()
    peak = int(status.partition("VmHWM:")[2].split()[0])
except OSError:
    peak = 0
print(json.dumps([taken, peak]))
"""

NODE = """
const fs = require("fs");
const { readPsd, writePsdBuffer, initializeCanvas } = require("ag-psd");
const none = () => { throw new Error("no canvas") };
const blank = (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) });
initializeCanvas(none, blank);
const [template, out, ...arts] = process.argv.slice(2);
const once = (art) => {
  const began = process.hrtime.bigint();
  const psd = readPsd(fs.readFileSync(template), { useImageData: true, useRawThumbnail: true });
  if (art) {
    if (psd.linkedFiles) psd.linkedFiles[0].data = fs.readFileSync(art);
    fs.writeFileSync(out, writePsdBuffer(psd, { noBackground: true }));
  }
  return Number(process.hrtime.bigint() - began) / 1e9;
};
once(arts[0]);
console.log(JSON.stringify((arts.length ? arts : [null]).map(once)));
"""


def node_folder(folder: Path) -> bool:
    """Put ag-psd into ``folder``; whether that could be done."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return False
    (folder / "ask.js").write_text(NODE, encoding="utf-8")
    words = [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), AG_PSD]
    try:
        done = subprocess.run(words, capture_output=True, check=False, timeout=MINUTES)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def ask_node(folder: Path, *words: str) -> list[float]:
    """Seconds by call of ag-psd."""
    node = shutil.which("node") or "node"
    done = subprocess.run(
        [node, str(folder / "ask.js"), *words], capture_output=True, check=True, timeout=MINUTES
    )
    found: list[float] = json.loads(done.stdout)
    return found


def magick() -> str | None:
    """ImageMagick's program, proven to be it by what it says of itself."""
    for name in MAGICK:
        found = shutil.which(name)
        if found is None:
            continue
        said: Any = subprocess.run([found, "-version"], capture_output=True, check=False, timeout=60)
        if said.returncode == 0 and said.stdout.startswith(b"Version: ImageMagick"):
            return found
    return None
