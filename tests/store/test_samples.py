"""However minutes are put together, over hours or not, the mean is that of the minutes and the peak is the highest."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from quotatree.store.samples import (
    FIGURES,
    JOB_FIGURES,
    PEAKED,
    Amounts,
    Sample,
    Span,
    from_text,
    grouped,
    to_text,
)

amount = st.integers(0, 1 << 40)


@st.composite
def amounts(draw: st.DrawFn) -> Amounts:
    named = draw(st.booleans())
    first = draw(amount) if named else 0
    return Amounts.of_minute(first, *(draw(amount) for _ in FIGURES[1:]), named=named)


@st.composite
def minutes(draw: st.DrawFn) -> list[tuple[int, Sample]]:
    """Some minutes of three days, not all of which anybody looked at."""
    at = draw(st.lists(st.integers(0, 3 * 1440 - 1), min_size=1, max_size=40, unique=True))
    jobs = st.tuples(*(st.integers(0, 10_000) for _ in JOB_FIGURES))
    return [
        (
            one * Span.MINUTE,
            Sample.of_minute(draw(jobs), tuple(draw(st.none() | amounts()) for _ in range(3))),
        )
        for one in sorted(at)
    ]


@given(minutes())
def test_days_of_hours_are_days_of_minutes_and_their_means_those_of_the_minutes(
    looked: list[tuple[int, Sample]],
):
    hours = [(at_ms, from_text(to_text(one))) for at_ms, one in grouped(looked, Span.HOUR)]
    days = list(grouped(hours, Span.DAY))
    assert days == list(grouped(looked, Span.DAY))
    for at_ms, day in days:
        of_day = [one for then_ms, one in looked if Span.DAY.start_of(then_ms) == at_ms]
        assert day.minutes == len(of_day)
        for i in range(len(JOB_FIGURES)):
            assert Fraction(day.jobs[i], day.minutes) == mean([one.jobs[i] for one in of_day])
            assert day.peaks[i] == max(one.jobs[i] for one in of_day)
        for r, found in enumerate(day.amounts):
            those = [amounts for one in of_day if (amounts := one.amounts[r]) is not None]
            assert (found is None) == (not those)
            if found is None:
                continue
            for i, name in enumerate(FIGURES):
                values = [one.sums[i] for one in those if name != "min" or one.named]
                assert found.mean(name) == (float(mean(values)) if values else None)
            for name in PEAKED:
                assert found.peak(name) == max(one.sums[FIGURES.index(name)] for one in those)


def mean(values: list[int]) -> Fraction:
    return Fraction(sum(values), len(values))


@given(minutes())
def test_a_sample_is_read_as_it_was_written(looked: list[tuple[int, Sample]]):
    for _, one in [*looked, *grouped(looked, Span.DAY)]:
        assert from_text(to_text(one)) == one


def test_a_minute_of_one_resource_is_a_short_text():
    gpu = Amounts.of_minute(128_000, 96_000, 16_000, 0, 0, 0, 0, 0, 8_000, 32_000)
    text = to_text(Sample.of_minute((12, 3, 640), (gpu, None, None)))
    assert text == "[1,[12,3,640],[1,1,128000,96000,16000,0,0,0,0,0,8000,32000]]"
