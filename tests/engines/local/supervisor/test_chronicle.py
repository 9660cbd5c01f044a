"""The engine is told where there is something to read."""

import os

from tests.engines.local.supervised import Runs
from tests.engines.local.supervisor.test_supervisor import succeeded


def test_the_engine_is_woken(runs: Runs):
    os.mkfifo(runs.directory.wake)
    fifo = os.open(runs.directory.wake, os.O_RDWR | os.O_NONBLOCK)
    try:
        assert runs.start("true", job="b").end() == succeeded()
        assert set(os.read(fifo, 4096).splitlines()) == {b"b 1"}
    finally:
        os.close(fifo)
