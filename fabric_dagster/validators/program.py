"""The validator's separate program: evidence in, signed verdicts out, as JSON lines.

Rules kept here:

* Standard output carries only JSON lines of ours; whatever a library prints goes to standard error.
* The program ends when its input ends, even amidst a check: it never outlives its parent.
* One request at a time, each answered once: ``{"id", "envelope", "milliseconds"}`` or ``{"id", "fault"}``.
  After a check that overran its limit the answer carries ``"spent": true`` and the program ends.

Requests: ``{"id": N, "judge": EVIDENCE, "out": FOLDER, "seconds": LIMIT?}``, ``{"id": N, "ping": true}`` and
``{"id": N, "observe": BASE64, "root": FOLDER, "checkpoint": BASE64?}``, answered by ``{"id", "signature"}``
(``observing.py``).
The first line out is ``{"ready": {"identity", "keyid", "validators"}}``.
"""

from __future__ import annotations

import base64
import io
import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pydantic import ValidationError

from fabric_dagster.contracts.evidence import BlindEvidence
from fabric_dagster.documents import Source, complaints
from fabric_dagster.errors import FabricError, InvalidDocument
from fabric_dagster.validators.limits import limit_memory
from fabric_dagster.validators.observing import sign_observation
from fabric_dagster.validators.registry import validators
from fabric_dagster.validators.run import CHECK_SECONDS, Bench
from fabric_dagster.validators.verdicts import sign_verdict

if TYPE_CHECKING:
    from fabric_dagster.spine.ports import Signer

LONGEST_LINE = 64 << 20


def read_evidence(value: Any, name: str) -> BlindEvidence:  # noqa: ANN401 - JSON of anybody
    """``value`` as evidence; ``InvalidDocument`` with every complaint."""
    try:
        return BlindEvidence.model_validate(value)
    except ValidationError as fault:
        raise InvalidDocument.of(list(complaints(fault, Source(name, value, {})))) from None


def judge(evidence: BlindEvidence, out: Path, signer: Signer, bench: Bench) -> dict[str, Any]:
    """The signed verdict on ``evidence``."""
    return sign_verdict(bench.judge(evidence, out), evidence, signer)


def warm_up() -> None:
    """Import what checks need and use it once, so that the first verdict is nearly as quick as the others."""
    import cv2
    import numpy as np
    from PIL import ImageCms
    from psd_tools import PSDImage

    from fabric_dagster.validators.kernels import document, expectation, likeness, pictures, png

    _ = ImageCms
    cv2.setNumThreads(2)
    picture = png.decode(pictures.encode_png(np.full((64, 64, 4), 128, np.uint8)), "warm-up")
    image = PSDImage.new("RGBA", (64, 64))
    image.create_pixel_layer_from_array(picture, name="warm-up")
    stream = io.BytesIO()
    image.save(stream)
    opened = document.PsdDocument(stream.getvalue(), "warm-up")
    opened.layers()
    document.reopened(opened.data)
    art = pictures.multiplied(pictures.as_float(picture))
    expectation.through_quad(art, ((0, 0), (64, 0), (60, 64), (4, 64)), 64, 64)
    drawn = pictures.straight(expectation.render(opened))
    likeness.measure(drawn, opened.merged(), likeness.Likeness())
    pictures.side_by_side(drawn, drawn)


def serve(signer: Signer, reader: TextIO, writer: TextIO) -> int:
    """Answer requests until ``reader`` ends. Returns the exit code."""
    # An interrupt at the terminal is for the parent; the end of input ends this program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    # The reader is a thread of its own, so that the end of input is seen at once, whatever a check does.
    threading.Thread(target=_listen, args=(reader, waiting), daemon=True).start()
    warm_up()
    limit_memory()
    _say(
        writer,
        {"ready": {"identity": signer.identity, "keyid": signer.keyid, "validators": list(validators())}},
    )
    while True:
        answer = _answer(waiting.get(), signer)
        _say(writer, answer)
        if answer.get("spent"):
            return 0


def _listen(reader: TextIO, waiting: queue.SimpleQueue[str]) -> None:
    try:
        while line := reader.readline(LONGEST_LINE):
            waiting.put(line)
    finally:
        os._exit(0)  # threads of checks must not keep the program alive


def _answer(line: str, signer: Signer) -> dict[str, Any]:
    identifier: Any = None
    bench = Bench(log=lambda text: print(text, file=sys.stderr))  # noqa: T201 - its log
    try:
        request = json.loads(line)
        identifier = request.get("id")
        if request.get("ping"):
            return {"id": identifier, "pong": True}
        if "observe" in request:
            asked = [base64.b64decode(request[name]) for name in ("observe", "checkpoint") if name in request]
            signature = sign_observation(asked[0], Path(request["root"]), signer, *asked[1:])
            return {"id": identifier, "signature": base64.b64encode(signature).decode()}
        bench.seconds = float(request.get("seconds", CHECK_SECONDS))
        evidence = read_evidence(request["judge"], "evidence")
        envelope = judge(evidence, Path(request["out"]), signer, bench)
    except FabricError as fault:
        return {"id": identifier, "fault": [item.as_dict() for item in fault.faults]}
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        return {"id": identifier, "fault": [{"code": "validator.bad_request", "what": str(fault)}]}
    except OSError as fault:
        what = f"{fault.strerror or fault}: {fault.filename or ''}"
        return {"id": identifier, "fault": [{"code": "validator.files", "what": what}]}
    answer = {"id": identifier, "envelope": envelope, "milliseconds": bench.milliseconds}
    return answer | ({"spent": True} if bench.spent else {})


def _say(writer: TextIO, answer: dict[str, Any]) -> None:
    writer.write(json.dumps(answer, ensure_ascii=True, separators=(",", ":")) + "\n")
    writer.flush()


def private_output() -> TextIO:
    """The real standard output, for us alone; everybody else's prints go to standard error from now on."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return own
