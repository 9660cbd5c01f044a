"""Runs of the simulator: bounded in time and number, one at a time, and gone when they are cancelled."""

from __future__ import annotations

import sys

import pytest

from quotatree.access.errors import NotFound
from quotatree.api.problems import ApiError
from quotatree.api.simulations import MOST_KEPT, MOST_WAITING, Run, Simulations, State
from tests.api.serving import wait_for

SLEEPS = (sys.executable, "-c", "import sys, time; sys.stdin.buffer.read(); time.sleep(100)")
SAYS = (
    sys.executable,
    "-c",
    'import sys; sys.stdin.buffer.read(); print(\'{"result":{"variant":0,"plans":7}}\', flush=True)',
)
BREAKS = (
    sys.executable,
    "-c",
    'import sys; sys.stdin.buffer.read(); print(\'{"error":{"variant":0,"why":"no node"}}\', flush=True)',
)


def a_run(number: int = 0) -> Run:
    return Run("ann", "team", f"run {number}", ("now",), 0, 1, None, number)


def test_a_run_that_takes_too_long_is_ended_and_says_so():
    simulations = Simulations(longest_seconds=0.2, command=SLEEPS)
    run = a_run()
    simulations.add(run)
    wait_for(lambda: run.ended_ms is not None, 30)
    assert run.state is State.FAILED
    assert "longer than 0.2 s" in (run.error or "")
    simulations.close()


def test_a_cancelled_run_ends_at_once_whether_it_plays_or_waits():
    simulations = Simulations(command=SLEEPS)
    first, second = a_run(1), a_run(2)
    simulations.add(first)
    simulations.add(second)
    wait_for(lambda: first.state is State.RUNNING)
    assert second.state is State.WAITING
    for run in (second, first):
        simulations.remove(run.id)
        assert run.state is State.CANCELLED
        with pytest.raises(NotFound):
            simulations.run(run.id)
    simulations.close()


def test_no_more_runs_wait_than_may():
    simulations = Simulations(command=SLEEPS)
    playing = a_run()
    simulations.add(playing)
    wait_for(lambda: playing.state is State.RUNNING)
    for number in range(MOST_WAITING):
        simulations.add(a_run(number))
    with pytest.raises(ApiError, match="wait already"):
        simulations.add(a_run())
    simulations.close()
    assert {run.state for run in simulations.all()} == {State.CANCELLED}


def test_only_the_newest_results_are_kept():
    simulations = Simulations(command=(sys.executable, "-c", ""))
    runs = [a_run(number) for number in range(MOST_KEPT + 2)]
    for run in runs:
        run.ended_ms = 1
        simulations._runs[run.id] = run
    simulations.add(a_run())
    assert len(simulations.all()) == MOST_KEPT
    assert runs[0] not in simulations.all()
    assert runs[-1] in simulations.all()
    simulations.close()


@pytest.mark.parametrize(
    ("command", "state", "error"), [(SAYS, State.DONE, None), (BREAKS, State.FAILED, "now: no node")]
)
def test_what_the_process_says_is_kept(command: tuple[str, ...], state: State, error: str | None):
    simulations = Simulations(command=command)
    run = a_run()
    simulations.add(run)
    wait_for(lambda: run.ended_ms is not None, 30)
    assert (run.state, run.error) == (state, error)
    simulations.close()


def test_what_is_done_or_failed_outlives_the_server_and_what_was_forgotten_does_not(tmp_path):
    done, failed, forgotten = a_run(1), a_run(2), a_run(3)
    for run, command in ((done, SAYS), (failed, BREAKS), (forgotten, SAYS)):
        server = Simulations(command=command, directory=tmp_path / "simulations")
        server.add(run)
        wait_for(lambda run=run: run.ended_ms is not None, 30)
        server.close()
    Simulations(directory=tmp_path / "simulations").remove(forgotten.id)
    again = Simulations(directory=tmp_path / "simulations")
    assert [run.id for run in again.all()] == [failed.id, done.id]
    assert again.run(done.id).fields() == done.fields()
    assert again.run(done.id).results == {0: {"plans": 7}}
    assert again.run(failed.id).error == "now: no node"


def test_a_cancelled_run_leaves_no_file(tmp_path):
    server = Simulations(command=SLEEPS, directory=tmp_path / "simulations")
    run = a_run()
    server.add(run)
    wait_for(lambda: run.state is State.RUNNING)
    server.close()
    assert Simulations(directory=tmp_path / "simulations").all() == []
