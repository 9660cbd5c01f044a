"""Directories and files of a run can be read back by their names."""

from pathlib import Path

import pytest

from quotatree.engines.local.files.layout import EngineDir, folder_name, job_name


@pytest.mark.parametrize("job", ["dlc-a", "a/b", "..", ".", "ä 1%", "A+1"])
def test_any_name_of_a_job_is_one_directory_and_can_be_read_back(job: str):
    name = folder_name(job)
    assert "/" not in name
    assert name not in (".", "..")
    assert job_name(name) == job


def test_a_run_knows_its_job_and_its_engine(tmp_path: Path):
    engine = EngineDir(tmp_path)
    run = engine.run("a", 3)
    assert run.job.path == engine.job("a").path
    assert run.engine.path == engine.path
    assert run.replica_logs(2) == f"{tmp_path}/jobs/a/runs/3/logs/2"
