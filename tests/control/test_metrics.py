"""Reason codes are labels of metrics (A2); waits, evictions and what they lose are measured."""

from pathlib import Path

from quotatree.control.commands import values as do
from quotatree.core.model.node import NodeState
from quotatree.engines.base import DeviceReport, NodeReport
from quotatree.store.rows import DecisionRow
from tests.control.server import Server


def test_decisions_are_counted_by_reason_and_commands_by_outcome(tmp_path: Path):
    server = Server(tmp_path).furnish()
    server.submit()
    registry = server.controller.metrics.registry
    started = {"kind": "Start", "reason": "FitsFree"}
    assert registry.get_sample_value("quotatree_decisions_total", started) == 1
    done = {"command": "SubmitJob", "outcome": "done"}
    assert registry.get_sample_value("quotatree_commands_total", done) == 1


def test_waits_evictions_and_lost_work_are_measured(tmp_path: Path):
    server = Server(tmp_path).furnish()
    server.allow_preemption()
    server.submit(gpus=4, seconds=None, priority=1, leaves_after=7)
    server.pass_time(100)
    preemptor = server.submit(actor="pat", gpus=4, seconds=None, priority=9)
    registry = server.controller.metrics.registry

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"quotatree_{name}", labels)

    [reason] = [
        decision.reason_code for decision in server.store.table(DecisionRow) if decision.kind == "Evict"
    ]
    assert value("preemptions_total", reason=reason) == 1
    assert value("lost_gpu_seconds_total", reason=reason) == 4 * (100 + 40)
    assert value("eviction_seconds_count") == 0
    assert value("wait_seconds_count", module="DLC") == 2
    assert value("wait_seconds_sum", module="DLC") == 0
    assert (value("oldest_leaving_seconds") or 0) > 0
    server.pass_time(7)
    assert value("eviction_seconds_count") == 1
    assert value("eviction_seconds_sum") == 7
    server.pass_time(50)
    server.do(do.CancelJob(actor="pat", job=preemptor))
    server.pass_time(1)
    assert value("wait_seconds_count", module="DLC") == 3
    assert value("wait_seconds_sum", module="DLC") in (57, 58)
    assert value("oldest_leaving_seconds") == 0


def test_what_alerts_see_increase_is_told_before_it_happens(tmp_path: Path):
    """The first of a kind would otherwise come from nowhere, which is no increase to Prometheus."""
    registry = Server(tmp_path).furnish().controller.metrics.registry
    for name, labels in (
        ("preemptions_total", {"reason": "ChildLevel"}),
        ("lost_gpu_seconds_total", {"reason": "NodeLost"}),
        ("webhook_deliveries_total", {"outcome": "dead"}),
        ("wait_seconds_count", {"module": "EAS"}),
    ):
        assert registry.get_sample_value(f"quotatree_{name}", labels) == 0


def test_a_server_that_does_not_lead_any_more_has_nobody_leaving(tmp_path: Path):
    server = Server(tmp_path).furnish()
    job = server.submit(gpus=1, seconds=None, leaves_after=60)
    server.do(do.CancelJob(actor="ann", job=job))
    metrics = server.controller.metrics
    assert (metrics.registry.get_sample_value("quotatree_oldest_leaving_seconds") or 0) > 0
    metrics.stands_by()
    assert metrics.registry.get_sample_value("quotatree_oldest_leaving_seconds") == 0
    assert metrics.registry.get_sample_value("quotatree_jobs_leaving") == 0
    assert metrics.registry.get_sample_value("quotatree_nodes", {"state": "Ready"}) is None


def test_nodes_and_their_gpus_are_counted_by_state(tmp_path: Path):
    server = Server(tmp_path).furnish(nodes=3)
    registry = server.controller.metrics.registry

    def counted(name: str) -> list[float | None]:
        return [registry.get_sample_value(f"quotatree_{name}", {"state": one.value}) for one in NodeState]

    assert counted("nodes") == [3, 0, 0, 0]
    server.do(do.SetNodeState(actor="root", node="n1", state=NodeState.CORDONED))
    assert counted("nodes") == [2, 1, 0, 0]
    assert counted("gpus") == [16, 8, 0, 0]
    server.engine._report(NodeReport("n2", ready=False))
    server.engine._report(DeviceReport("n0", 3, healthy=False, detail="XID 79"))
    server.step()
    assert counted("nodes") == [1, 1, 0, 1]
    assert registry.get_sample_value("quotatree_gpus_ill") == 1
