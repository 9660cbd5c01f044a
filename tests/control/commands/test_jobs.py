"""What happens to jobs in a server, told from the outside: commands in, rows and engine orders out."""

from dataclasses import replace
from pathlib import Path

import pytest

from quotatree.access.errors import Forbidden, NotFound
from quotatree.control.commands import values as do
from quotatree.core.errors import Refused
from quotatree.core.model.job import Phase
from quotatree.core.model.policy import Module
from quotatree.store.rows import (
    AuditRow,
    DecisionRow,
    EventRow,
    JobRow,
    PlacementRow,
    PreemptionRow,
    RunRow,
    VictimRow,
)
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission
from tests.engines.contract import replicas_running


@pytest.fixture
def server(tmp_path: Path, kept: KeptStore) -> Server:
    return Server(tmp_path, kept).furnish()


def test_a_job_is_submitted_starts_and_ends(server: Server):
    job = server.submit(seconds=60)
    assert job.startswith("dlc-")
    assert len(job) == 14
    assert server.phase(job) == "Running"
    assert replicas_running(server.engine) == {(job, 1): (0,)}
    server.pass_time(61)
    assert server.phase(job) == "Succeeded"
    assert job not in server.world.state.jobs, "finished jobs leave memory"
    (run,) = server.store.table(RunRow)
    assert (run.outcome, run.ended_ms - run.started_ms) == ("succeeded", 61_000)
    (place,) = server.store.table(PlacementRow)
    assert place.until_ms == run.ended_ms
    assert server.kinds(job) == ["job.submitted", "job.started", "job.ended"]
    assert server.engine.observe().exits == (), "written down, so forgotten"


def test_an_eviction_has_its_grace_a_hold_and_then_the_start(server: Server):
    server.allow_preemption()
    filler = server.submit(gpus=4, quota="b", seconds=None)
    low = server.submit(gpus=4, leaves_after=10)
    high = server.submit(gpus=4, priority=7, actor="pat")
    assert server.phase(low) == "Waiting"
    assert server.phase(high) == "Held"
    assert (low, 1) in replicas_running(server.engine), "in its grace the victim has its devices"
    assert (high, 1) not in replicas_running(server.engine)
    server.pass_time(11)
    assert server.phase(high) == "Running"
    assert replicas_running(server.engine).keys() == {(filler, 1), (high, 1)}
    (entry,) = server.store.table(PreemptionRow)
    (victim,) = server.store.table(VictimRow)
    assert (entry.preemptor, victim.job) == (high, low)
    assert {"Hold", "Evict", "Start"} <= {row.kind for row in server.store.table(DecisionRow)}
    assert {run.job: run.outcome for run in server.store.table(RunRow)} == {
        filler: None,
        low: "evicted",
        high: None,
    }
    server.pass_time(60)
    assert server.phase(low) == "Running", "the victim's turn comes again"
    assert replicas_running(server.engine).keys() == {(filler, 1), (low, 2)}


def test_many_are_submitted_at_once_each_with_its_own_outcome(server: Server):
    many = (submission(gpus=1), submission(gpus=64), submission(gpus=1))
    answer = server.do(do.SubmitJobs(actor="ann", jobs=many))
    assert [item.id is None for item in answer.items] == [False, True, False]
    problem = answer.items[1].problem
    assert problem is not None
    assert problem.code == "Refused"
    assert len(server.world.state.jobs) == 2


@pytest.mark.parametrize("count", [0, 1_001])
def test_a_batch_has_one_job_at_least_and_a_thousand_at_most(server: Server, count: int):
    with pytest.raises(Refused, match=r"must be 1\.\.1000 jobs \[J4\]"):
        server.do(do.SubmitJobs(actor="ann", jobs=(submission(gpus=1),) * count))
    assert not server.world.state.jobs


def test_an_outsider_learns_nothing_and_a_developer_touches_only_his_own(server: Server):
    job = server.submit(actor="pat")
    with pytest.raises(NotFound):
        server.do(do.CancelJob(actor="out", job=job))
    with pytest.raises(NotFound):
        server.do(do.CancelJob(actor="out", job="dlc-0000000000"))
    with pytest.raises(Forbidden):
        server.do(do.CancelJob(actor="ann", job=job))
    assert server.phase(job) == "Running"


def test_a_cancelled_job_leaves_and_its_devices_are_free_when_it_has(server: Server):
    job = server.submit(gpus=4, leaves_after=5)
    server.do(do.CancelJob(actor="ann", job=job))
    assert server.phase(job) == "Cancelled"
    after = server.submit(gpus=4)
    server.pass_time(6)
    assert server.phase(after) == "Running"
    rows = {place.job: place for place in server.store.table(PlacementRow)}
    assert rows[job].until_ms is not None
    assert rows[job].until_ms <= rows[after].from_ms or set(rows[job].devices).isdisjoint(rows[after].devices)


def test_a_priority_changes_while_it_waits_and_never_later(server: Server):
    server.submit(gpus=4)
    waits = server.submit(gpus=4)
    server.do(do.SetPriority(actor="pat", job=waits, priority=5))
    assert server.job(waits).priority == 5
    runs = server.submit(gpus=1, quota="b")
    with pytest.raises(Refused, match="W5"):
        server.do(do.SetPriority(actor="pat", job=runs, priority=5))


def test_a_job_on_hold_takes_no_part_until_it_is_released(server: Server):
    held = server.submit(gpus=4, on_hold=True)
    assert server.phase(held) == "OnHold"
    submitted_ms = server.job(held).spec.submitted_ms
    server.pass_time(100)
    other = server.submit(gpus=4)
    assert server.phase(other) == "Running"
    server.do(do.ReleaseJob(actor="ann", job=held))
    assert server.phase(held) == "Waiting"
    assert server.job(held).spec.submitted_ms == submitted_ms
    server.do(do.HoldJob(actor="ann", job=held))
    server.pass_time(100)
    assert server.phase(held) == "OnHold"
    server.do(do.ReleaseJob(actor="ann", job=held))
    assert server.phase(held) == "Running"


def test_only_what_waits_is_put_on_hold_and_only_what_is_on_hold_released(server: Server):
    """J5: what comes at the wrong moment is refused, and says which phase the job is in."""
    runs, waits = server.submit(gpus=4), server.submit(gpus=4)
    with pytest.raises(Refused, match=r"is Running; only a waiting job can be put on hold \[J5\]"):
        server.do(do.HoldJob(actor="ann", job=runs))
    with pytest.raises(Refused, match=r"is Waiting, not on hold \[J5\]"):
        server.do(do.ReleaseJob(actor="ann", job=waits))
    assert (server.phase(runs), server.phase(waits)) == ("Running", "Waiting")


def test_a_stopped_notebook_is_started_again_by_its_owner(server: Server):
    server.allow_preemption()
    notebook = server.submit(gpus=4, module=Module.DSW, seconds=None)
    server.submit(gpus=4, priority=7, actor="pat", seconds=30)
    assert server.phase(notebook) == "Stopped"
    server.pass_time(31)
    assert server.phase(notebook) == "Stopped"
    server.do(do.ResubmitJob(actor="ann", job=notebook))
    assert server.job(notebook).phase is Phase.RUNNING
    assert server.job(notebook).run == 2


def test_a_service_grows_to_its_larger_core(server: Server):
    service = server.submit(replicas=3, module=Module.EAS, seconds=None, min_replicas=1)
    assert replicas_running(server.engine) == {(service, 1): (0, 1, 2)}
    server.do(do.ResizeJob(actor="ann", job=service, min_replicas=2))
    assert server.job(service).core_replicas == 2
    assert len(server.job(service).core_indexes) == 2


def test_a_checkpoint_makes_a_victim_cheaper(server: Server):
    job = server.submit(seconds=600)
    server.pass_time(100)
    before = server.job(job).core.lost_work(server.now_ms)  # type: ignore[union-attr]
    server.do(do.CheckpointJob(actor="ann", job=job))
    assert server.job(job).core.lost_work(server.now_ms) < before  # type: ignore[union-attr]


def test_what_the_engine_cannot_run_is_refused_at_submit(server: Server):
    with pytest.raises(Refused, match="timer knows no such field"):
        server.submit(program={"command": "rm"})


def test_a_victim_that_restarts_in_the_batch_in_which_it_left_has_two_runs(server: Server):
    server.allow_preemption()
    filler = server.submit(gpus=4, quota="b", seconds=5)
    low = server.submit(gpus=4, leaves_after=10, seconds=600)
    high = server.submit(gpus=4, priority=7, actor="pat", seconds=None)
    server.do(do.CancelJob(actor="pat", job=high))
    assert (server.phase(filler), server.phase(low)) == ("Running", "Held")
    server.pass_time(11)
    first, second = (run for run in server.store.table(RunRow) if run.job == low)
    assert (first.outcome, first.ended_ms) == ("evicted", second.started_ms)
    assert second.ended_ms is None
    places = [place for place in server.store.table(PlacementRow) if place.job == low]
    assert sorted(place.until_ms is None for place in places) == [False, True]
    assert replicas_running(server.engine).keys() == {(low, 2)}


def test_a_service_is_scaled_by_its_owner_and_a_restart_knows(server: Server):
    service = server.submit(replicas=2, module=Module.EAS, seconds=None, leaves_after=10)
    server.do(do.ResizeJob(actor="ann", job=service, replicas=4))
    assert replicas_running(server.engine) == {(service, 1): (0, 1, 2, 3)}
    server.kill()
    server.boot()
    assert server.job(service).spec.wanted_replicas == 4
    server.do(do.ResizeJob(actor="ann", job=service, replicas=1))
    assert replicas_running(server.engine) == {(service, 1): (0, 1, 2, 3)}, "they have their grace"
    server.pass_time(11)
    assert replicas_running(server.engine) == {(service, 1): (0,)}
    server.kill()
    server.boot()
    assert standing(server, service) == [0]
    (row,) = (row for row in server.store.table(JobRow) if row.id == service)
    assert row.gpu_milli == 1000, "lists show what it wants now"
    resized = [row for row in server.store.table(EventRow) if row.kind == "job.resized"]
    assert [row.body["after"] for row in resized] == [
        {"replicas": 4, "min_replicas": 1, "max_replicas": 4},
        {"replicas": 1, "min_replicas": 1, "max_replicas": 1},
    ]
    assert [row.action for row in server.store.table(AuditRow)][-2:] == ["job.resize", "job.resize"]


def test_a_running_gang_is_not_resized(server: Server):
    gang = server.submit(replicas=2)
    with pytest.raises(Refused, match="runs as a gang of 2"):
        server.do(do.ResizeJob(actor="ann", job=gang, replicas=4))
    assert server.job(gang).spec.wanted_replicas == 2


def test_a_size_that_the_engine_cannot_run_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch):
    service = server.submit(replicas=1, module=Module.EAS, seconds=None)
    few = replace(server.engine.capabilities, several_replicas=False)
    monkeypatch.setattr(type(server.engine), "capabilities", few)
    with pytest.raises(Refused, match="one replica per job"):
        server.do(do.ResizeJob(actor="ann", job=service, replicas=2))


def test_an_owner_stops_a_job_and_starts_it_again(server: Server):
    job = server.submit(seconds=None, leaves_after=10)
    server.do(do.StopJob(actor="ann", job=job))
    assert server.phase(job) == "Stopped"
    assert replicas_running(server.engine) == {(job, 1): (0,)}, "it has its grace"
    server.kill()
    server.boot()
    with pytest.raises(Refused, match="is Stopped already"):
        server.do(do.StopJob(actor="ann", job=job))
    server.pass_time(11)
    assert replicas_running(server.engine) == {}
    server.do(do.ResubmitJob(actor="ann", job=job))
    assert replicas_running(server.engine) == {(job, 2): (0,)}
    runs = {run.run: run.outcome for run in server.store.table(RunRow)}
    assert runs == {1: "stopped", 2: None}
    assert "job.stopped" in server.kinds(job)
    assert "job.stop" in [row.action for row in server.store.table(AuditRow)]
    (entry,) = server.store.table(PreemptionRow)
    assert entry.preemptor == "", "its work ended, and nobody took it (P13)"


def test_a_waiting_job_is_stopped_and_one_on_hold_is_not(server: Server):
    server.submit(gpus=4, seconds=None)
    waits = server.submit(gpus=4)
    server.do(do.StopJob(actor="ann", job=waits))
    assert server.phase(waits) == "Stopped"
    server.do(do.ResubmitJob(actor="ann", job=waits))
    assert server.phase(waits) == "Waiting"
    server.do(do.HoldJob(actor="ann", job=waits))
    with pytest.raises(Refused, match="on hold"):
        server.do(do.StopJob(actor="ann", job=waits))


def test_only_who_may_cancel_a_job_may_stop_it(server: Server):
    job = server.submit(actor="pat", seconds=None)
    with pytest.raises(Forbidden):
        server.do(do.StopJob(actor="ann", job=job))
    with pytest.raises(NotFound):
        server.do(do.StopJob(actor="out", job=job))
    assert server.phase(job) == "Running"


def standing(server: Server, job_id: str) -> list[int]:
    job = server.job(job_id)
    return sorted([*job.core_indexes, *job.extras])
