"""What a job holds on the disk is known, and a job that holds too much ends as failed, with the figures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quotatree.core import JobId
from quotatree.engines.base import EngineUnavailable, Exited, Outcome, Report
from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.server.disk_use import DiskSettings, largest, used_bytes
from quotatree.engines.local.server.engine import LocalEngine
from tests.engines.contract import start_order
from tests.engines.local.harness import RUN_AS, until


def test_what_a_job_holds_is_counted_and_links_are_not_followed(tmp_path: Path) -> None:
    engine = EngineDir(tmp_path)
    small, large = engine.job("small"), engine.job("large")
    for job, size in ((small, 4096), (large, 1024 * 1024)):
        os.makedirs(job.work)
        Path(job.work, "file").write_bytes(b"x" * size)
    os.symlink(large.work, Path(small.work, "link"))
    assert 1024 * 1024 <= used_bytes(large) < 1100 * 1024
    assert used_bytes(small) < 100 * 1024
    found = largest(engine)
    assert found is not None
    assert found.job == "large"


def test_a_job_that_holds_more_than_it_may_ends_as_failed(engine_directory: Path) -> None:
    told: list[Report] = []
    engine = LocalEngine(engine_directory / "e", run_as=RUN_AS, limits=False)
    engine.open(told.append)
    program = {"command": "head -c 3000000 /dev/zero > file; echo written; sleep 600"}
    engine.start(start_order(program))
    until(
        lambda: (piece := engine.log(JobId("dlc-a"), 1, 0, 0, 100)) is not None and b"written" in piece.data
    )
    engine.end_large_jobs(3)
    assert not [one for one in told if isinstance(one, Exited)], "it may have 3 MiB"
    engine.end_large_jobs(2)
    until(lambda: [one for one in told if isinstance(one, Exited)])
    (end,) = [one for one in told if isinstance(one, Exited)]
    assert end.outcome is Outcome.FAILED
    assert "more than the 2 MiB" in end.detail
    engine.close()


def test_jobs_that_live_elsewhere_already_are_not_left_behind(engine_directory: Path) -> None:
    first = LocalEngine(engine_directory / "e", run_as=RUN_AS, disk=DiskSettings(engine_directory / "one"))
    first.open(lambda _: None)
    first.close()
    (engine_directory / "one" / "job").mkdir()
    again = LocalEngine(engine_directory / "e", run_as=RUN_AS, disk=DiskSettings(engine_directory / "one"))
    again.open(lambda _: None)
    again.close()
    other = LocalEngine(engine_directory / "e", run_as=RUN_AS, disk=DiskSettings(engine_directory / "two"))
    with pytest.raises(EngineUnavailable, match="already"):
        other.open(lambda _: None)
