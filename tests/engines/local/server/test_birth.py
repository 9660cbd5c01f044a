"""A supervisor is started once, whatever becomes of its nursery, and its lock is given away exactly once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from quotatree.engines.local.files.layout import EngineDir, RunDir
from quotatree.engines.local.server.birth import spawn_supervisor, take_lock
from quotatree.engines.local.supervisor.nursery import Nursery


class BrokenNursery:
    """Breaks off a number of starts; `born`: a supervisor came of the first one nevertheless, and keeps the lock."""

    def __init__(self, failures: int, *, born: bool = False) -> None:
        self.failures, self.born = failures, born
        self.kept: list[int] = []

    def start(self, run_dir: str, secrets: Mapping[str, str], lock: int | None = None) -> int:
        assert lock is not None
        if self.failures == 0:
            return 4711
        self.failures -= 1
        if self.born:
            self.kept.append(os.dup(lock))
        raise OSError("the nursery is gone")


def run_in(tmp_path: Path) -> RunDir:
    run = EngineDir(str(tmp_path)).job("dlc-1").run(1)
    os.makedirs(run.path)
    return run


def spawned(nursery: BrokenNursery, run: RunDir, lock: int) -> int | None:
    return spawn_supervisor(cast(Nursery, nursery), run, lock, {})


def test_a_start_that_broke_off_after_a_birth_is_not_repeated_and_closes_nothing_twice(tmp_path: Path):
    run = run_in(tmp_path)
    lock = take_lock(run)
    assert lock is not None
    nursery = BrokenNursery(1, born=True)
    assert spawned(nursery, run, lock) is None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(lock)
    assert take_lock(run) is None, "the newborn holds it"
    os.close(nursery.kept[0])


def test_a_start_that_broke_off_before_a_birth_is_asked_for_once_more(tmp_path: Path):
    run = run_in(tmp_path)
    lock = take_lock(run)
    assert lock is not None
    assert spawned(BrokenNursery(1), run, lock) == 4711
    again = take_lock(run)
    assert again is not None, "nobody keeps the lock open"
    os.close(again)


def test_a_nursery_that_fails_twice_is_an_error_and_gives_the_lock_back(tmp_path: Path):
    run = run_in(tmp_path)
    lock = take_lock(run)
    assert lock is not None
    with pytest.raises(OSError, match="the nursery is gone"):
        spawned(BrokenNursery(2), run, lock)
    again = take_lock(run)
    assert again is not None
    os.close(again)
