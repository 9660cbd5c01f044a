"""kill -9 in the middle of commits: nothing acknowledged is lost, nothing is there by half (A7)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from quotatree.store import Store
from tests.profiles import by_profile
from tests.store.building import HOLDER, HOUR_MS, jobs_batch
from tests.store.test_backup import SIZE, check_whole

ROOT = Path(__file__).resolve().parents[2]


def write_for_ever(url: str) -> None:
    """Run in a process of its own: says the number of each batch once it is committed."""
    store = Store.open(url)
    epoch = store.take_lease(HOLDER, 0, HOUR_MS)
    assert epoch is not None
    number = store.last_batch()
    while True:
        number += 1
        store.commit(jobs_batch(epoch, number, SIZE))
        os.write(1, f"{number}\n".encode())


def test_kill_9_loses_nothing_acknowledged(store: Store, url: str) -> None:
    random = Random(9)
    program = "import sys; from tests.store.test_kill import write_for_ever; write_for_ever(sys.argv[1])"
    there = 0
    for _ in range(by_profile(quick=2, deep=4, long=100)):
        writer = subprocess.Popen(
            [sys.executable, "-c", program, url],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
            stdout=subprocess.PIPE,
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(random.uniform(0, 0.4))
        writer.send_signal(signal.SIGKILL)
        acknowledged = int((first + writer.stdout.read()).split()[-1])
        writer.stdout.close()
        writer.wait()
        deadline = time.monotonic() + 60
        while True:  # PostgreSQL may still be busy with the commit of the dead client
            before, there = there, check_whole(store)
            if there == before or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        assert there >= acknowledged, f"{acknowledged} was acknowledged, {there} are there"
        assert there <= acknowledged + 1
