"""Processes that left their parents are found, belong to the right replica, and end with it."""

import shlex
from pathlib import Path

import pytest

from quotatree.engines.local.host.identity import Identity, stat
from tests.engines.local.supervised import Runs
from tests.engines.local.supervisor.test_supervisor import succeeded

DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3): os.close(fd)
        os.execve('/bin/sh', ['sh', '-c', 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 1000'], {'PATH': '/bin:/usr/bin'})
    os._exit(0)
os.wait()
"""
"""Double fork, its own session, no output, no mark in its environment: nothing says whose it is."""

HEADLESS = """
import ctypes, os, threading, time
if os.fork() == 0:
    os.setsid()
    for fd in range(3): os.close(fd)
    threading.Thread(target=time.sleep, args=(1000,)).start()
    open('daemon.new', 'w').write(str(os.getpid()))
    os.rename('daemon.new', 'daemon')
    ctypes.CDLL(None).syscall(93 if os.uname().machine == 'aarch64' else 60, 0)
"""
"""Its first thread ends, another goes on: the kernel shows it as a zombie, without an environment."""


def python(code: str) -> str:
    return f"python3 -c {shlex.quote(code)}"


def test_a_daemon_is_found_and_killed_when_the_main_process_ends(both_ways: Runs):
    run = both_ways.start(f"{python(DAEMON)}; while [ ! -e daemon ]; do sleep 0.01; done; exec cat daemon")
    assert run.end() == succeeded()
    assert Identity.of(int(run.log())) is None, "gone before the end was written down"


def test_a_daemon_gets_the_notice_and_the_kill_like_all_the_others(both_ways: Runs):
    run = both_ways.start(f"{python(DAEMON)}; sleep 1000")
    daemon = run.pid_written("daemon")
    run.stop(grace_ms=60_000)
    assert run.end() == {"is": "over"}
    assert not daemon.alive()


def test_a_process_whose_first_thread_has_ended_is_no_zombie_and_is_killed(both_ways: Runs):
    run = both_ways.start(f"{python(HEADLESS)}; while [ ! -e finish ]; do sleep 0.01; done")
    headless = run.pid_written("daemon")
    run.wait_until(
        lambda: (known := stat(headless.pid)) is not None and known.state == "Z", "its first thread's end"
    )
    assert headless.alive()
    assert headless.pid in [process.pid for process in run.processes()], "known by its mark"
    run.work("finish").touch()
    assert run.end() == succeeded()
    assert not headless.alive(), "gone before the end was written down"


def test_a_daemon_that_left_its_control_group_is_killed_before_the_next_attempt(runs: Runs):
    """As what starts containers does, if it is root."""
    again = "[ ! -e attempt ] || { cat daemon; exit 0; }; touch attempt"
    wait = "while [ ! -e finish ]; do sleep 0.01; done; exit 1"
    run = runs.start(f"{again}; {python(DAEMON)}; {wait}", retries=1, backoff_seconds=0)
    daemon = run.pid_written("daemon")
    groups = run.wait("started")["groups"]
    if not groups:
        pytest.skip("no control groups here")
    for path in groups:
        (Path(path).parents[1] / "cgroup.procs").write_text(str(daemon.pid))
    run.work("finish").touch()
    run.wait("restarting")
    assert not daemon.alive()
    assert run.end() == succeeded()


def test_when_one_replica_leaves_the_daemon_of_another_lives_on(both_ways: Runs):
    command = f"if [ $RANK = 0 ]; then {python(DAEMON)}; fi; while [ ! -e finish ]; do sleep 0.01; done"
    run = both_ways.start(command, replicas=2)
    daemon = run.pid_written("daemon")
    run.wait_until(lambda: sum(len(line["replicas"]) for line in run.lines("confirmed")) == 2, "both")
    run.stop([1])
    run.wait("left")
    assert daemon.alive()
    run.work("finish").touch()
    assert run.end() == succeeded()
    assert not daemon.alive()


def test_one_that_ends_does_not_cut_short_the_grace_of_what_another_left(both_ways: Runs):
    """Replica 1's shell is dead, its child still saves; then replica 0 ends by itself and is cleaned up."""
    child = (
        "import os, signal, sys, time\n"
        "def notice(*_):\n"
        "    while os.getppid() == parent: time.sleep(0.001)\n"
        "    open('saving', 'w').close()\n"
        "    while not os.path.exists('seen'): time.sleep(0.001)\n"
        "    open('saved', 'w').close(); sys.exit(0)\n"
        "parent = os.getppid(); signal.signal(signal.SIGTERM, notice); print('up', flush=True); signal.pause()\n"
    )
    wait = "while [ ! -e finish ]; do sleep 0.01; done; sleep 1000 & echo $! > behind; exit 0"
    run = both_ways.start(f"if [ $RANK = 0 ]; then {wait}; fi; {python(child)}; true", replicas=2)
    run.wait_for_output(b"up", 1)
    run.stop([1])
    run.wait_until(lambda: run.work("saving").exists(), "the notice")
    run.work("finish").touch()
    run.wait_until(lambda: not run.main(0).alive(), "the end of replica 0")
    run.wait_until(
        lambda: (text := run.work("behind").read_text()) and Identity.of(int(text)) is None, "its remains"
    )
    run.work("seen").touch()
    assert run.end() == succeeded()
    assert run.work("saved").exists()
