"""What a job holds on the disk is known, and a job that holds too much ends as failed, with the figures."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.core import JobId
from quotatree.engines.base import EngineUnavailable, Exited, Outcome, Report
from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.server.disk_use import LEAST_BYTES, DiskSettings, held, largest
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.engines.local.server.unix_users import UserSettings
from tests.engines.contract import start_order
from tests.engines.local.harness import RUN_AS, until
from tests.engines.local.machine import RANGE, Machine
from tests.engines.local.server import disk_jobs

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give workspaces users of their own")


def test_what_a_job_holds_is_counted_and_links_are_not_followed(tmp_path: Path) -> None:
    engine = EngineDir(tmp_path)
    small, large = engine.job("small"), engine.job("large")
    for job, size in ((small, 4096), (large, 1024 * 1024)):
        os.makedirs(job.work)
        Path(job.work, "file").write_bytes(b"x" * size)
    os.symlink(large.work, Path(small.work, "link"))
    os.symlink(Path(large.work, "file"), Path(small.work, "link to a file"))
    assert 1024 * 1024 <= held(large.path).used_bytes < 1100 * 1024
    assert held(small.path).used_bytes < 100 * 1024
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


@pytest.fixture
def machine() -> Iterator[Machine]:
    """An engine that gives each workspace a user; what its jobs left may be too deep for Python to remove."""
    directory = Path(tempfile.mkdtemp(prefix="quotatree-"))
    os.chmod(directory, 0o711)
    made = Machine(directory, run_as=None, users=UserSettings(range=RANGE))
    yield made
    made.close()
    subprocess.run(["rm", "-rf", "--", str(directory)], check=True)


def ended_by(machine: Machine, command: str | list[str], most_mib: int, module: str = "hider") -> str | None:
    """Run a job until it has written, measure it once, and return why it was ended; None if it goes on."""
    machine.start(module, "a", {"command": command})
    until(lambda: "written" in machine.printed(module) or machine.ended(module))
    assert machine.ended(module) is None, machine.printed(module)
    machine.engine.end_large_jobs(most_mib)
    if not machine.engine._runs[JobId(module), 1].too_large:
        return None
    until(lambda: machine.ended(module))
    end = machine.ended(module)
    assert end is not None
    assert end.outcome is Outcome.FAILED
    return end.detail


@as_root
@pytest.mark.parametrize(
    ("command", "why"),
    [
        (disk_jobs.DEEP, "its directories hold 4 MiB"),
        (disk_jobs.TOO_DEEP, "a path of more than 200 directories"),
        (disk_jobs.AT_HOME, "and the home of its workspace 3 MiB"),
        (disk_jobs.MANY, "its directories hold 4 MiB"),
        (disk_jobs.REMOVED, "its directories hold 3 MiB"),
    ],
    ids=["deep", "too deep", "home", "many", "removed"],
)
def test_a_job_hides_nothing_from_its_limit(machine: Machine, command: str | list[str], why: str) -> None:
    assert why in (ended_by(machine, command, 2) or "it goes on")


@as_root
def test_a_file_with_several_names_counts_once_and_a_hole_not_at_all(machine: Machine) -> None:
    assert ended_by(machine, disk_jobs.LINKED, 2) is None


@as_root
def test_the_home_of_a_workspace_counts_for_its_jobs_alone(machine: Machine) -> None:
    machine.start("other", "b", {"command": "echo written; sleep 600"})
    until(lambda: "written" in machine.printed("other"))
    assert "home" in (ended_by(machine, disk_jobs.AT_HOME, 2) or "it goes on")
    assert not machine.engine._runs[JobId("other"), 1].too_large


@as_root
def test_a_home_still_counts_after_the_server_was_started_again(machine: Machine) -> None:
    assert ended_by(machine, disk_jobs.AT_HOME, 20) is None
    machine.engine.close()
    again = Machine(machine.directory, run_as=None, users=UserSettings(range=RANGE))
    again.engine.end_large_jobs(2)
    until(lambda: again.ended("hider"))
    again.engine.close()


@as_root
def test_what_the_server_may_not_read_counts_as_too_much(tmp_path: Path) -> None:
    """A server that is not root, and a job as the same user that closes its directory."""
    top = EngineDir(tmp_path).job("closed")
    os.makedirs(os.path.join(top.work, "closed"))
    subprocess.run(["chown", "-R", "65534", str(tmp_path)], check=True)
    os.chmod(os.path.join(top.work, "closed"), 0)
    code = f"""
import os
from quotatree.engines.local.server.disk_use import held
os.chdir({top.path!r}); os.setgid(65534); os.setuid(65534)
print(held(".").unmeasured)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'closed' may not be read" in said


def test_a_directory_that_vanishes_while_it_is_measured_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "kept").write_bytes(b"x" * 4096)
    whole = os.open

    def opened(path: str, *rest: int, **more: int) -> int:
        if path == "gone":
            os.rmdir(tmp_path / "gone")
        return whole(path, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
    found = held(str(tmp_path))
    assert found.unmeasured == ""
    assert found.used_bytes >= 4096


def test_a_directory_that_becomes_a_link_while_it_is_measured_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, elsewhere = tmp_path / "top", tmp_path / "elsewhere"
    (top / "turned").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "file").write_bytes(b"x" * 1024 * 1024)
    whole = os.open

    def opened(path: str, *rest: int, **more: int) -> int:
        if path == "turned":
            os.rmdir(top / "turned")
            os.symlink(elsewhere, top / "turned")
        return whole(path, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
    found = held(str(top))
    assert (top / "turned").is_symlink()
    assert found.used_bytes < 100 * 1024


def test_a_measurement_ends_where_twice_the_limit_is_reached(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    assert held(str(tmp_path), 10 * LEAST_BYTES).used_bytes == 10 * LEAST_BYTES
    assert held(str(tmp_path)).used_bytes == 100 * LEAST_BYTES
