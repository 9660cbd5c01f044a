"""Jobs that misbehave, and machines that do. Issue 5, faults: each is handled, and nothing is left behind."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quotatree.engines.local.supervisor.loop import Loop
from quotatree.engines.local.supervisor.replica import Replica
from tests.engines.local.supervised import Run, Runs
from tests.engines.local.supervisor.test_supervisor import failed, succeeded

FORK_BOMB = """
import os, time
os.setpgid(0, 0) if os.fork() == 0 else None
print('up', flush=True)
for _ in range(6):
    if os.fork() == 0: os.setsid()
time.sleep(1000)
"""


def test_a_crowd_of_processes_in_many_sessions_is_killed_to_the_last(both_ways: Runs):
    run = both_ways.start(["python3", "-c", FORK_BOMB])
    run.wait_until(lambda: len(run.processes()) >= 60, "a crowd")
    run.stop(grace_ms=0)
    assert run.end() == {"is": "over"}
    assert run.processes() == []


def test_a_stopped_process_is_killed_all_the_same(both_ways: Runs):
    run = both_ways.start("echo up; kill -STOP $$")
    run.wait_for_output(b"up")
    run.stop(grace_ms=50)
    assert run.end() == {"is": "over"}


def test_who_closes_its_output_goes_on(runs: Runs):
    run = runs.start("echo last words; exec >&- 2>&-; while [ ! -e finish ]; do sleep 0.01; done")
    run.wait_for_output(b"last words")
    run.work("finish").touch()
    assert run.end() == succeeded()


def test_whoever_goes_on_writing_into_its_output_does_not_keep_it():
    """A stranger that was given the pipe, is none of the run's processes, and writes as fast as it is read."""
    ours, theirs = os.pipe2(os.O_NONBLOCK)
    loop = Loop()

    class Refilled:
        size = 0

        def add(self, data: bytes) -> None:
            self.size += len(data)
            assert self.size < 10_000_000, "it is read without end"
            os.write(theirs, data)

    log: Any = Refilled()
    ignore: Any = None
    replica = Replica(0, loop, log, group=None, strays=ignore, started=ignore, gone=ignore, notice=ignore)
    replica._output = ours
    os.write(theirs, b"last words")
    replica._drain()
    assert log.size >= len(b"last words")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(ours)
    os.close(theirs)
    loop.close()


def test_the_output_of_one_that_exits_at_once_is_whole(runs: Runs):
    run = runs.start(["echo", "x" * 60_000])
    assert run.end() == succeeded()
    assert len(run.log()) == 60_001


def test_output_is_kept_byte_by_byte(runs: Runs):
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 3)"
    run = runs.start(["python3", "-c", code])
    assert run.end() == succeeded()
    assert run.log() == bytes(range(256)) * 3


def test_endless_output_costs_little_and_leaves_no_more_than_the_limit(runs: Runs):
    mib = 160
    run = runs.start(
        f"head -c {mib}M /dev/zero; echo the end; while [ ! -e finish ]; do sleep 0.01; done", log_mib=1
    )
    run.wait_for_output(b"the end")
    supervisor = run.supervisor()
    assert supervisor is not None
    assert _resident_mib(supervisor.pid) < 40
    assert _cpu_seconds(supervisor.pid) < 0.01 * mib
    segments = sorted(Path(run.dir.replica_logs(0)).iterdir())
    assert sum(path.stat().st_size for path in segments) <= 1024 * 1024
    last = segments[-1]
    assert int(last.stem) + last.stat().st_size == mib * 1024 * 1024 + len(b"the end\n"), (
        "offsets count all of it"
    )
    run.work("finish").touch()
    assert run.end() == succeeded()
    assert run.journal[-1]["at_ms"] - run.journal[0]["at_ms"] >= 900, "who prints faster than that waits"


def test_the_last_words_are_kept_of_one_that_ends_while_it_is_made_to_wait(runs: Runs):
    run = runs.start("head -c 128M /dev/zero; echo the end", log_mib=1)
    assert run.end() == succeeded()
    assert run.log().endswith(b"the end\n")


def test_one_that_prints_without_end_holds_up_nobody(runs: Runs):
    run = runs.start("if [ $RANK = 0 ]; then exec yes; fi; echo mine", replicas=2)
    run.wait_for_output(b"mine\n", 1)
    run.stop()
    assert run.end() == {"is": "over"}


def test_a_process_killed_from_outside_is_a_failure_with_its_signal(runs: Runs):
    run = runs.start(["sleep", "1000"])
    run.wait("confirmed")
    run.main().send(signal.SIGKILL)
    assert run.end() == failed("replica 0 was killed by signal KILL")


@contextlib.contextmanager
def small_disk(path: str, size: str) -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    os.makedirs(path, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


def test_a_full_disk_for_logs_stops_no_job_and_is_said_once(runs: Runs):
    run = runs.prepare("head -c 1M /dev/zero; echo more; head -c 1M /dev/zero; touch survived")
    with small_disk(run.dir.logs, "64k"):
        run.supervise()
        assert run.end() == succeeded()
        assert run.work("survived").exists()
        assert [line["text"] for line in run.lines("notice")] == [
            "replica 0: output is dropped while it cannot be written: No space left on device"
        ]
        assert run.log(), "what could be kept is kept"
        run.wait_for_its_supervisor()


def test_the_journal_on_a_full_disk_waits_and_nothing_of_it_is_lost(runs: Runs):
    """The end of a run is told when there is room again, and the supervisor stays until it is."""
    run = runs.prepare("while [ ! -e full ]; do sleep 0.01; done; touch ended")
    before = {path: Path(path).read_bytes() for path in (run.dir.spec, run.dir.orders)}
    with small_disk(run.dir.path, "32k"):
        for path, content in before.items():
            Path(path).write_bytes(content)
        run.supervise()
        run.wait("confirmed")
        _fill_up(run)
        run.work("full").touch()
        run.wait_until(lambda: run.work("ended").exists() and not run.main().alive(), "its end")
        assert not run.concluded
        os.unlink(os.path.join(run.dir.path, "ballast"))
        assert run.end() == succeeded()
        run.wait_for_its_supervisor()


def _fill_up(run: Run) -> None:
    # The journal's own last block too: a line that still fits into it would be written.
    with open(os.path.join(run.dir.path, "ballast"), "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    padding = 4096 - os.stat(run.dir.journal).st_size % 4096
    with open(run.dir.journal, "ab", buffering=0) as file:
        file.write(b" " * (padding - 1) + b"\n")


def _resident_mib(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


def _cpu_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
