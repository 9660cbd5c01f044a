"""What of old runs is thrown away, and when? Journal and logs of a run, a week after its end was written down.

What a job itself wrote (its work and its checkpoints) is never touched: it may be started again. Of a job of which nothing
is left but empty directories nothing need be left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from typing import Final

from quotatree.engines.local.files.layout import EngineDir, JobDir, RunDir
from quotatree.engines.local.server import birth

KEEP_SECONDS: Final = 7 * 86_400.0


def throw_away(
    directory: EngineDir, keep_seconds: float = KEEP_SECONDS, now: Callable[[], float] = time.time
) -> int:
    """Remove runs that were forgotten, or were made and never begun, `keep_seconds` ago; return how many."""
    removed = 0
    for name in _names(directory.jobs):
        job = JobDir(os.path.join(directory.jobs, name))
        for number in _names(job.runs):
            run = RunDir(os.path.join(job.runs, number))
            if number.isdecimal() and _is_old(run, now() - keep_seconds) and not birth.is_held(run):
                shutil.rmtree(run.path, ignore_errors=True)
                removed += 1
        if not _names(job.runs):
            _remove_empty(job)
    return removed


def _is_old(run: RunDir, before: float) -> bool:
    """Whether the run was forgotten, or made and never begun, before this time (seconds since the epoch)."""
    for path in (run.forgotten, run.journal):
        try:
            return os.stat(path).st_mtime < before and path == run.forgotten
        except FileNotFoundError:
            continue
    try:
        return os.stat(run.path).st_mtime < before
    except FileNotFoundError:
        return False


def _remove_empty(job: JobDir) -> None:
    try:
        os.rmdir(job.runs)
    except FileNotFoundError:
        pass
    except OSError:
        return  # a run begins this very moment, and its directories are not to vanish under it
    for path in (job.checkpoints, job.work, job.path):
        with contextlib.suppress(OSError):  # it is not empty, or not there
            os.rmdir(path)


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []
