"""How much of the disk do files take that a job has removed and still holds open, or mapped? No directory names them.

They are found where their processes are: below the run's supervisor, in what the kernel shows of their open files. Only
files of the job's own user count, on the disk of its directories: another's, that the job reads, are not what it holds.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Final

from quotatree.engines.local.host import process_tree

SHOWN: Final = ("fd", "map_files")
"""Folders of a process in /proc with a link for each file that it has open, and for each that it has mapped."""


def held_bytes(supervisor: int, directory: str) -> int:
    """Bytes of removed files that processes below the supervisor hold, of the owner of this directory and on its disk."""
    try:
        own = os.stat(directory)
    except FileNotFoundError:
        return 0
    found = {
        (status.st_dev, status.st_ino): status.st_blocks * 512
        for process in process_tree.below(process_tree.children(supervisor))
        for status in _held_by(process.pid)
        if status.st_nlink == 0 and (status.st_dev, status.st_uid) == (own.st_dev, own.st_uid)
    }
    return sum(found.values())


def _held_by(pid: int) -> Iterator[os.stat_result]:
    """The status of each regular file that a process has open or mapped; nothing more once it is gone."""
    for folder in SHOWN:
        try:
            with os.scandir(f"/proc/{pid}/{folder}") as links:
                for link in links:
                    try:
                        status = link.stat()
                    except OSError:  # closed meanwhile
                        continue
                    if stat.S_ISREG(status.st_mode):
                        yield status
        except OSError:  # the process is gone, or the kernel shows no mapped files
            continue
