"""How much of the disk does a job take? Its work, checkpoints and scratch files, counted in blocks as the disk does.

Jobs may be hostile, so the walk goes from directory to directory by descriptors: no path is too long for it, no link leads
it away, and a directory that is moved is still the one that was opened. What it cannot measure it names.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from quotatree.engines.local.files.layout import EngineDir, job_name

DEEPEST: Final = 200
"""Directories below one another that are measured; each of them takes two open files."""
LEAST_BYTES: Final = 4096
"""What each file counts at least: a disk has a limited number of them, and a walk would have no end."""
MOST_LINKED: Final = 1_000_000
"""Files with several names that are remembered; further ones count once for each name."""
LARGEST_BYTES: Final = 2_000_000 * LEAST_BYTES
"""No directory is measured beyond it just to tell which one is the largest."""
VANISHED: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class DiskSettings(NamedTuple):
    """`jobs`: where directories of jobs live; None: with the engine. `job_mib`: the most that those of one job may hold."""

    jobs: Path | None = None
    job_mib: int | None = None


class Held(NamedTuple):
    """What a directory holds. `unmeasured`: which part of it cannot be measured, in words; "" if all was."""

    used_bytes: int
    unmeasured: str = ""


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
    found = [
        Use(job_name(name), held(os.path.join(directory.jobs, name), LARGEST_BYTES).used_bytes)
        for name in names
    ]
    return max(found, key=lambda use: use.used_bytes, default=None)


def why_too_large(own: Held, home: Held, most_mib: int) -> str:
    """Why a job holds more than `most_mib`, in words; "" if it does not. `home`: of its workspace, which counts, too.

    What cannot be measured counts as more than is allowed.
    """
    allowed = f"more than the {most_mib:,} MiB that a job may have"
    for found, whose in ((own, "its directories"), (home, "the home of its workspace")):
        if found.unmeasured:
            return f"in {whose} {found.unmeasured}: what cannot be measured counts as {allowed}"
    if own.used_bytes + home.used_bytes <= most_mib * 2**20:
        return ""
    beside = f" and the home of its workspace {_mib(home)}" if home.used_bytes else ""
    return f"its directories hold {_mib(own)}{beside}, {allowed}"


def _mib(found: Held) -> str:
    return f"{found.used_bytes / 2**20:,.0f} MiB"


def held(top: str, enough: int | None = None) -> Held:
    """What a directory holds, measured until it is `enough` bytes; nothing if it is not there.

    A file with several names counts once, and one that vanishes meanwhile not at all. Raises OSError if the machine fails.
    """
    used = 0
    linked: set[tuple[int, int]] = set()
    with closing(_found_in(top)) as found:
        try:
            for status in found:
                if _counted_before(status, linked):
                    continue
                used += max(LEAST_BYTES, status.st_blocks * 512)
                if enough is not None and used >= enough:
                    break
        except _Unmeasured as why:
            return Held(used, str(why))
    return Held(used)


class _Unmeasured(Exception):
    """The message says which part of a directory cannot be measured."""


class _Level(NamedTuple):
    fd: int
    entries: os._ScandirIterator[str]

    def close(self) -> None:
        self.entries.close()
        os.close(self.fd)


def _found_in(top: str) -> Generator[os.stat_result]:
    """Yield the status of all that is in a directory, at any depth up to DEEPEST. Raises _Unmeasured."""
    levels: list[_Level] = []
    name = top
    try:
        levels.append(_opened(top, None))
        while levels:
            try:
                entry = next(levels[-1].entries, None)
                if entry is None:
                    levels.pop().close()
                    continue
                name = entry.name
                status = entry.stat(follow_symlinks=False)
                yield status
                if not stat.S_ISDIR(status.st_mode):
                    continue
                if len(levels) == DEEPEST:
                    raise _Unmeasured(f"there is a path of more than {DEEPEST} directories")
                levels.append(_opened(name, levels[-1].fd))
            except OSError as problem:
                if problem.errno not in VANISHED:
                    raise
    except FileNotFoundError:
        return
    except PermissionError:
        raise _Unmeasured(f"{name[-80:]!a} may not be read") from None
    finally:
        for level in levels:
            level.close()


def _opened(name: str, above: int | None) -> _Level:
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    try:
        return _Level(fd, os.scandir(fd))
    except OSError:
        os.close(fd)
        raise


def _counted_before(status: os.stat_result, linked: set[tuple[int, int]]) -> bool:
    """Whether this is another name of a file that was counted; if it may have other names, it is remembered."""
    if status.st_nlink == 1 or stat.S_ISDIR(status.st_mode):
        return False
    file = (status.st_dev, status.st_ino)
    if file in linked:
        return True
    if len(linked) < MOST_LINKED:
        linked.add(file)
    return False
