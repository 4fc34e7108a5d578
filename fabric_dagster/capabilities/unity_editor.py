"""What the capabilities that need an editor declare in common: failure codes, and how a report is fed on."""

from __future__ import annotations

from typing import Final

from fabric_dagster.capabilities.base import FailureCode

#: what every run of an editor may end in
EDITOR_FAILURES: Final = (
    FailureCode(
        "unity.batch_failed", "operator", False, "see the editor's log, whose end is told with the failure"
    ),
    FailureCode("unity.copy_failed", "operator", False, "make room on the disk that holds the stages"),
    FailureCode(
        "unity.editor_missing", "operator", False, "name the editor of the project's version in home.yaml"
    ),
    FailureCode("unity.hang", "operator", True, "look at the log; close what waits for a click"),
    FailureCode(
        "unity.import_drift", "pack", False, "change the profile or the project's postprocessor"
    ),
    FailureCode("unity.licence", "operator", False, "activate the editor's licence on this machine"),
    FailureCode("unity.modal", "operator", False, "answer the dialog once, in an editor with a window"),
    FailureCode("unity.no_report", "operator", True, "see the log: the editor ended without a result"),
    FailureCode("unity.report_damaged", "operator", False, "see the log; the result file makes no sense"),
)  # fmt: skip
