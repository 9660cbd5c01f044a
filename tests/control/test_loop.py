"""The loop in its own thread: it answers, it stops, it hands over, and it wakes up by itself."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from quotatree.control.errors import Unavailable
from quotatree.control.loop import Controller, LoopSettings, Mode
from quotatree.engines.timer import TimerEngine
from quotatree.store.rows import Batch, EventRow, JobRow
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission


@pytest.fixture
def store(tmp_path: Path) -> KeptStore:
    """With a small world in it, and nobody who leads."""
    server = Server(tmp_path).furnish()
    server.controller.stop()
    found: KeptStore = server.store
    return found


def controller(store: KeptStore, name: str, lease_ms: int = 15_000) -> Controller:
    return Controller(store, TimerEngine(), name, settings=LoopSettings(lease_ms=lease_ms))


def test_a_job_runs_to_its_end_in_real_time(store: KeptStore):
    server = controller(store, "one")
    ended = threading.Event()
    server.listen(lambda _: ended.set() if "job.ended" in {e.kind for e in store.table(EventRow)} else None)
    server.start()
    many = [server.call(submission(seconds=0.01)) for _ in range(3)]
    assert len({call.result(30).id for call in many}) == 3
    assert ended.wait(30)
    server.stop()
    assert {row.phase for row in store.table(JobRow)} <= {"Succeeded", "Running"}


def test_a_stopped_server_answers_what_waits_and_refuses_the_rest(store: KeptStore):
    server = controller(store, "one")
    server.start()
    before = server.call(submission())
    server.stop()
    assert before.result(0).id
    assert server.health.mode is Mode.STOPPED
    with pytest.raises(Unavailable):
        server.call(submission()).result(0)
    with pytest.raises(Unavailable):
        server.ask(lambda world, _: len(world.cards)).result(0)


def test_a_second_server_stands_by_and_takes_over_when_the_first_stops(store: KeptStore):
    first, second = controller(store, "one"), controller(store, "two", lease_ms=150)
    first.start()
    first.call(submission(seconds=None)).result(30)
    second.start()
    with pytest.raises(Unavailable, match="standing by"):
        second.call(submission()).result(30)
    first.stop()
    for _ in range(1000):
        if second.health.mode is Mode.LEADING:
            break
        threading.Event().wait(0.02)
    assert second.ask(lambda world, _: len(world.state.jobs)).result(30) == 1
    second.call(submission()).result(30)
    second.stop()


def test_more_than_it_can_take_is_refused_at_the_door(store: KeptStore):
    server = Controller(store, TimerEngine(), "one", settings=LoopSettings(most_waiting=2))
    calls = [server.call(submission()) for _ in range(3)]
    with pytest.raises(Unavailable, match="too many"):
        calls[2].result(0)
    server.step()
    assert all(call.result(0).id for call in calls[:2])
    server.stop()


class SlowStore:
    """Every commit takes a second, in which somebody looks at the server and a rival asks for the lease."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._store = server.store
        self.taken: list[int] = []
        self.looked: list[Future[int]] = []
        self.answered_before: list[int] = []

    def commit(self, batch: Batch) -> None:
        self._store.commit(batch)
        self._server.now_ms += 1_000
        self.answered_before.append(sum(one.done() for one in self.looked))
        self.looked.append(self._server.controller.ask(lambda world, _: len(world.cards)))
        epoch = self._store.take_lease("rival", self._server.now_ms, 15_000)
        if epoch is not None:
            self.taken.append(epoch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_however_much_waits_the_lease_is_kept_and_questions_are_answered(tmp_path: Path):
    """Thousands of requests at once take many commits: whoever looks, or leads, must not wait for the last of them."""
    server = Server(tmp_path).furnish()
    slow = SlowStore(server)
    settings = LoopSettings(most_in_batch=1)
    server.controller = Controller(
        slow, server.engine, "server-1", clock=lambda: server.now_ms, settings=settings
    )
    calls = [server.controller.call(submission()) for _ in range(20)]
    server.controller.step()
    assert len({call.result(0).id for call in calls}) == 20
    assert slow.taken == [], "20 s with a lease of 15"
    assert slow.answered_before[-1] >= 18


def test_a_server_whose_loop_broke_stops_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The loop has closed the engine when it broke; what has its file's number since then stays open."""
    controller = Controller(KeptStore.fresh(tmp_path), TimerEngine(tmp_path / "timers"), "server-1")

    def broken() -> bool:
        raise RuntimeError("a defect")

    monkeypatch.setattr(controller, "_turn", broken)
    controller.start()
    controller._thread.join()
    assert (controller.health.mode, controller.health.detail) == (
        Mode.STOPPED,
        "internal error: RuntimeError",
    )
    closes = list[None]()
    monkeypatch.setattr(controller._engine, "close", lambda: closes.append(None))
    controller.stop()
    assert not closes
    with pytest.raises(Unavailable, match="stopping"):
        controller.call(submission()).result(0)
