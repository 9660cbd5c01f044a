"""After a restart the server goes on with what it had begun, and believes the engine about what runs (A7)."""

from pathlib import Path

import pytest

from quotatree.control.commands import values as do
from quotatree.control.loop import Controller, LoopSettings, Mode
from quotatree.core.model.job import JobId
from quotatree.engines.base import Confirmed, StartOrder
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
