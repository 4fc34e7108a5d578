"""What an editor wrote about its work: read within limits, held against itself, believed nowhere else.

Rules kept here: a file that is not there, is no result, or contradicts itself is a failure. No test at all is
a failure. A build that counts an error is a failure, whatever it calls itself. Sources: NUnit 3's test result
format; ``Batch.cs`` for the package's own reports.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal
from xml.etree import ElementTree as ET

from pydantic import Field, ValidationError

from fabric_dagster.contracts.base import Contract
from fabric_dagster.digests import digest_bytes
from fabric_dagster.errors import OperationFailed

if TYPE_CHECKING:
    from pathlib import Path

    from resources.unity.live.editor import Ended

LARGEST: Final = 64 << 20
SHOWN: Final = 20
#: digits of a count
DIGITS: Final = 9
#: a document type could define entities that grow without end
DOCTYPE: Final = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
COUNTS: Final = ("total", "passed", "failed", "inconclusive", "skipped")


class BatchReport(Contract):
    """What ``Batch.cs`` writes: ``nonce`` is this run's, ``package`` the writing package's digest."""

    schema_: Literal["fabric.toolsmith-report.v1"] = Field(alias="schema")
    nonce: str
    package: str
    unity: str
    kind: Literal["compile", "build"]
    result: str
    errors: int
    warnings: int
    output: str
    target: str
    size: str
    messages: tuple[str, ...] = Field(strict=False, max_length=200)


def read_report(path: Path, ended: Ended, *, kind: str, nonce: str, package: str) -> tuple[BatchReport, str]:
    """The report at ``path`` and its digest; it must be this run's, by this package."""
    data = _read(path, ended)
    try:
        report = BatchReport.model_validate_json(data)
    except ValidationError as fault:
        raise _damaged(path, f"the report is none: {fault.errors()[0]['msg']}") from None
    told = (report.kind, report.nonce, report.package)
    if told != (kind, nonce, package):
        raise _damaged(path, f"the report is another run's or another package's: {told[0]}, {told[2]}")
    return report, digest_bytes(data)


def read_tests(path: Path, ended: Ended, at_least: int) -> dict[str, Any]:
    """Counts of the NUnit results at ``path``, their digest, and nothing but success.

    Raises ``OperationFailed``: ``unity.no_report``, ``unity.report_damaged``, ``unity.no_tests``,
    ``unity.tests_failed`` with the failed tests' names.
    """
    data = _read(path, ended)
    if DOCTYPE.search(data):
        raise _damaged(path, "the results declare a document type")
    try:
        run = ET.fromstring(data)  # noqa: S314 - no document type, no entity, within a size
    except ET.ParseError as fault:
        raise _damaged(path, f"the results are no XML: {fault}") from None
    if run.tag != "test-run":
        raise _damaged(path, f"the results begin with {run.tag[:40]!r}")
    cases = [item for item in run.iter() if item.tag == "test-case"]
    counts = {name: _count(run, name, path) for name in COUNTS}
    results = [item.get("result", "") for item in cases]
    seen = {
        "total": len(cases), "passed": results.count("Passed"), "failed": results.count("Failed"),
        "inconclusive": results.count("Inconclusive"), "skipped": results.count("Skipped"),
    }  # fmt: skip
    if counts != seen:
        raise _damaged(path, f"the results count {counts} and hold {seen}")
    failed = [
        item.get("fullname") or item.get("name") or "?" for item in cases if item.get("result") == "Failed"
    ]
    suites = [
        item.get("fullname") or "?"
        for item in run.iter("test-suite")
        if item.get("result") == "Failed" and item.get("site") in {"SetUp", "TearDown"}
    ]
    if failed or suites or run.get("result", "").startswith("Failed"):
        names = failed or suites or ["the run itself"]
        more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise OperationFailed(
            "unity.tests_failed", f"{len(names)} failed: {', '.join(names[:SHOWN])}{more}", mend="mend them"
        )
    ran = counts["passed"] + counts["inconclusive"]
    if ran < max(1, at_least):
        raise OperationFailed(
            "unity.no_tests",
            f"{ran} tests ran of {counts['total']}, {max(1, at_least)} were asked for",
            mend="name tests that exist",
        )  # fmt: skip
    return {**counts, "digest": digest_bytes(data)}


def _count(run: ET.Element, name: str, path: Path) -> int:
    text = run.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise _damaged(path, f"the results do not count {name!r}")
    return int(text)


def _read(path: Path, ended: Ended) -> bytes:
    from resources.unity.live.editor import no_result

    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            raise _damaged(path, "the result is a link, or too large")
        data = path.read_bytes()
    except FileNotFoundError:
        raise no_result(ended, "the editor wrote no result") from None
    if not data.strip():
        raise no_result(ended, "the editor wrote an empty result")
    return data


def _damaged(path: Path, what: str) -> OperationFailed:
    return OperationFailed("unity.report_damaged", what, where=path.name, mend="see the editor's log")
