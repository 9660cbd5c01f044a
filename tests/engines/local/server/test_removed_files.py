"""Files that were removed and are still held count, whoever in the job holds them, and however."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quotatree.engines.local.server.removed_files import held_bytes

HOLDS = """
import ctypes, os, subprocess, sys
how, folder = sys.argv[1:]
file = os.open(folder + "/file", os.O_RDWR | os.O_CREAT)
os.write(file, bytes(3_000_000)); os.fsync(file)
if how != "kept":
    os.unlink(folder + "/file")
if how == "mapped":
    libc = ctypes.CDLL(None, use_errno=True)  # Python's own mmap keeps a descriptor
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mmap.restype = ctypes.c_void_p
    assert libc.mmap(None, 3_000_000, 1, 1, file, 0) != ctypes.c_void_p(-1).value
    os.close(file)
if how == "by a child":
    child = subprocess.Popen([sys.executable, "-c", "print('ready', flush=True); input()"], pass_fds=[file], stdin=0)
    os.close(file)
    child.wait()
print("ready", flush=True)
input()
"""


def held_while(how: str, folder: Path, *, of: Path | None = None) -> int:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, how, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == b"ready\n"
        found = held_bytes(os.getpid(), str(of or folder))
        holding.communicate(b"\n")
    return found


as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root sees what others have mapped, and gives files away"
)


@pytest.mark.parametrize("how", ["open", pytest.param("mapped", marks=as_root), "by a child"])
def test_a_removed_file_that_is_held_counts_once(tmp_path: Path, how: str) -> None:
    assert 3_000_000 <= held_while(how, tmp_path) < 3_100_000


def test_a_file_that_is_there_is_left_to_the_walk(tmp_path: Path) -> None:
    assert held_while("kept", tmp_path) == 0


@as_root
def test_a_file_of_another_user_is_not_what_the_job_holds(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    os.chown(other, 65534, 65534)
    assert held_while("open", tmp_path, of=other) == 0


def test_a_job_without_a_directory_holds_nothing(tmp_path: Path) -> None:
    assert held_bytes(os.getpid(), str(tmp_path / "none")) == 0
