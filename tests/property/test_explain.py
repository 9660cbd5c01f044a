"""X0, X1-X4, A8: questions change nothing, and the answers are what a plan then does."""

from __future__ import annotations

from random import Random

from hypothesis import given

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.explanation import PREVIEWABLE, explain, exposure, preview
from quotatree.core.model.job import Phase
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from quotatree.core.waiting_reasons import foremost_reasons
from tests.property import happenings
from tests.property.snapshot import snapshot
from tests.property.test_promises import RANDOM
from tests.property.walk import Walk, begin, step
from tests.property.worlds import chance, several_trees, world


def lived(random: Random, steps: int = 6) -> Walk:
    walk = begin(random)
    for _ in range(steps):
        step(random, walk, check=False)
    return walk


@given(RANDOM)
def test_questions_leave_no_trace(random: Random) -> None:
    walk = lived(random)
    before = snapshot(walk.state)
    for job in list(walk.state.jobs.values()):
        explain(walk.state, job.id, walk.now_ms)
        if job.core is not None:
            exposure(walk.state, job.id, walk.now_ms)
    for _ in range(4):
        preview(walk.state, previewable(random, walk), walk.now_ms)
    assert snapshot(walk.state) == before


@given(RANDOM)
def test_a_preview_is_what_happens_then(random: Random) -> None:
    walk = lived(random)
    for _ in range(4):
        events = previewable(random, walk)
        told = preview(walk.state, events, walk.now_ms)
        found: tuple[say.Decision, ...] = ()
        for event in events:
            found += apply(walk.state, event, walk.now_ms)
        assert told == found + plan(walk.state, walk.now_ms).decisions


@given(RANDOM)
def test_a_job_that_still_waits_after_a_plan_is_told_why(random: Random) -> None:
    walk = begin(random, several_trees if chance(random, 30) else world)
    for _ in range(6):
        step(random, walk, check=False)
        everybody_is_told_why(walk)


def everybody_is_told_why(walk: Walk) -> None:
    """X1, A2: each waiting job has a reason with figures, and "not tried yet" is none after a plan."""
    waiting = [job for job in walk.state.jobs.values() if job.phase is Phase.WAITING]
    foremost = foremost_reasons(walk.state, waiting, walk.now_ms)
    for job in waiting:
        explanation = explain(walk.state, job.id, walk.now_ms)
        assert explanation.reasons, f"{job.id} waits for no reason"
        assert Code.NotYetTried not in {r.code for r in explanation.reasons}, job.id
        assert all(reason.text for reason in explanation.reasons)
        assert explanation.position == len(explanation.ahead) + 1
        assert foremost[job.id] == explanation.reasons[0], "a list of jobs says the same as explain"


def previewable(random: Random, walk: Walk) -> list[ev.Event]:
    """One or two events that are not refused, submissions mostly."""
    found: list[ev.Event] = []
    for _ in range(20):
        event = happenings.anything(random, walk.state, walk.now_ms)
        if event is None or not isinstance(event, PREVIEWABLE):
            continue
        try:
            preview(walk.state, [*found, event], walk.now_ms)
        except Refused:
            continue
        found.append(event)
        if len(found) == 1 + random.randint(0, 1):
            break
    return found
