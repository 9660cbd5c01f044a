"""The process that forks supervisors: it gives them the run's lock, outlives the engine, and cleans up behind the killed."""

import os
import signal
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.engines.local.host.identity import Identity
from quotatree.engines.local.server.birth import SOURCE, take_lock
from quotatree.engines.local.supervisor.nursery import Nursery
from tests.engines.local.supervised import Runs, wait_for
from tests.engines.local.supervisor.test_strays import DAEMON, python
from tests.engines.local.supervisor.test_supervisor import succeeded


@pytest.fixture
def own_nursery() -> Iterator[Nursery]:
    made = Nursery(SOURCE)
    yield made
    made.close()


@pytest.fixture
def own_runs(own_nursery: Nursery, engine_directory: Path) -> Iterator[Runs]:
    """Without control groups, which would find everybody anyway."""
    made = Runs(own_nursery, engine_directory, uuid.uuid4().hex[:8], limits=False)
    yield made
    made.close()


def nursery_of(runs: Runs) -> Identity:
    found = Identity.of(runs.nursery.pid)
    assert found is not None
    return found


def test_a_daemon_without_any_mark_does_not_outlive_a_killed_supervisor(own_runs: Runs):
    run = own_runs.start(f"{python(DAEMON)}; sleep 1000")
    daemon = run.pid_written("daemon")
    run.kill_supervisor()
    wait_for(lambda: not daemon.alive(), "the death of the daemon")


def test_main_processes_die_with_their_supervisor_also_when_nobody_else_is_there(own_runs: Runs):
    run = own_runs.start(["sleep", "1000"], replicas=2)
    run.wait_until(lambda: sum(len(line["replicas"]) for line in run.lines("confirmed")) == 2, "both")
    nursery = nursery_of(own_runs)
    nursery.send(signal.SIGKILL)
    wait_for(lambda: not nursery.alive(), "the end of the nursery")
    assert run.main(0).alive()
    run.kill_supervisor()
    run.wait_until(lambda: not run.main(0).alive() and not run.main(1).alive(), "their death")


def test_it_outlives_the_engine_until_its_last_supervisor_is_gone(own_runs: Runs):
    run = own_runs.start(f"{python(DAEMON)}; sleep 1000")
    daemon = run.pid_written("daemon")
    nursery = nursery_of(own_runs)
    own_runs.nursery.close()
    assert nursery.alive()
    assert run.main().alive()
    run.kill_supervisor()
    wait_for(lambda: not daemon.alive(), "the death of the daemon")
    wait_for(lambda: not nursery.alive(), "the end of the nursery")


def test_without_children_it_goes_with_the_engine(own_runs: Runs):
    run = own_runs.start("true")
    assert run.end() == succeeded()
    run.wait_for_its_supervisor()
    nursery = nursery_of(own_runs)
    own_runs.nursery.close()
    wait_for(lambda: not nursery.alive(), "the end of the nursery")


def test_a_start_that_was_cut_off_in_the_middle_gives_the_lock_back(own_runs: Runs):
    """The engine was killed while it asked: nobody was born, and nobody may hold the run."""
    assert own_runs.start("true", job="first").end() == succeeded()
    run = own_runs.prepare("true")
    lock = take_lock(run.dir)
    assert lock is not None
    connection = own_runs.nursery._socket
    assert connection is not None
    socket.send_fds(connection, [b'{"run_dir": "'], [lock])
    os.close(lock)
    own_runs.nursery.close()
    taken = wait_for(lambda: take_lock(run.dir), "the lock")
    os.close(taken)
    assert run.journal == []


def test_large_secrets_arrive_whole(own_runs: Runs):
    run = own_runs.start("echo ${#KEY}", secrets={"KEY": "k" * 100_000, "OTHER": "o" * 100_000})
    assert run.end() == succeeded()
    assert run.log() == b"100000\n"
