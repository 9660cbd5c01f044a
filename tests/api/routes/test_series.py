"""A quota's figures over time: the shape that charts want, gaps as null, and a step that fits the time asked for."""

from __future__ import annotations

from typing import Any

from quotatree.api.routes.series import fitting_step
from quotatree.control.figure_history import FigureHistory, KeptFigures
from quotatree.store.rows import SampleRow
from quotatree.store.samples import FIGURES, Amounts, Sample, Span
from tests.api.serving import Api

START = 1_700_006_400_000  # a whole hour
MINUTE, HOUR, DAY = Span.MINUTE, Span.HOUR, Span.DAY


def sample(used: int, waiting: int = 0, memory: int | None = None) -> Sample:
    gpu = Amounts.of_minute(4000, used, used, 0, 0, 0, 0, 0, 500, 4000 - used)
    rest = None if memory is None else Amounts.of_minute(0, memory, memory, 0, 0, 0, 0, 0, 0, 0, named=False)
    return Sample.of_minute((1, waiting, 10 * waiting), (gpu, None, rest))


def put(api: Api, quota: str, samples: dict[int, Sample]) -> None:
    lease = api.controller.lease
    assert lease is not None
    rows = [SampleRow(quota, MINUTE, START + number * MINUTE, one) for number, one in samples.items()]
    api.store.put_samples(*lease, rows)


def ask(api: Api, quota: str, **query: Any) -> Any:
    return api.get(f"/quotas/{quota}/series", params=query)


def test_minutes_are_told_as_lists_and_gaps_as_null(on_both: Api):
    put(on_both, "a", {0: sample(1000), 2: sample(2500, 3, 1536)})
    found = ask(on_both, "a", since=START, until=START + 3 * MINUTE, step="minute").json()
    assert found["quota"] == "a"
    assert found["step"] == "minute"
    assert (found["since"], found["until"]) == (START, START + 3 * MINUTE)
    assert found["times"] == [START, START + MINUTE, START + 2 * MINUTE]
    assert list(found["figures"]["gpu"]) == list(FIGURES)
    assert found["figures"]["gpu"]["used"] == [1, None, 2.5]
    assert found["figures"]["gpu"]["min"] == [4, None, 4]
    assert found["figures"]["memory"]["used"] == [None, None, "1536Mi"]
    assert found["figures"]["memory"]["min"] == [None, None, None]
    assert "cpu" not in found["figures"]
    assert found["running_jobs"] == [1, None, 1]
    assert found["waiting_jobs"] == [0, None, 3]
    assert found["oldest_waiting_s"] == [0, None, 30]


def test_hours_are_means_with_their_peaks(on_both: Api):
    put(on_both, "b", {0: sample(1000, 2), 30: sample(2000, 4), 61: sample(4000)})
    found = ask(on_both, "b", since=START, until=START + 3 * HOUR, step="hour").json()
    assert found["figures"]["gpu"]["used"] == [1.5, 4, None]
    assert found["peaks"]["figures"]["gpu"]["used"] == [2, 4, None]
    assert found["waiting_jobs"] == [3, 0, None]
    assert found["peaks"]["waiting_jobs"] == [4, 0, None]
    day = ask(on_both, "b", since=START, until=START + 3 * HOUR, step="day").json()
    assert day["times"] == [DAY.start_of(START)]
    assert day["figures"]["gpu"]["used"] == [2.333]


def test_what_the_server_writes_is_what_it_tells(api: Api):
    api.submit(gpus=3)
    history = FigureHistory(api.controller, api.store, KeptFigures())
    history.look()
    found = ask(api, "a").json()
    usage = api.get("/quotas/a/usage").json()
    assert found["step"] == "minute"
    assert 360 <= len(found["times"]) <= 361
    gpu = found["figures"]["gpu"]
    assert [one for one in gpu["used"] if one is not None] == [usage["used_own"]["gpus"]] == [3]
    assert [one for one in gpu["free"] if one is not None] == [usage["free"]["gpus"]]


def test_what_cannot_be_asked_is_refused_with_what_can(on_both: Api):
    late = ask(on_both, "a", since=START, until=START)
    assert late.status_code == 422
    assert "before `until`" in late.json()["detail"]
    long = ask(on_both, "a", since=START, until=START + 30 * DAY, step="minute")
    assert long.status_code == 422
    assert "longer steps" in long.json()["detail"]
    assert ask(on_both, "a", step="week").status_code == 422
    assert ask(on_both, "nosuch").status_code == 404


def test_the_step_gives_at_most_500_points_and_is_still_kept():
    keep, now = KeptFigures(), START + 100 * DAY

    def step(since: int, until: int = now) -> str:
        return fitting_step(since, until, now, keep)

    assert step(now - 6 * HOUR) == "minute"
    assert step(now - 500 * MINUTE) == "minute"
    assert step(now - 9 * HOUR) == "hour"
    assert step(now - 20 * DAY) == "hour"
    assert step(now - 21 * DAY) == "day"
    assert step(now - 3 * DAY, now - 3 * DAY + HOUR) == "hour"
    assert step(now - 90 * DAY, now - 90 * DAY + HOUR) == "day"
    assert step(0) == "day"
