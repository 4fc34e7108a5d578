"""Damaged files by the thousand: each ends in a result or in one typed failure, and the run lives on.

``FABRIC_FUZZ`` is how many the long test tries (default 10,000); a sample is in every test run.
"""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import pytest
from photoshop_builders import CORPUS, corpus_entries

from fabric_dagster.errors import FabricError
from resources.photoshop.client import Pool
from resources.photoshop.psd.limits import Limits
from resources.photoshop.sample import build_template

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE, MANY = 60, int(os.environ.get("FABRIC_FUZZ", "10000"))
BATCH = 100
LARGEST_SEED = 200_000
#: small, so that a mutant that grows is refused early; a mutant past the time would fail the test
LIMITS = Limits(pixels=4_000_000, total_pixels=40_000_000, layers=500, seconds=20.0, memory=1 << 30)
#: how long one batch may take, whatever is in it: twice the time limit of each request and a start
PATIENCE = 2 * LIMITS.seconds + 60
KNOWN_PREFIXES = ("psd.", "photoshop.")


def seeds() -> list[bytes]:
    """Whole files to damage: the sample template, and what is small in the corpus."""
    found = [build_template("offer_icon.psd")]
    for entry in corpus_entries():
        data = (CORPUS / entry["file"]).read_bytes()
        if len(data) <= LARGEST_SEED:
            found.append(data)
    return found


def mutant(chance: random.Random, files: list[bytes]) -> bytes:
    """One damaged file: one to three faults, more of them near the front, where lengths are."""
    data = bytearray(chance.choice(files))
    for _ in range(chance.randint(1, 3)):
        at = min(int(chance.random() ** 3 * len(data)), len(data) - 1)
        kind = chance.randrange(7)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[max(at, 26) :]
        elif kind == 2:
            data[at : at + 4] = chance.choice((b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\x80\0\0\0"))
        elif kind == 3:
            size = chance.randint(1, 64)
            data[at : at + size] = chance.randbytes(size)
        elif kind == 4:
            del data[at : at + chance.randint(1, 256)]
        elif kind == 5:
            data[at:at] = data[at : at + chance.randint(1, 256)]
        else:
            other = chance.choice(files)
            cut = chance.randrange(len(other))
            data[at : at + 128] = other[cut : cut + 128]
        if not data:
            data = bytearray(b"8BPS")
    return bytes(data)


def request(number: int, path: Path) -> tuple[str, dict]:
    """Look at it, draw it, or edit a copy of it."""
    out = path.parent / f"{path.stem}-out"
    out.mkdir()
    if number % 3 == 0:
        return "inspect", {"path": str(path)}
    if number % 3 == 1:
        return "render", {"path": str(path), "out": str(out / "a.png"), "layer": None, "preset": "canvas"}
    opened = {"source": str(path), "copy": "a.psd"}
    shown = {"layer": {"id": 3}, "visible": False}
    steps = [
        {"capability": "photoshop.open_duplicate@1", "args": opened},
        {"capability": "photoshop.set_visibility@1", "args": shown},
        {"capability": "photoshop.export_png@1", "args": {"preset": "canvas", "out": "a.png"}},
    ]
    return "execute", {"steps": steps, "folder": str(out), "allocations": {}}


def survive(folder: Path, count: int, seed: int) -> dict[str, int]:
    """Try ``count`` mutants; how often each outcome came."""
    chance, files = random.Random(seed), seeds()  # noqa: S311 - the same mutants in every run
    outcomes: dict[str, int] = {}
    pool = Pool(min(2, os.cpu_count() or 1), LIMITS)
    try:
        for start in range(0, count, BATCH):
            size = min(BATCH, count - start)
            paths = [folder / f"{start + number}.psd" for number in range(size)]
            originals = [mutant(chance, files) for _ in paths]
            for path, data in zip(paths, originals, strict=True):
                path.write_bytes(data)
            requests = [request(number, path) for number, path in enumerate(paths)]
            began = time.monotonic()
            replies = pool.each(requests)
            assert time.monotonic() - began < PATIENCE * size
            for path, data, reply in zip(paths, originals, replies, strict=True):
                judge(path, data, reply, outcomes)
    finally:
        pool.close()
    return outcomes


def judge(path: Path, data: bytes, reply: object, outcomes: dict[str, int]) -> None:
    """A result, or a typed failure that wrote nothing; the file itself untouched either way."""
    out = path.parent / f"{path.stem}-out"
    code = reply.code if isinstance(reply, FabricError) else "ok"
    outcomes[code] = outcomes.get(code, 0) + 1
    assert data == path.read_bytes()
    if isinstance(reply, FabricError):
        assert reply.code.startswith(KNOWN_PREFIXES), (path, reply)
        assert "Traceback" not in str(reply)
        assert all(fault.what for fault in reply.faults)
        assert [] == list(out.iterdir()), (path, code)
    for item in out.iterdir():
        item.unlink()
    out.rmdir()
    path.unlink()


def test_damaged_files_end_in_typed_failures(tmp_path):
    """A sample: nothing hangs, nothing is left behind, and most damage is named by its byte."""
    outcomes = survive(tmp_path, SAMPLE, seed=1)
    assert sum(outcomes.values()) == SAMPLE
    assert sum(count for code, count in outcomes.items() if code.startswith("psd.")) > 0


@pytest.mark.proof
def test_ten_thousand_damaged_files(tmp_path):
    """The same, ten thousand times; a file that takes the worker down is one typed failure, and is rare."""
    outcomes = survive(tmp_path, MANY, seed=2)
    assert sum(outcomes.values()) == MANY
    assert outcomes.get("photoshop.worker_died", 0) <= MANY // 100, outcomes
    assert outcomes.get("photoshop.time_limit", 0) == 0, outcomes
