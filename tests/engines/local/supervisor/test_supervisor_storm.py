"""A hundred runs of every bad sort, stopped and killed at random moments: each ends, and nothing is left. Issue 5, faults."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.engines.local.supervised import Run, Runs, wait_for
from tests.engines.local.supervisor.test_strays import DAEMON, python

COMMANDS: list[str | list[str]] = [
    "true",
    "exit 3",
    "sleep 0.02",
    "kill -9 $$",
    "yes",
    "trap '' TERM; sleep 1000 & sleep 1000",
    f"{python(DAEMON)}; sleep 1000",
    ["sleep", "1000"],
    ["no-such-command"],
]
AT_ONCE = 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_killed_whenever_nothing_is_left(both_ways: Runs, seed: int):
    dice = random.Random(seed)
    runs = [prepared(both_ways, dice, f"job-{n}") for n in range(AT_ONCE)]
    for run in runs:
        run.supervise()
    killed = [run for run in runs if disturbed(run, dice)]
    for run in runs:
        assert_ended(run, killed=run in killed)


def assert_ended(run: Run, *, killed: bool) -> None:
    run.wait_until(lambda: run.concluded or (killed and not run.supervisor_alive()), f"the end of {run.spec}")
    assert not Path(run.dir.crash).exists(), Path(run.dir.crash).read_text()
    said = run.work("daemon").read_text() if run.work("daemon").exists() else ""
    if said:  # else it was killed before it said a number, perhaps with the file just opened
        pid = int(said)
        wait_for(lambda: not is_in(run, pid), "the death of the daemon")


def prepared(runs: Runs, dice: random.Random, job: str) -> Run:
    return runs.prepare(
        dice.choice(COMMANDS),
        replicas=dice.choice([1, 1, 2, 4]),
        job=job,
        retries=dice.choice([0, 0, 2]),
        backoff_seconds=0.01,
        grace_ms=100,
    )


def disturbed(run: Run, dice: random.Random) -> bool:
    """True if its supervisor was killed; all others are told to stop."""
    time.sleep(dice.random() * 0.02)  # the random moment, not a wait for something
    what = dice.choice(["stop", "stop", "supervisor", "main"])
    if what == "supervisor" and run.supervisor() is not None:
        run.kill_supervisor()
        return True
    if what == "main" and run.lines("started"):
        run.main().send(signal.SIGKILL)
    run.stop(grace_ms=dice.choice([0, 50, 100]))
    return False


def is_in(run: Run, pid: int) -> bool:
    """Whether that process is one of this run's: by where it runs, for its number may be another's by now."""
    try:
        return os.readlink(f"/proc/{pid}/cwd").startswith(run.dir.job.path)
    except OSError:
        return False
