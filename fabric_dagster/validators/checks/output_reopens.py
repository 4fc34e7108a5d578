"""Whether every picture and document that the run made opens again, in two readers that agree.

Looks at all artifacts, not only those that other checks are about.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import cv2
import numpy as np

from fabric_dagster.errors import FabricError
from fabric_dagster.validators.base import Outcome, Params, Unjudgeable, Validator
from fabric_dagster.validators.kernels import document as documents
from fabric_dagster.validators.kernels import png
from fabric_dagster.validators.view import BEFORE

if TYPE_CHECKING:
    from fabric_dagster.validators.view import Actual, EvidenceView

PSD = b"8BPS"
HEADER = 26
RAW, RLE = 0, 1


class OutputReopens(Params):
    """Nothing to set."""


def judge(view: EvidenceView, params: OutputReopens) -> Outcome:  # noqa: ARG001 - every validator takes them
    """Open each artifact by what its bytes are."""
    outcome = Outcome()
    for name, fact in sorted(view.evidence.artifacts.items()):
        if name.startswith(BEFORE):
            continue
        actual = view.read(fact, name)
        if actual.data.startswith(PSD) or name.endswith(".document"):
            _document(outcome, actual)
        elif actual.data.startswith(png.SIGNATURE) or name.endswith(".png"):
            _picture(outcome, actual)
    return outcome


def _document(outcome: Outcome, actual: Actual) -> None:
    try:
        opened = documents.open_document(actual)
        first = (*opened.size, documents.records(opened))
    except (Unjudgeable, FabricError) as fault:
        outcome.must(holds=False, expected="a document that opens", found=str(fault), where=actual.name)
        return
    missing = missing_bytes(actual.data)
    shown = f"{missing} bytes are missing" if missing else "whole"
    outcome.must(not missing, "a merged image that is whole", shown, f"{actual.name}, merged image")
    second = documents.reopened(actual.data)
    shown = "it cannot open the file" if second is None else _shape(second)
    outcome.must(second == first, _shape(first), shown, f"{actual.name}, opened by a second reader")


def missing_bytes(data: bytes) -> int:
    """How many bytes of the merged image a document lacks: both readers paint those black and say nothing."""
    version, channels, high, wide, depth = struct.unpack_from(">H6xHIIH", data, 4)
    at, long = HEADER, version == 2  # noqa: PLR2004 - a PSB
    for size in (4, 4, 8 if long else 4):
        at += size + int.from_bytes(data[at : at + size], "big")
    compression = int.from_bytes(data[at : at + 2], "big")
    at += 2
    rows = channels * high
    if compression == RAW:
        wanted = rows * ((wide * depth + 7) // 8)
    elif compression == RLE:
        counts = data[at : at + rows * (4 if long else 2)]
        kind = np.dtype(">u4" if long else ">u2")
        known = len(counts) // kind.itemsize
        wanted = rows * kind.itemsize + int(np.frombuffer(counts, kind, known).sum(dtype=np.int64))
    else:
        wanted = 0
    return max(0, int(at + wanted - len(data)))


def _shape(found: tuple[int, int, int]) -> str:
    return f"{found[0]} x {found[1]}, {found[2]} records"


def _picture(outcome: Outcome, actual: Actual) -> None:
    from PIL import Image

    faults = png.examine(actual.data).faults
    outcome.must(not faults, "a sound PNG", "; ".join(faults) or "sound", actual.name)
    first = cv2.imdecode(np.frombuffer(actual.data, np.uint8), cv2.IMREAD_UNCHANGED)
    try:
        with Image.open(io.BytesIO(actual.data)) as image:
            image.load()
            size = image.size
    except (OSError, SyntaxError, ValueError) as fault:
        outcome.must(holds=False, expected="a picture that opens", found=str(fault), where=actual.name)
        return
    if first is None:
        outcome.must(
            holds=False, expected="a picture that opens", found="none", where=f"{actual.name}, second"
        )
        return
    outcome.equal(f"{size[0]} x {size[1]}", f"{first.shape[1]} x {first.shape[0]}", actual.name)


VALIDATOR = Validator(
    id="output_reopens@1",
    summary="Every picture and document of the run opens again, in two readers that agree.",
    params=OutputReopens,
    judge=judge,
)
