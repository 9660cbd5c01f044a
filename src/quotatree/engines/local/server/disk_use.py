"""How much of the disk does a job take? Its work, checkpoints and scratch files, counted in blocks as the disk does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from quotatree.engines.local.files.layout import EngineDir, JobDir, job_name

MOST_ENTRIES: Final = 2_000_000
"""After so many files the rest is not counted: a figure that is too low is better than a walk without end."""


class DiskSettings(NamedTuple):
    """`jobs`: where directories of jobs live; None: with the engine. `job_mib`: the most that those of one job may hold."""

    jobs: Path | None = None
    job_mib: int | None = None


class Use(NamedTuple):
    job: str
    used_bytes: int

    @property
    def text(self) -> str:
        return f"{self.job} with {self.used_bytes / 2**30:.1f} GiB"


def largest(directory: EngineDir) -> Use | None:
    """The job whose directories take the most room; None if there is none."""
    try:
        names = os.listdir(directory.jobs)
    except OSError:
        return None
    found = [Use(job_name(name), used_bytes(JobDir(os.path.join(directory.jobs, name)))) for name in names]
    return max(found, key=lambda use: use.used_bytes, default=None)


def used_bytes(job: JobDir) -> int:
    """What a job's directories take. A file that vanishes meanwhile counts nothing; links are not followed."""
    total, entries = 0, 0
    todo = [job.path]
    while todo and entries < MOST_ENTRIES:
        try:
            with os.scandir(todo.pop()) as inside:
                for entry in inside:
                    entries += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
        except OSError:
            continue
    return total
