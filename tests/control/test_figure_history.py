"""The figures of quotas are written down once a minute by whoever leads, put together, and forgotten by a rule."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from quotatree.control.commands import values as do
from quotatree.control.figure_history import FigureHistory, KeptFigures, job_counts, samples_of
from quotatree.core.model.quota import QuotaId
from quotatree.store.errors import LeaseLost
from quotatree.store.samples import FIGURES, Amounts, Sample, Span
from tests.control.kept_store import KeptStore
from tests.control.server import Server

DAY, HOUR, MINUTE = Span.DAY, Span.HOUR, Span.MINUTE


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others write to the store in the pauses of a real server; here nobody does, and six days have hundreds of them."""
    monkeypatch.setattr("quotatree.control.figure_history.PAUSE_SECONDS", 0)


class Played:
    """The loop of a server that a test steps, for the history: a question is answered at once."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.lease = server.controller.lease

    def ask(self, query: Any) -> Future[Any]:
        future = self._server.controller.ask(query)
        self._server.controller.step()
        return future


def history(server: Server, keep: KeptFigures | None = None) -> FigureHistory:
    return FigureHistory(Played(server), server.store, keep or KeptFigures(), clock=lambda: server.now_ms)


def seen(server: Server, quota: str, span: Span = MINUTE) -> list[tuple[int, Any]]:
    return server.store.samples(quota, span, 0, 1 << 50)


def used(server: Server, quota: str, span: Span = MINUTE) -> list[float | None]:
    return [sample.amounts[0].mean("used") for _, sample in seen(server, quota, span)]


def gpu(sample: Sample) -> Amounts:
    found = sample.amounts[0]
    assert found is not None
    return found


def test_what_is_written_is_what_the_quota_shows(tmp_path: Path):
    server = Server(tmp_path).furnish()
    server.submit(gpus=3, seconds=None)
    server.submit(gpus=4, seconds=None)  # waits: 3 + 4 is more than the 4 of `a`
    server.pass_time(90)
    found = samples_of(job_counts(server.world, server.now_ms))(server.world, server.now_ms)
    assert dict(zip(FIGURES, gpu(found["a"]).sums, strict=True)) == {
        "min": 4000, "used": 3000, "own": 3000, "loan": 0, "squeezed": 0, "reserved": 0, "idle_lent": 0,
        "idle_borrowed": 0, "queued": 4000, "free": 1000,
    }  # fmt: skip
    assert found["a"].jobs == (1, 1, 90)
    assert found["a"].amounts[1:] == (None, None)
    assert gpu(found["team"]).sums[:3] == (8000, 3000, 0)
    assert found["team"].jobs == (0, 0, 0)


def test_after_a_kill_in_the_same_minute_it_counts_once_and_the_time_between_is_a_gap(
    kept: KeptStore, tmp_path: Path
):
    server = Server(tmp_path, store=kept).furnish()
    server.now_ms += MINUTE - server.now_ms % MINUTE
    server.submit(gpus=2, seconds=None)
    history(server).look()
    server.kill()
    server.boot()
    server.submit(gpus=1, seconds=None)
    history(server).look()
    assert used(server, "a") == [3000]
    server.pass_time(180)
    history(server).look()
    times = [at_ms for at_ms, _ in seen(server, "a")]
    assert times[1] - times[0] == 3 * MINUTE
    assert used(server, "a", HOUR) == [3000]


def test_a_server_that_was_taken_over_from_writes_nothing(kept: KeptStore, tmp_path: Path):
    server = Server(tmp_path, store=kept).furnish()
    paused = history(server)
    server.kill()
    server.boot()
    with pytest.raises(LeaseLost):
        paused.look()
    assert seen(server, "a") == []


def test_who_does_not_lead_does_not_look(tmp_path: Path):
    server = Server(tmp_path).furnish()
    asked = Played(server)
    asked.lease = None
    FigureHistory(asked, server.store, KeptFigures(), clock=lambda: server.now_ms).look()
    assert seen(server, "a") == []


def test_minutes_hours_and_days_are_kept_as_long_as_they_should(kept: KeptStore, tmp_path: Path):
    server = Server(tmp_path, store=kept).furnish()
    server.now_ms += DAY - server.now_ms % DAY
    start_ms = server.now_ms
    keep = KeptFigures(minutes_ms=3 * HOUR, hours_ms=2 * DAY, days_ms=4 * DAY)
    keeper = history(server, keep)
    for number in range(6 * 24 * 3 + 1):  # every twenty minutes for six days
        server.now_ms = start_ms + number * 20 * MINUTE
        keeper.look()
    now_ms = server.now_ms
    assert next(at_ms for at_ms, _ in server.store.samples("a", MINUTE, 0, now_ms + 1)) == now_ms - 3 * HOUR
    hours = [at_ms for at_ms, _ in server.store.samples("a", HOUR, 0, now_ms)]
    assert hours == list(range(now_ms - 2 * DAY, now_ms, HOUR))
    days = server.store.samples("a", DAY, 0, now_ms)
    assert [at_ms for at_ms, _ in days] == list(range(now_ms - 4 * DAY, now_ms, DAY))
    assert {sample.minutes for _, sample in days} == {72}


def test_what_a_server_left_before_a_long_pause_is_put_together_before_it_is_forgotten(tmp_path: Path):
    server = Server(tmp_path).furnish()
    server.submit(gpus=2, seconds=None)
    history(server).look()
    server.now_ms += 5 * DAY
    server.boot()
    history(server).look()
    assert len(seen(server, "a")) == 1
    assert [sample.minutes for _, sample in seen(server, "a", DAY)] == [1, 1]
    assert used(server, "a", DAY) == [2000, 2000]


def test_a_quota_made_again_under_its_name_has_no_figures_of_the_old_one(tmp_path: Path):
    server = Server(tmp_path).furnish()
    history(server).look()
    spec = server.world.state.quotas[QuotaId("b")].spec
    server.do(do.UnbindQuota(actor="root", workspace="vision", quota="b"))
    server.do(do.DeleteQuota(actor="root", quota="b"))
    server.do(do.CreateQuota(actor="root", spec=spec))
    assert seen(server, "b") == []
    history(server).look()
    assert len(seen(server, "b")) == 1


def test_the_next_look_is_after_the_next_minute_has_begun(tmp_path: Path):
    server = Server(tmp_path).furnish()
    server.now_ms = 20 * MINUTE + 59_000
    assert history(server)._seconds_to_next() == 1.5
    server.now_ms = 21 * MINUTE
    assert history(server)._seconds_to_next() == 60.5
