"""A7 with real processes: after a crash of anybody, what runs is found, what ended is known, nothing is left behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from quotatree.core.model.job import JobId
from quotatree.engines.base import Confirmed, Exited, Left, Lost, Outcome
from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host.identity import Identity
from quotatree.engines.local.server import birth
from quotatree.engines.local.server.engine import LocalEngine
from tests.engines.contract import replicas_running, start_order, stop_order, told
from tests.engines.local.harness import RUN_AS, LocalHarness, until

ROOT = Path(__file__).resolve().parents[4]
JOB = JobId("dlc-a")


def test_a_new_server_finds_the_same_processes_and_can_stop_them(local: LocalHarness):
    local.engine.start(start_order(local.program(), (0, 1)))
    local.pass_time(0)
    before = {r: p.pid for r, p in local.engine._runs[JOB, 1].processes.items()}
    local.reopen()
    assert replicas_running(local.engine) == {(JOB, 1): (0, 1)}
    assert {r: p.pid for r, p in local.engine._runs[JOB, 1].processes.items()} == before
    local.engine.stop(stop_order())
    until(lambda: replicas_running(local.engine) == {})
    assert sorted(r for one in told(local, Left) for r in one.replicas) == [0, 1]  # type: ignore[union-attr]


def test_a_supervisor_that_somebody_stopped_obeys_all_the_same(local: LocalHarness):
    local.engine.start(start_order(local.program()))
    local.pass_time(0)
    supervisor = local.supervisor(JOB, 1)
    supervisor.send(signal.SIGSTOP)
    local.engine.stop(stop_order())
    until(lambda: replicas_running(local.engine) == {})


def test_a_server_killed_with_its_whole_session_leaves_supervisors_alone(local: LocalHarness, tmp_path: Path):
    """The real thing: another process starts a job and is killed; nothing of the job notices."""
    directory = tmp_path / "other"
    script = textwrap.dedent(
        f"""
        import os, signal
        from pathlib import Path
        from quotatree.engines.local.server.engine import LocalEngine
        from tests.engines.contract import start_order
        engine = LocalEngine(Path({str(directory)!r}), run_as={RUN_AS!r})
        engine.open(lambda report: os.killpg(0, signal.SIGKILL))
        engine.start(start_order({{"command": "sleep 0.5; exit 3"}}))
        signal.pause()
        """
    )
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    died = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        check=False, timeout=30,
    )  # fmt: skip
    assert died.returncode == -signal.SIGKILL
    engine = LocalEngine(directory, run_as=RUN_AS)
    engine.open(lambda _: None)
    assert replicas_running(engine) == {(JOB, 1): (0,)}
    until(lambda: engine.observe().exits)
    assert [(e.outcome, e.detail) for e in engine.observe().exits] == [
        (Outcome.FAILED, "replica 0 exited with code 3")
    ]
    engine.close()


def test_a_journal_torn_in_the_middle_of_a_line_is_read_up_to_there(local: LocalHarness):
    local.engine.start(start_order(local.program()))
    local.pass_time(0)
    with Path(local.engine._runs[JOB, 1].directory.journal).open("ab") as file:
        file.write(b'{"at_ms": 1, "is": "exi')
    local.lose(JOB, 1)
    until(lambda: told(local, Lost))
    local.reopen()
    assert (replicas_running(local.engine), local.engine.observe().exits) == ({}, ())


def test_a_start_that_broke_off_when_the_supervisor_was_there_is_no_loss(local: LocalHarness, monkeypatch):
    """A start is ordered again until it is heard; a run that goes on must not be given its GPUs twice."""
    spawn = birth.spawn_supervisor

    def spawn_and_break(*arguments: Any) -> int:
        spawn(*arguments)
        raise OSError(errno.EMFILE, "no more files")

    monkeypatch.setattr(birth, "spawn_supervisor", spawn_and_break)
    with pytest.raises(OSError, match="no more files"):
        local.engine.start(start_order(local.program()))
    until(lambda: journal.read(local.engine._directory.run(JOB, 1).journal)[0])
    local.engine.start(start_order(local.program()))
    until(lambda: told(local, Confirmed))
    assert replicas_running(local.engine) == {(JOB, 1): (0,)}
    assert not told(local, Lost)


def test_a_job_that_loses_its_supervisor_every_time_has_failed_at_last(local: LocalHarness):
    for run in range(1, birth.LOSSES + 1):
        local.engine.start(start_order(local.program(), run=run))
        local.lose(JOB, run)
        until(lambda: len(told(local, Lost)) + len(told(local, Exited)) == run)  # noqa: B023 — called at once
    assert [one.run for one in told(local, Lost)] == list(range(1, birth.LOSSES))  # type: ignore[union-attr]
    why = "its supervisor was killed 10 times in a row, each time within 5 s of the start"
    assert told(local, Exited) == [Exited(JOB, birth.LOSSES, Outcome.FAILED, why)]


def test_a_run_that_was_written_down_and_never_begun_is_begun_by_the_next_order(local: LocalHarness):
    """The server died between writing the order and asking for a supervisor."""
    path = EngineDir(local._directory).run(JOB, 1)
    os.makedirs(path.path)
    spec = {"job": JOB, "run": 1, "module": "DLC", "program": {"env": {}}}
    birth.write_spec(path, spec, [{"do": "start", "replicas": [{"replica": 0}]}])
    local.reopen()
    assert replicas_running(local.engine) == {}
    local.engine.start(start_order(local.program()))
    until(lambda: told(local, Confirmed))
    assert replicas_running(local.engine) == {(JOB, 1): (0,)}
    starts = [line for line in journal.read(path.orders)[0] if line["do"] == "start"]
    assert len(starts) == 1, "the order of old is replaced, not repeated"


def test_a_supervisor_being_born_when_the_server_dies_counts_as_running(local: LocalHarness):
    """Nothing is journalled yet, but the lock is held: nobody may give its GPU away."""
    path = EngineDir(local._directory).run(JOB, 1)
    os.makedirs(path.path)
    spec = {"job": JOB, "run": 1, "module": "DLC", "program": {"env": {}}}
    birth.write_spec(path, spec, [{"do": "start", "replicas": [{"replica": 0}]}])
    unborn = birth.take_lock(path)
    assert unborn is not None
    local.reopen()
    assert replicas_running(local.engine) == {(JOB, 1): (0,)}
    os.close(unborn)  # it never came to be
    until(lambda: told(local, Lost))
    assert replicas_running(local.engine) == {}


def test_a_second_supervisor_of_a_run_never_begins(local: LocalHarness):
    local.engine.start(start_order(local.program()))
    local.pass_time(0)
    until(lambda: len(local.marked()) == 2)  # the shell and what it waits for
    before = local.marked()
    path = local.engine._runs[JOB, 1].directory
    assert birth.take_lock(path) is None
    other = os.open("/dev/null", os.O_RDONLY)
    local.engine._nursery.start(path.path, {}, other)  # with something that is not the lock
    os.close(other)
    local.pass_time(1)
    assert local.marked() == before


def test_a_nursery_that_was_killed_is_replaced(local: LocalHarness):
    local.engine.start(start_order(local.program(), job="dlc-b"))
    local.pass_time(0)
    nursery = Identity.of(local.engine._nursery.pid)
    assert nursery is not None
    nursery.send(signal.SIGKILL)
    until(lambda: not nursery.alive())
    local.engine.start(start_order(local.program(seconds=1)))
    until(lambda: told(local, Exited))


def test_a_directory_that_vanished_since_the_submit_fails_the_job_with_the_reason(
    local: LocalHarness, tmp_path: Path
):
    local.engine.start(start_order({"command": ["true"], "workdir": str(tmp_path / "gone")}))
    (ended,) = told(local, Exited)
    assert isinstance(ended, Exited)
    assert "there is no such directory" in ended.detail
    local.reopen()
    assert local.engine.observe().exits == (ended,)


def test_secrets_reach_the_job_and_no_file(local: LocalHarness):
    program = {"command": 'printf %s "$TOKEN" | tr a-z A-Z', "secrets": {"TOKEN": "hunter-two"}}
    local.engine.start(start_order(program))
    until(lambda: told(local, Exited))
    piece = local.engine.log(JOB, 1, 0, 0, 100)
    assert piece is not None
    assert piece.data == b"HUNTER-TWO"
    texts = [path.read_bytes() for path in local._directory.rglob("*") if path.is_file()]
    assert not any(b"hunter-two" in text for text in texts)


def test_thousands_of_old_runs_do_not_matter_when_forgotten(local: LocalHarness):
    """Forgotten runs are not read again."""
    path = EngineDir(local._directory).run(JOB, 1)
    os.makedirs(path.path)
    Path(path.spec).write_text("not even JSON")
    Path(path.forgotten).touch()
    local.reopen()
    assert local.engine._runs == {}


def test_many_starts_from_many_threads_while_the_engine_sweeps(local: LocalHarness):
    """A stress for the locks: all of them end, and all ends are told once."""
    ended = threading.Event()

    def sweep() -> None:
        while not ended.is_set():
            local.engine._sweep()
            local.engine.observe()

    def start(number: int) -> None:
        for n in range(10):
            local.engine.start(start_order({"command": ["true"]}, job=f"dlc-{number}-{n}"))

    threads = [threading.Thread(target=sweep, daemon=True)]
    threads += [threading.Thread(target=start, args=[number], daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    until(lambda: len(told(local, Exited)) >= 40, 60)
    ended.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert len({one.job for one in told(local, Exited)}) == len(told(local, Exited)) == 40  # type: ignore[union-attr]
