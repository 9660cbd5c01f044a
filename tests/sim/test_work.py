"""What a run comes to: every case worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quotatree.core.errors import Refused
from quotatree.core.model.policy import Module
from quotatree.sim.work import (
    CheckpointModel,
    Checkpoints,
    Rhythm,
    Yield,
    completed,
    cut_short,
    restart_ms,
    run_length_ms,
)

MINUTE = 60_000
HOURLY = Rhythm(60 * MINUTE, 0, 40_000, Module.DLC)
NEVER = Rhythm(None, 0, 40_000, Module.DLC)
PAUSING = Rhythm(10 * MINUTE, MINUTE, 40_000, Module.DLC)


def test_a_first_run_takes_as_long_as_its_work_and_a_later_one_a_restart_more():
    assert run_length_ms(5 * MINUTE, HOURLY, first=True) == 5 * MINUTE
    assert run_length_ms(5 * MINUTE, HOURLY, first=False) == 5 * MINUTE + 40_000


def test_without_checkpoints_everything_is_lost():
    assert cut_short(90 * MINUTE, NEVER, first=True) == Yield(0, 90 * MINUTE, 0, 0)


def test_with_checkpoints_what_came_after_the_last_one_is_lost():
    assert cut_short(90 * MINUTE, HOURLY, first=True) == Yield(60 * MINUTE, 30 * MINUTE, 0, 0)


def test_the_restart_is_part_of_the_first_interval_of_a_later_run():
    assert cut_short(90 * MINUTE, HOURLY, first=False) == Yield(60 * MINUTE - 40_000, 30 * MINUTE, 40_000, 0)


def test_a_run_shorter_than_its_restart_did_nothing():
    assert cut_short(10_000, HOURLY, first=False) == Yield(0, 0, 10_000, 0)


def test_pauses_stretch_a_run_but_nothing_is_written_after_the_last_work():
    assert run_length_ms(9 * MINUTE, PAUSING, first=True) == 9 * MINUTE
    assert run_length_ms(18 * MINUTE, PAUSING, first=True) == 19 * MINUTE
    assert run_length_ms(18 * MINUTE + 1, PAUSING, first=True) == 20 * MINUTE + 1


def test_a_run_told_to_stop_while_it_saves_has_not_saved_yet():
    assert cut_short(9 * MINUTE + 30_000, PAUSING, first=True) == Yield(0, 9 * MINUTE, 0, 30_000)
    assert cut_short(10 * MINUTE, PAUSING, first=True) == Yield(9 * MINUTE, 0, 0, MINUTE)


def test_a_notebook_loses_an_hour_at_most_and_a_service_nothing():
    assert cut_short(90 * MINUTE, NEVER._replace(module=Module.DSW), True) == Yield(
        30 * MINUTE, 60 * MINUTE, 0, 0
    )
    assert cut_short(90 * MINUTE, NEVER._replace(module=Module.EAS), True) == Yield(90 * MINUTE, 0, 0, 0)


def test_restarts_cost_as_in_rule_p6():
    assert (restart_ms(8_000), restart_ms(8_001)) == (40_000, 60_000)


def test_the_checkpoint_model_says_whose_word_counts():
    assert CheckpointModel().interval_of(5_000) == 5_000
    assert CheckpointModel(Checkpoints.NONE).interval_of(5_000) is None
    assert CheckpointModel(Checkpoints.INTERVAL, 7_000).interval_of(5_000) == 7_000
    assert CheckpointModel(pause_ms=6_000).interval_of(5_000) is None, "never gets a checkpoint done"


def test_an_interval_without_its_model_or_shorter_than_the_pause_is_refused():
    with pytest.raises(Refused, match="interval"):
        CheckpointModel(Checkpoints.NONE, 1_000)
    with pytest.raises(Refused, match="longer than the pause"):
        CheckpointModel(Checkpoints.INTERVAL, 1_000, 1_000)


rhythms = st.builds(
    Rhythm,
    st.none() | st.integers(50, 5_000),
    st.integers(0, 49),
    st.integers(0, 300),
    st.sampled_from(Module),
)


@given(rhythms, st.integers(0, 50_000), st.booleans())
def test_the_parts_of_a_run_add_up_to_it(rhythm: Rhythm, elapsed_ms: int, first: bool):
    part = cut_short(elapsed_ms, rhythm, first)
    assert sum(part) == elapsed_ms
    assert min(part) >= 0


@given(rhythms, st.integers(1, 50_000), st.booleans())
def test_a_run_of_full_length_has_done_all_its_work_and_not_before(rhythm: Rhythm, work_ms: int, first: bool):
    length_ms = run_length_ms(work_ms, rhythm, first)
    done = cut_short(length_ms, rhythm, first)
    just_before = cut_short(length_ms - 1, rhythm, first)
    assert done.saved_ms + done.unsaved_ms == work_ms
    assert just_before.saved_ms + just_before.unsaved_ms == work_ms - 1
    assert sum(completed(length_ms, work_ms, rhythm, first)) == length_ms
