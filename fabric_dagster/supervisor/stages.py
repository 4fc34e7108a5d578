"""Stages: the private folders in which plans are executed and pictures of checks arrive.

Rules kept here: one folder a run, worked in under the run's lock only, so that whatever lies there when a new
attempt begins was left by a process that died; nothing of it outlives the run.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric_dagster.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabric_dagster.supervisor.records import RunRecord
    from fabric_dagster.supervisor.services import Services


def stage_folder(services: Services, run: str) -> Path:
    """The folder of all stages of ``run``."""
    return services.stages / run[7:23]


def fresh(folder: Path) -> Path:
    """``folder``, new and empty."""
    discard(folder)
    folder.mkdir(parents=True)
    return folder


def discard(folder: Path) -> None:
    """Remove a stage and all that lies in it. Inputs in it are read-only, which Windows minds."""
    shutil.rmtree(folder, onerror=_writable_then_again)


def _writable_then_again(function: Callable[..., Any], path: str, _why: object) -> None:
    # What still cannot be removed is looked at again when the run's next attempt begins.
    with suppress(OSError):
        Path(path).chmod(stat.S_IWRITE | stat.S_IREAD)
        if function in {os.unlink, os.remove, os.rmdir}:
            function(path)


def tidy(services: Services, run: RunRecord) -> None:
    """Undo journals live until the verdict and stages until the end; then they would only fill the disk."""
    for task in run.tasks:
        if task.transaction:
            application = task.task.specialist.partition("/")[0]
            with suppress(Conflict):  # somebody is writing there: the next look at this run forgets it
                services.provider(application, run.run, run.key).forget(task.transaction)
    discard(stage_folder(services, run.run))
