"""After a restart the server goes on with what it had begun, and believes the engine about what runs (A7)."""

from pathlib import Path

import pytest

from quotatree.control.commands import values as do
from quotatree.control.loop import Controller, LoopSettings, Mode
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import Module
from quotatree.engines.base import Confirmed, RestartOrder, StartOrder
from quotatree.engines.timer import TimerEngine
from quotatree.store.rows import PlacementRow, RunRow
from tests.control.faulty_store import FaultyStore
from tests.control.kept_store import KeptStore
from tests.control.moody_engine import MoodyEngine
from tests.control.server import Server
from tests.control.told_engine import ToldEngine
from tests.engines.contract import replicas_running


@pytest.fixture
def server(tmp_path: Path, kept: KeptStore) -> Server:
    return Server(tmp_path, FaultyStore(kept)).furnish()


def full_house(server: Server) -> tuple[str, str]:
    """All devices taken, and a preemptor that waits for its victim to leave."""
    server.allow_preemption()
    server.submit(gpus=4, quota="b", seconds=None)
    low = server.submit(gpus=4, leaves_after=10)
    high = server.submit(gpus=4, priority=7, actor="pat")
    assert server.phase(high) == "Held"
    return low, high


def test_a_restart_in_the_middle_of_an_eviction_goes_on_with_it(server: Server):
    low, high = full_house(server)
    server.kill()
    server.boot()
    server.step()
    assert server.phase(high) == "Running", "its victim left while nobody looked"
    assert replicas_running(server.engine)[high, 1] == (0,)
    assert (low, 1) not in replicas_running(server.engine)
    server.pass_time(120)
    assert server.phase(low) == "Running"


def test_a_restart_before_the_victim_left_tells_it_again(tmp_path: Path):
    server = Server(tmp_path).furnish()
    server.allow_preemption()
    server.submit(gpus=4, quota="b", seconds=None)
    low = server.submit(gpus=4, leaves_after=25, seconds=None)
    high = server.submit(gpus=4, priority=7, actor="pat")
    server.kill()  # 20 s
    server.boot()
    assert server.phase(high) == "Held"
    assert (low, 1) in replicas_running(server.engine)
    server.pass_time(26)
    assert server.phase(high) == "Running"


class DeafEngine(TimerEngine):
    """An engine whose server dies between the commit and the order."""

    def start(self, order: StartOrder) -> None:
        pass


def test_what_was_committed_and_never_ordered_is_started_by_recovery(tmp_path: Path):
    now = Server(tmp_path, engine=DeafEngine(threaded=False)).furnish()
    job = now.submit(seconds=60)
    assert replicas_running(now.engine) == {}
    now.engine = TimerEngine(None, lambda: now.now_ms, threaded=False)
    now.kill()
    now.controller = type(now.controller)(now.store, now.engine, "again", clock=lambda: now.now_ms)
    now.step()
    assert replicas_running(now.engine) == {(job, 1): (0,)}, "the same run"
    now.pass_time(61)
    assert now.phase(job) == "Succeeded"


def test_a_job_that_ended_while_the_server_was_dead_has_ended(server: Server):
    job = server.submit(seconds=10)
    failed = server.submit(seconds=None, program={"seconds": 5, "outcome": "failed", "detail": "exit 1"})
    server.kill()
    server.boot()
    assert (server.phase(job), server.phase(failed)) == ("Succeeded", "Failed")
    assert {run.detail for run in server.store.table(RunRow)} == {"", "exit 1"}
    assert all(place.until_ms is not None for place in server.store.table(PlacementRow))
    assert server.engine.observe().exits == ()


def test_a_run_the_engine_does_not_know_any_more_is_lost_and_queued_again(server: Server):
    job = server.submit(seconds=60)
    assert server.world.cards[JobId(job)].confirmed == (0,)
    server.kill()
    server.path.unlink()
    server.boot()
    assert server.job(job).run == 2
    assert server.job(job).preempted_ms == (), "not a preemption"
    assert [run.outcome for run in server.store.table(RunRow)] == ["evicted", None]
    assert replicas_running(server.engine) == {(job, 2): (0,)}


def test_what_runs_and_nobody_wants_is_stopped(server: Server, tmp_path: Path):
    server.submit(seconds=None)
    server.kill()
    (tmp_path / "empty").mkdir()
    empty = Server(tmp_path, KeptStore.fresh(tmp_path / "empty"))
    assert replicas_running(empty.engine) == {}
    assert empty.kinds() == ["engine.orphan_stopped"]


def test_nothing_is_decided_until_the_engine_can_tell_what_runs(tmp_path: Path):
    engine = MoodyEngine(threaded=False)
    engine.broken = True
    server = Server(tmp_path, engine=engine)
    assert server.mode() is Mode.STARTING
    assert "no answer" in server.controller.health.detail
    engine.broken = False
    server.pass_time(1)
    assert server.mode() is Mode.LEADING


def another_server(server: Server, place: str, *, abandon_runs: bool = False) -> Controller:
    """On the same store, with an engine of its own that sees nothing of what the first one runs."""
    found = Controller(
        server.store, ToldEngine(place=place), "other", clock=lambda: server.now_ms, settings=LoopSettings(abandon_runs=abandon_runs),
    )  # fmt: skip
    found.step()
    return found


def test_a_server_with_another_engine_does_not_start_again_what_it_does_not_see(
    tmp_path: Path, kept: KeptStore
):
    """A7: supervisors outlive their server. The next one, with a directory of its own, would have run every job twice."""
    server = Server(tmp_path, kept, ToldEngine(place="one")).furnish()
    job = server.submit(seconds=None)
    server.engine.running[job, 1] = (0,)
    server.engine.tell(Confirmed(JobId(job), 1, (0,)))
    server.step()
    server.kill()
    other = another_server(server, "two")
    assert other.health.mode is Mode.ELSEWHERE
    assert "host:one" in other.health.detail
    assert other._engine.orders == []  # type: ignore[attr-defined]  # a ToldEngine
    assert other.call(do.CancelJob(actor="ann", job=job)).running() is False
    other.step()
    assert (server.phase(job), server.kinds(job).count("job.lost")) == ("Running", 0)

    server.boot()  # the first one again, at once: the other let go of the lease
    assert server.mode() is Mode.LEADING
    assert [type(order) for order in server.engine.orders] == [StartOrder], "it runs on"


def test_an_operator_may_say_that_what_ran_elsewhere_is_gone(tmp_path: Path, kept: KeptStore):
    server = Server(tmp_path, kept, ToldEngine(place="one")).furnish()
    job = server.submit(seconds=None)
    server.kill()
    other = another_server(server, "two", abandon_runs=True)
    assert other.health.mode is Mode.LEADING
    assert server.phase(job) == "Running"
    (order,) = other._engine.orders  # type: ignore[attr-defined]  # a ToldEngine
    assert isinstance(order, StartOrder)
    server.kill()
    server.boot()
    assert server.mode() is Mode.ELSEWHERE, "from now on they are the other one's"


def test_a_server_with_another_engine_leads_while_nothing_runs(tmp_path: Path, kept: KeptStore):
    server = Server(tmp_path, kept, ToldEngine(place="one")).furnish()
    server.submit(on_hold=True)
    server.kill()
    assert another_server(server, "two").health.mode is Mode.LEADING


RESTARTED = [
    ((0, 2), ("K", ""), (1,), "the second is away for its restart"),
    ((1, 2), ("", ""), (0,), "the first is"),
    ((0, 1), ("K", "K"), (2,), "the last is"),
]
LOST = [
    ((0, 2), ("K", "K"), "the third is of the restart, so the second was as well"),
    ((0, 2), ("", ""), "the first is not of it yet"),
    ((2,), ("",), "two are away, and a restart takes one at a time"),
    ((0, 2), None, "the engine goes on with restarts by itself"),
]


def killed_in_a_rolling_restart(
    tmp_path: Path, seen: tuple[int, ...], made_in: tuple[str, ...] | None
) -> tuple[Server, str]:
    """A service of three replicas, all of them in its core; the next server sees these. "K" stands for the restart's key."""
    server = Server(tmp_path, engine=ToldEngine()).furnish()
    job = server.submit(replicas=3, module=Module.EAS, seconds=None)
    server.engine.tell(Confirmed(JobId(job), 1, (0, 1, 2)))
    server.step()
    server.do(do.RestartService(actor="ann", job=job))
    (restart,) = (order for order in server.engine.orders if isinstance(order, RestartOrder))
    server.engine.running[job, 1] = seen
    if made_in is not None:
        server.engine.made_in[job, 1] = tuple(key and restart.key for key in made_in)
    server.engine.orders.clear()
    server.kill()
    server.boot()
    return server, job


@pytest.mark.parametrize(("seen", "made_in", "away", "why"), RESTARTED)
def test_a_replica_that_was_away_for_its_restart_is_made_again_in_the_same_run(
    tmp_path: Path, seen: tuple[int, ...], made_in: tuple[str, ...], away: tuple[int, ...], why: str
):
    """A7: it is not lost, else the whole service would be stopped for it and queued again."""
    server, job = killed_in_a_rolling_restart(tmp_path, seen, made_in)
    start, restart = server.engine.orders
    assert isinstance(start, StartOrder), why
    assert (start.run, tuple(one.replica for one in start.replicas)) == (1, away), why
    assert isinstance(restart, RestartOrder)
    assert (server.phase(job), server.kinds(job).count("job.lost")) == ("Running", 0)


@pytest.mark.parametrize(("seen", "made_in", "why"), LOST)
def test_a_replica_whose_turn_it_was_not_is_lost(
    tmp_path: Path, seen: tuple[int, ...], made_in: tuple[str, ...] | None, why: str
):
    server, job = killed_in_a_rolling_restart(tmp_path, seen, made_in)
    assert server.kinds(job).count("job.lost") == 1, why


def test_an_engine_is_told_what_stands_and_what_is_leaving_before_it_is_asked(tmp_path: Path):
    """So that it need not believe what others may have written in the meantime."""
    server = Server(tmp_path, engine=ToldEngine()).furnish()
    server.allow_preemption()
    server.submit(gpus=4, quota="b", seconds=None)
    low = server.submit(gpus=4, seconds=None)
    waits = server.submit(gpus=4, seconds=None)
    server.submit(gpus=4, priority=7, actor="pat")
    server.kill()
    server.boot()
    recalled = {order.job: order for order in server.engine.recalled}
    assert low in recalled
    assert waits not in recalled
    assert [one.shape.gpu_milli for one in recalled[JobId(low)].replicas] == [4000]
