"""An estimate that breaks or takes too long is an answer, not an error."""

from __future__ import annotations

import sys

from quotatree.api.estimate_worker import Work
from quotatree.api.estimates import played
from quotatree.core import Settings
from quotatree.store.estimating import Material

WORK = Work(Material((), (), (), (), {}, ()), "dlc-1", 0, Settings(), {})


def test_a_process_that_breaks_is_told():
    told = played(WORK, (sys.executable, "-c", "raise SystemExit('boom')"))
    assert (told["likely_ms"], told["why"]) == (None, "the estimate broke; the server's log says how")


def test_a_process_that_takes_too_long_is_ended_and_told():
    told = played(WORK, (sys.executable, "-c", "import time; time.sleep(60)"), seconds=0.2)
    assert told["why"].startswith("there is too much to play through")
