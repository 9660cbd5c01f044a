"""What an engine's word does in a server: lost runs, idle notebooks, rolling restarts, ill devices (R5, P14, A7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from quotatree.access.errors import Forbidden
from quotatree.control.commands import values as do
from quotatree.control.loop import Mode
from quotatree.control.queries import Explained, explain
from quotatree.control.world import RESOURCES
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobId
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import Module
from quotatree.engines.base import (
    Confirmed,
    DeviceReport,
    Exited,
    Hindered,
    Idled,
    Left,
    Lost,
    NodeReport,
    Outcome,
    Report,
    RestartOrder,
    StartOrder,
    StopOrder,
    Unfit,
    Unplanned,
)
from quotatree.store.rows import AuditRow, DecisionRow, EventRow, LossRow, PlacementRow, PreemptionRow, RunRow
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission
from tests.control.told_engine import Order, ToldEngine


class Told(Server):
    """A server whose engine is the test."""

    engine: ToldEngine

    def submit(self, actor: str = "ann", **changes: object) -> str:
        submit = submission(**{"actor": actor, "program": {}, "seconds": None, **changes})  # type: ignore[arg-type]
        job = self.do(submit).id
        self.confirm(job)
        return job

    def confirm(self, job: str) -> None:
        found = self.job(job)
        replicas = (*found.core_indexes, *found.extras)
        if replicas:
            self.hear(Confirmed(found.id, found.run, replicas))
            self.engine.running[job, found.run] = replicas

    def hear(self, report: Report) -> None:
        self.engine.tell(report)
        self.step()

    def new_orders(self) -> list[Order]:
        found, self.engine.orders = self.engine.orders, []
        return found

    def restart(self) -> None:
        self.kill()
        self.boot()


@pytest.fixture
def server(tmp_path: Path, kept: KeptStore) -> Told:
    return Told(tmp_path, kept, ToldEngine()).furnish()  # type: ignore[return-value]


def explained(server: Told, job: str) -> Explained:
    return explain("ann", job)(server.world, server.now_ms)


def starts(orders: list[Order]) -> list[tuple[str, int, list[int]]]:
    return [
        (order.job, order.run, [r.replica for r in order.replicas])
        for order in orders
        if isinstance(order, StartOrder)
    ]


def stops(orders: list[Order]) -> list[tuple[str, int, tuple[int, ...] | None]]:
    return [(order.job, order.run, order.replicas) for order in orders if isinstance(order, StopOrder)]


# -- lost (R5, A7) ---------------------------------------------------------------------------------------------------


def test_a_gang_that_lost_one_replica_stops_and_runs_again_uncounted(server: Told):
    job = server.submit(replicas=3)
    server.new_orders()
    found = server.job(job)
    server.hear(Lost(found.id, 1, (1,), "its supervisor was killed"))
    assert stops(server.new_orders()) == [(job, 1, (0, 2))], "what is left of it leaves with grace"
    assert server.phase(job) == "Held", "its next run waits for itself"
    server.hear(Lost(found.id, 1, (0, 2)))
    assert starts(server.new_orders()) == [(job, 2, [0, 1, 2])]
    assert server.job(job).preempted_ms == ()
    ((entry,), (loss,)) = server.store.table(PreemptionRow), server.store.table(LossRow)
    assert (entry.preemptor, loss.cause, loss.preempted) == ("", "RunLost", 0)
    (told,) = (
        row for row in server.store.table(EventRow) if row.kind == "job.lost" and 1 in row.body["replicas"]
    )
    assert told.body["detail"] == "its supervisor was killed"


def test_why_a_run_has_not_begun_is_explained_until_it_has(server: Told):
    """X1: what keeps it waiting is not the queue, and only the engine knows."""
    job = server.do(submission(program={}, seconds=None)).id
    found = server.job(job).id
    for detail in ("kube-scheduler: 0/2 nodes", "kube-scheduler: 0/2 nodes", "kube-scheduler: 0/3 nodes"):
        server.hear(Hindered(found, 1, detail))
    assert server.kinds(job).count("job.hindered") == 2, "the same twice is told once"
    server.restart()
    server.step()
    assert explained(server, job).hindered == "kube-scheduler: 0/3 nodes"
    server.hear(Confirmed(found, server.job(job).run, (0,)))
    assert explained(server, job).hindered == ""
    server.hear(Hindered(found, server.job(job).run, "too late"))
    assert explained(server, job).hindered == ""


def test_a_run_that_is_lost_before_it_began_says_why_while_it_pauses(server: Told):
    job = server.do(submission(program={}, seconds=None)).id
    found = server.job(job).id
    for run in (1, 2):
        server.hear(Lost(found, run, (0,), "kube-scheduler did not place it within 60 s"))
    (reason,) = explained(server, job).told.reasons
    assert reason.code.name == "LostAtStart"
    assert "kube-scheduler did not place it within 60 s" in reason.text


def test_a_run_that_is_not_what_was_planned_is_put_aside_and_costs_nothing(server: Told):
    """Started again it would fail again: it waits until its request is another, and no place is kept for it."""
    submit = submission(actor="ann", program={}, seconds=None)
    job = server.do(submit).id
    found = server.job(job)
    server.new_orders()
    server.hear(Unfit(found.id, found.run, "it asks for 3 pods now, not 2", edited=True))
    assert server.phase(job) == "OnHold"
    assert (server.job(job).reason, server.job(job).leaving) == ("NotAsPlanned", {})
    assert server.new_orders() == []
    server.pass_time(3_600)
    assert server.phase(job) == "OnHold"
    with pytest.raises(Refused, match="edit the object"):
        server.do(do.ReleaseJob(actor="ann", job=job))
    server.do(do.ReleaseJob(actor=RESOURCES, job=job))
    assert server.phase(job) == "Running"


def test_a_run_that_could_not_begin_waits_until_its_owner_releases_it_p7(server: Told):
    submit = submission(actor="ann", program={}, seconds=None)
    job = server.do(submit).id
    found = server.job(job)
    server.hear(Unfit(found.id, found.run, "kube-scheduler: 0/2 nodes"))
    assert server.phase(job) == "OnHold"
    assert server.job(job).reason == "DidNotBegin"
    assert "job.did_not_begin" in [row.kind for row in server.store.table(EventRow) if row.job == job]
    server.pass_time(3_600)
    assert server.phase(job) == "OnHold"
    server.do(do.ReleaseJob(actor="ann", job=job))
    assert server.phase(job) == "Running"


def test_pods_that_were_not_planned_are_told(server: Told):
    job = server.submit()
    server.hear(Unplanned(JobId(job), server.job(job).run, "train-x on node-3"))
    assert [row.body["detail"] for row in server.store.table(EventRow) if row.kind == "job.unplanned"] == [
        "train-x on node-3"
    ]


@pytest.mark.parametrize("ran", [True, False])
def test_work_is_lost_only_where_a_replica_has_run(server: Told, ran: bool):
    server.allow_preemption()
    server.submit(gpus=4, quota="b")
    submit = submission(actor="ann", program={}, seconds=None, gpus=4)
    low = server.do(submit).id
    if ran:
        server.confirm(low)
    server.pass_time(20)
    server.submit(gpus=4, priority=7, actor="pat")
    [evicted] = [row for row in server.store.table(EventRow) if row.kind == "job.evicted"]
    assert evicted.job == low
    assert (evicted.body["lost_gpu_seconds"] > 0) is ran
    [loss] = server.store.table(LossRow)
    assert (loss.lost_work > 0) is ran


def test_lost_twice_is_lost_once(server: Told):
    job = server.submit()
    server.new_orders()
    for _ in range(2):
        server.hear(Lost(server.job(job).id, 1, (0,)))
    assert starts(server.new_orders()) == [(job, 2, [0])]
    assert server.kinds(job).count("job.lost") == 1
    assert server.job(job).run == 2
    assert {run.run: run.outcome for run in server.store.table(RunRow)} == {1: "evicted", 2: None}
    (reason,) = {row.reason_code for row in server.store.table(DecisionRow) if row.kind == "Evict"}
    assert reason == "RunLost"


def test_what_is_lost_while_it_leaves_has_left(server: Told):
    victim, _ = server.submit(gpus=4), server.submit(gpus=4, quota="b")
    server.do(do.StopJob(actor="ann", job=victim))
    waits = server.submit(gpus=4)
    assert server.phase(waits) == "Held"
    server.new_orders()
    server.hear(Lost(server.job(victim).id, 1, (0,)))
    assert starts(server.new_orders()) == [(waits, 1, [0])]
    assert server.phase(victim) == "Stopped", "it was to stop, and it did"
    assert [p.until_ms is None for p in server.store.table(PlacementRow) if p.job == victim] == [False]


def test_a_victim_that_is_lost_in_its_grace_stays_a_victim(server: Told):
    server.allow_preemption()
    low = server.submit(gpus=4)
    high = server.submit(gpus=4, priority=7, actor="pat")
    server.hear(Lost(server.job(low).id, 1, (0,)))
    assert server.phase(high) == "Running"
    assert (server.phase(low), len(server.job(low).preempted_ms)) == ("Waiting", 1)


def test_lost_surplus_is_replaced_and_the_core_serves_on(server: Told):
    service = server.submit(module=Module.EAS, replicas=3)
    server.new_orders()
    server.hear(Lost(server.job(service).id, 1, (2,)))
    orders = server.new_orders()
    assert (stops(orders), starts(orders)) == ([], [(service, 1, [2])])
    assert server.phase(service) == "Running"
    assert server.job(service).run == 1
    server.restart()
    assert starts(server.new_orders()) == [], "it was seen to run"
    assert set(server.world.cards[server.job(service).id].confirmed) >= {0, 1}


def test_a_service_that_lost_its_core_starts_again_as_a_whole(server: Told):
    service = server.submit(module=Module.EAS, replicas=3)
    server.new_orders()
    server.hear(Lost(server.job(service).id, 1, (0,)))
    assert stops(server.new_orders()) == [(service, 1, (1, 2))]
    server.hear(Lost(server.job(service).id, 1, (1, 2)))
    assert [(run, len(replicas)) for _, run, replicas in starts(server.new_orders())] == [(2, 3)]
    assert server.job(service).preempted_ms == ()


def test_a_loss_of_an_earlier_run_means_nothing(server: Told):
    job = server.submit()
    found = server.job(job)
    server.hear(Lost(found.id, 1, (0,)))
    server.hear(Confirmed(found.id, 2, (0,)))
    server.new_orders()
    server.hear(Lost(found.id, 1, (0,)))
    assert server.new_orders() == []
    assert server.job(job).run == 2


# -- idle notebooks (P14) --------------------------------------------------------------------------------------------


def test_an_idle_notebook_is_stopped_and_can_be_started_again(server: Told):
    notebook = server.submit(module=Module.DSW)
    server.new_orders()
    server.hear(Idled(server.job(notebook).id, 1, "CPU below 5 % for 30 minutes"))
    assert stops(server.new_orders()) == [(notebook, 1, (0,))]
    assert server.phase(notebook) == "Stopped"
    assert server.job(notebook).reason == "IdleNotebook"
    server.hear(Idled(server.job(notebook).id, 1))
    assert stops(server.new_orders()) == [], "told twice, stopped once"
    (told,) = (row for row in server.store.table(EventRow) if row.kind == "job.idle")
    assert told.body["detail"] == "CPU below 5 % for 30 minutes"
    assert [row.actor for row in server.store.table(AuditRow) if row.action == "job.idle"] == ["(server)"]
    server.restart()
    server.do(do.ResubmitJob(actor="ann", job=notebook))
    assert server.phase(notebook) == "Held", "its old run must leave first"


def test_only_notebooks_are_idle(server: Told):
    job = server.submit()
    server.hear(Idled(server.job(job).id, 1))
    assert server.phase(job) == "Running"


# -- rolling restart -------------------------------------------------------------------------------------------------


def test_a_service_is_restarted_and_the_order_survives_a_crash(server: Told):
    service = server.submit(module=Module.EAS, replicas=2)
    server.new_orders()
    server.do(do.RestartService(actor="ann", job=service))
    (order,) = server.new_orders()
    assert isinstance(order, RestartOrder)
    assert (order.job, order.run) == (service, 1)
    server.restart()
    assert server.new_orders() == [order], "the same order, by its key: an engine that has it does nothing"
    server.pass_time(1)
    server.do(do.RestartService(actor="ann", job=service))
    (other,) = server.new_orders()
    assert isinstance(other, RestartOrder)
    assert other.key != order.key
    assert "job.restarting" in server.kinds(service)
    assert "job.restart" in [row.action for row in server.store.table(AuditRow)]


def test_a_restart_that_could_not_be_sent_is_sent_again(server: Told):
    service = server.submit(module=Module.EAS)
    server.new_orders()
    server.engine.fail_orders = 1
    server.do(do.RestartService(actor="ann", job=service))
    assert server.new_orders() == []
    server.pass_time(2)
    assert [type(order) for order in server.new_orders()] == [RestartOrder]


def test_a_new_run_needs_no_restart(server: Told):
    service = server.submit(module=Module.EAS)
    server.do(do.RestartService(actor="ann", job=service))
    server.hear(Lost(server.job(service).id, 1, (0,)))
    del server.engine.running[service, 1]
    server.confirm(service)
    server.new_orders()
    server.restart()
    assert server.new_orders() == []


def test_what_cannot_be_restarted_is_refused_with_the_reason(server: Told):
    """J1, E2: only a service, only while it runs, and only if the engine can."""
    service, job = server.submit(module=Module.EAS), server.submit()
    with pytest.raises(Refused, match=r"is a DLC job.* \[J1\]"):
        server.do(do.RestartService(actor="ann", job=job))
    with pytest.raises(Forbidden):
        server.do(do.RestartService(actor="ann", job=server.submit(actor="pat", module=Module.EAS)))
    server.engine.without_endpoints()
    with pytest.raises(Refused, match=r"the told engine has no way to restart a service \[E2\]"):
        server.do(do.RestartService(actor="ann", job=service))
    server.do(do.StopJob(actor="ann", job=service))
    with pytest.raises(Refused, match=r"is Stopped.* \[J1\]"):
        server.do(do.RestartService(actor="ann", job=service))


def test_a_service_that_exits_after_its_stop_has_left(server: Told):
    service = server.submit(module=Module.EAS)
    server.do(do.StopJob(actor="ann", job=service))
    server.hear(Exited(server.job(service).id, 1, Outcome.SUCCEEDED))
    assert server.phase(service) == "Stopped", (
        "a service ends well when it is told to stop; that is not its end"
    )
    assert not server.job(service).leaving


# -- ill devices (R5) ------------------------------------------------------------------------------------------------


def test_a_gpu_that_falls_ill_makes_its_job_move_and_a_restart_knows(server: Told):
    job = server.submit(gpus=2)
    server.new_orders()
    version = server.world.version("node", "n0")
    server.hear(DeviceReport("n0", 1, False, "XID 79"))
    assert stops(server.new_orders()) == [(job, 1, (0,))]
    assert server.world.version("node", "n0") == version + 1
    server.restart()
    assert server.world.state.nodes[0].ill == {1}
    server.new_orders()
    server.hear(Lost(server.job(job).id, 1, (0,)))
    (start,) = (order for order in server.new_orders() if isinstance(order, StartOrder))
    assert (start.run, 1 in start.replicas[0].devices) == (2, False)
    assert server.job(job).preempted_ms == ()
    (told,) = (row for row in server.store.table(EventRow) if row.kind == "node.device")
    assert told.body == {"node": "n0", "device": 1, "healthy": False, "detail": "XID 79"}
    (audited,) = (row for row in server.store.table(AuditRow) if row.action == "node.device")
    assert (audited.actor, audited.target) == ("(server)", "node:n0")
    server.hear(DeviceReport("n0", 1, True))
    server.restart()
    assert server.world.state.nodes[0].ill == frozenset()


def test_device_reports_that_say_nothing_new_change_nothing(server: Told):
    version = server.world.version("node", "n0")
    for report in (
        DeviceReport("n0", 1, True),
        DeviceReport("n0", 99, False),
        DeviceReport("nowhere", 0, False),
    ):
        server.hear(report)
    assert server.world.version("node", "n0") == version
    assert "node.device" not in server.kinds()


def test_a_gpu_that_falls_ill_while_another_server_leads_is_known_afterwards(server: Told):
    """What runs is observed anew; how a GPU is, its engine says once."""
    server.now_ms += 20_000
    assert server.store.take_lease("other", server.now_ms, 15_000) is not None
    for healthy in (False, True, False):
        server.hear(DeviceReport("n0", 3, healthy, "XID 79"))
    server.pass_time(6)
    assert server.mode() is Mode.STANDBY
    server.pass_time(60)
    assert server.mode() is Mode.LEADING
    assert server.world.state.node_by_name["n0"].ill == {3}


def test_surplus_that_was_lost_and_came_back_is_not_taken_for_confirmed(server: Told):
    """A7: else a crash before its order was heard would call it lost once more, instead of ordering it again."""
    service = server.submit(module=Module.EAS, replicas=2, min_replicas=1)
    server.engine.running[service, 1] = (0,)
    server.restart()
    assert server.kinds(service).count("job.lost") == 1
    assert starts(server.new_orders())[-1] == (service, 1, [1]), "another one in its place"
    assert server.world.cards[JobId(service)].confirmed == (0,)
    server.restart()
    assert server.kinds(service).count("job.lost") == 1
    assert starts(server.new_orders()) == [(service, 1, [1])]
    server.hear(Confirmed(JobId(service), 1, (1,)))
    server.do(do.ResizeJob(actor="ann", job=service, replicas=1))
    server.hear(Left(JobId(service), 1, (1,)))
    server.hear(Confirmed(JobId(service), 1, (1,)))  # it comes late
    assert server.world.cards[JobId(service)].confirmed == (0,)


def test_a_node_that_was_cordoned_when_it_was_lost_comes_back_cordoned(server: Told):
    name = node_names(server)[0]
    server.do(do.SetNodeState(actor="root", node=name, state=NodeState.CORDONED))
    server.hear(NodeReport(name, ready=False))
    server.kill()
    server.boot()
    server.hear(NodeReport(name, ready=True))
    assert state_of(server, name) is NodeState.CORDONED
    server.do(do.SetNodeState(actor="root", node=name, state=NodeState.READY))
    server.hear(NodeReport(name, ready=False))
    server.hear(NodeReport(name, ready=True))
    assert state_of(server, name) is NodeState.READY


def node_names(server: Told) -> list[str]:
    assert server.controller._world is not None
    return list(server.controller._world.state.node_by_name)


def state_of(server: Told, node: str) -> NodeState:
    assert server.controller._world is not None
    return server.controller._world.state.node_by_name[node].state
