"""Old runs are thrown away a week after their end was written down; what a job wrote itself never is."""

import os
import time
from pathlib import Path

import pytest

from quotatree.engines.local.files.layout import EngineDir, RunDir
from quotatree.engines.local.server import birth
from quotatree.engines.local.server.keep import KEEP_SECONDS, _remove_empty, throw_away


@pytest.fixture
def engine(tmp_path: Path) -> EngineDir:
    return EngineDir(tmp_path)


def make(engine: EngineDir, job: str, *files: str, days_ago: float) -> RunDir:
    run = engine.run(job, 1)
    os.makedirs(run.path)
    then = time.time() - days_ago * 86_400
    for name in files:
        path = Path(run.path, name)
        path.touch()
        os.utime(path, (then, then))
    os.utime(run.path, (then, then))
    return run


def test_only_what_was_forgotten_a_week_ago_or_never_begun_goes(engine: EngineDir):
    old = make(engine, "old", "spec.json", "journal", "forgotten", days_ago=8)
    fresh = make(engine, "fresh", "spec.json", "journal", "forgotten", days_ago=6)
    unheard = make(engine, "unheard", "spec.json", "journal", days_ago=30)
    unborn = make(engine, "unborn", "spec.json", days_ago=8)
    assert throw_away(engine) == 2
    assert [os.path.exists(run.path) for run in (old, fresh, unheard, unborn)] == [False, True, True, False]
    assert not os.path.exists(engine.job("old").path)


def test_what_somebody_supervises_stays(engine: EngineDir):
    run = make(engine, "a", "forgotten", days_ago=8)
    lock = birth.take_lock(run)
    assert lock is not None
    assert throw_away(engine) == 0
    os.close(lock)
    assert throw_away(engine, now=lambda: time.time() + KEEP_SECONDS) == 1


def test_work_and_checkpoints_are_never_touched(engine: EngineDir):
    make(engine, "a", "forgotten", days_ago=8)
    job = engine.job("a")
    os.makedirs(job.work)
    Path(job.work, "notes").write_text("mine")
    os.makedirs(job.checkpoints)
    throw_away(engine)
    assert Path(job.work, "notes").read_text() == "mine"
    assert not os.path.exists(job.checkpoints), "an empty one need not stay"


def test_directories_of_a_run_that_begins_this_very_moment_stay(engine: EngineDir):
    """Nothing was there when we looked, and something is when we remove."""
    job = engine.job("a")
    for path in (job.run(1).path, job.work, job.checkpoints):
        os.makedirs(path)
    _remove_empty(job)
    assert os.path.exists(job.work)
    assert os.path.exists(job.checkpoints)
