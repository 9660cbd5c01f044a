"""Samples come at round steps, and not ever more of them."""

from dataclasses import replace

from quotatree.sim.timeline import step_for, usual_shapes
from tests.sim.made import S, job, one_quota, run


def test_samples_come_at_round_steps():
    assert step_for(0) == 60_000
    assert step_for(1_000 * 60_000 + 1) == 120_000
    assert step_for(110 * 86_400 * S) == 180 * 60_000
    assert step_for(3_000 * 86_400 * S) == 3 * 86_400 * S
    assert usual_shapes({1000: 3, 8000: 1}) == ((1000, 0.75), (8000, 0.25))


def test_a_long_tail_does_not_make_ever_more_samples():
    """Jobs come for ten seconds, so a minute is a fine step; one of them runs for three days."""
    setup = replace(one_quota(), sample_ms=None)
    result = run(setup, job("short", 0, 10, 1), job("long", 10, 3 * 86_400, 1))
    timeline = result.timeline
    assert timeline.step_ms == 4 * 60_000
    assert [sample.time_ms for sample in timeline.samples] == list(
        range(0, timeline.until_ms + 1, timeline.step_ms)
    )
