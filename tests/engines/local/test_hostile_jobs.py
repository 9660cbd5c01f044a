"""A job gets nothing of a job of another workspace, whatever it tries, where workspaces have users of their own.

The same tries are made where all jobs run as one user: there most of them succeed, so these tests can fail.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.core import JobId
from quotatree.engines.base import Outcome, StopOrder
from quotatree.engines.local.server.disk_use import DiskSettings
from quotatree.engines.local.server.unix_users import UserSettings
from tests.engines.local import hostile
from tests.engines.local.harness import until
from tests.engines.local.machine import RANGE, Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give workspaces users of their own")

ABORTING = frozenset({"kill everything it may", "write an order to end it", "empty its working directory"})
"""Tried only where they must fail: they would end the victim, and perhaps other programs of the same user."""


@pytest.fixture
def directory() -> Iterator[Path]:
    """Jobs of other users must be able to pass through it, as through any directory of a server's data."""
    path = Path(tempfile.mkdtemp(prefix="quotatree-"))
    os.chmod(path, 0o711)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def apart(directory: Path) -> Iterator[Machine]:
    made = Machine(directory, run_as=None, users=UserSettings(range=RANGE))
    if not made.engine._premises.apart:
        made.engine.close()
        pytest.skip(made.engine._premises.not_apart)
    yield made
    made.close()


def test_a_job_gets_nothing_of_another_workspace_whatever_it_tries(apart: Machine) -> None:
    apart.victim()
    got = apart.attack(list(hostile.ATTEMPTS))
    assert got == dict.fromkeys(hostile.ATTEMPTS)
    assert apart.ended("victim") is None, "it goes on running"
    job = apart.engine._directory.job("victim")
    assert Path(job.checkpoints, "model").read_text() == "precious"
    assert Path(job.work, "data").read_text() == "precious"


def test_a_job_gets_nothing_of_a_notebook_or_a_service_of_another_workspace_but_an_answer(
    apart: Machine,
) -> None:
    apart.victim()
    got = apart.attack(list(hostile.SERVED), **apart.serve())
    assert {name for name, what in got.items() if what is not None} == {"ask its service"}
    assert "served" in (got["ask its service"] or "")
    assert apart.ready("notebook")
    assert apart.ready("service")


def test_a_job_cannot_start_in_the_directory_of_another_workspace(apart: Machine) -> None:
    apart.victim()
    theirs = apart.engine._directory.job("victim").work
    apart.start("hostile", "b", {"command": "ls", "workdir": theirs})
    until(lambda: apart.ended("hostile") is not None)
    end = apart.ended("hostile")
    assert end is not None
    assert end.outcome is Outcome.FAILED
    assert "data" not in apart.printed("hostile")


def table() -> dict[str, tuple[str, str]]:
    """Those tables of the page that begin with "it tried to": by what was tried, what it got where workspaces are kept apart, and as one user."""
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "isolation.md").read_text(encoding="utf-8")
    tables = (part.splitlines() for part in page.split("\n\n") if part.startswith("| it tried to |"))
    rows = [line.strip("| ").split(" | ") for lines in tables for line in lines[2:]]
    return {row[0]: (row[1], row[2]) for row in rows}


def test_the_page_lists_what_was_tried_and_what_it_got() -> None:
    """That it got nothing, as the tests above have seen; itself, where what it reached was its own."""
    assert list(table()) == [*hostile.ATTEMPTS, *hostile.SERVED]
    something = {
        name for name, (kept_apart, _) in table().items() if not kept_apart.startswith(("nothing", "itself"))
    }
    assert something == {"ask its service"}


def as_the_page_says(got: dict[str, str | None]) -> list[str]:
    """The attempts of which the page says otherwise for jobs that run as one user; what depends on the kernel is left out."""
    said = {name: table()[name][1] for name in got}
    return [
        name
        for name, what in got.items()
        if not said[name].startswith("depends")
        and (what is None) is not said[name].startswith(("nothing", "–"))
    ]


def test_where_all_jobs_run_as_one_user_the_same_tries_succeed(directory: Path) -> None:
    """What the suite would say if nothing were kept apart."""
    machine = Machine(directory, run_as="nobody", users=UserSettings())
    try:
        machine.victim()
        got = machine.attack([name for name in hostile.ATTEMPTS if name not in ABORTING])
        assert as_the_page_says(got) == []
        served = machine.attack(list(hostile.SERVED), job="again", **machine.serve())
        assert as_the_page_says(served) == []
        assert machine.engine.capabilities.one_team, "and the server says so"
    finally:
        machine.close()


def test_a_job_kept_apart_works_where_directories_of_jobs_live_elsewhere(directory: Path) -> None:
    disk = DiskSettings(jobs=directory / "disk" / "jobs")
    machine = Machine(directory, run_as=None, users=UserSettings(range=RANGE), disk=disk)
    try:
        machine.start("one", "a", {"command": "echo kept > file; echo kept > $QUOTATREE_CHECKPOINT_DIR/file"})
        until(lambda: machine.ended("one"))
        end = machine.ended("one")
        assert end is not None
        assert end.outcome is Outcome.SUCCEEDED, end.detail
        assert (directory / "disk" / "jobs" / "one" / "work" / "file").read_text() == "kept\n"
        machine.victim()
        assert set(machine.attack(list(hostile.ATTEMPTS)).values()) == {None}
    finally:
        machine.close()


def test_jobs_of_one_workspace_share_its_user_and_home_but_not_their_processes(apart: Machine) -> None:
    apart.start("one", "a", {"command": "id -u; echo hers > $HOME/note; ls -d $HOME; stat -c %a $HOME"})
    apart.start("other", "b", {"command": "id -u"})
    until(lambda: apart.ended("one") and apart.ended("other"))
    uid, home, mode = apart.printed("one").split()
    assert int(uid) in range(RANGE[0], RANGE[1] + 1)
    assert (home, mode) == (apart.engine._directory.home(int(uid)), "700")
    assert apart.printed("other").split() != [uid]
    apart.start("two", "a", {"command": "id -u; cat $HOME/note; ls /proc | grep -c '^[0-9]'"})
    until(lambda: apart.ended("two"))
    again, note, processes = apart.printed("two").split()
    assert (again, note) == (uid, "hers")
    assert int(processes) <= 6, "its own only"


def test_a_workspace_keeps_its_user_when_the_server_is_started_again(apart: Machine) -> None:
    apart.start("one", "a", {"command": "id -u"})
    until(lambda: apart.ended("one"))
    users = UserSettings(range=RANGE)
    again = Machine(apart.directory, run_as=None, users=users)
    try:
        assert str(again.engine._premises.user("b").uid) != apart.printed("one").strip()
        assert str(again.engine._premises.user("a").uid) == apart.printed("one").strip()
    finally:
        again.engine.close()


def test_a_workspace_may_have_a_fixed_user(directory: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    machine = Machine(directory, run_as=None, users=UserSettings(range=RANGE, map={"a": "nobody"}))
    try:
        machine.start("one", "a", {"command": "id -u; echo $USER"})
        until(lambda: machine.ended("one"))
        assert machine.printed("one").split() == [str(nobody.pw_uid), "nobody"]
    finally:
        machine.close()


def test_a_job_that_is_kept_apart_ends_as_any_other(apart: Machine) -> None:
    """A signal is a signal, a code a code, a missing command is named, and a grace is a grace."""
    apart.start("code", "a", {"command": "exit 7"})
    apart.start("signal", "a", {"command": "kill -9 $$"})
    apart.start("missing", "a", {"command": ["no-such-command"]})
    apart.start("well", "a", {"command": "sleep 0.01"})
    names = ("code", "signal", "missing", "well")
    until(lambda: all(apart.ended(name) for name in names))
    said = {name: end.detail for name in names if (end := apart.ended(name)) is not None}
    assert "code 7" in said["code"]
    assert "signal KILL" in said["signal"]
    assert "command not found: no-such-command" in said["missing"]
    assert said["well"] == ""
    well = apart.ended("well")
    assert well is not None
    assert well.outcome is Outcome.SUCCEEDED


def test_what_a_shell_leaves_behind_may_use_its_grace_when_kept_apart(apart: Machine) -> None:
    child = "trap 'touch saved; exit 0' TERM; sleep 600 & touch waits; wait"
    apart.start("job", "a", {"command": f'sh -c "{child}" & exec sleep 600'}, grace_ms=20_000)
    work = Path(apart.engine._directory.job("job").work)
    until((work / "waits").exists)
    apart.engine.stop(StopOrder(JobId("job"), 1, 20_000))
    until(lambda: not apart.engine.observe().running)
    assert (work / "saved").exists()


def test_a_job_that_is_kept_apart_dies_with_its_supervisor(apart: Machine) -> None:
    apart.victim()
    run = apart.engine._runs[JobId("victim"), 1]
    first = run.processes[0]
    assert run.supervisor is not None
    run.supervisor.send(signal.SIGKILL)
    until(lambda: not first.alive())
    until(lambda: not apart.engine.observe().running)
