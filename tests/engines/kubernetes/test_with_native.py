"""One engine to the outside: each job goes to the part that runs it."""

from __future__ import annotations

from typing import Any

from quotatree.core import JobId, Module, Shape
from quotatree.engines.base import Confirmed, Observed, ReplicaOrder, Report, Running, StartOrder, StopOrder
from quotatree.engines.kubernetes.adopted import BATCH_JOB
from quotatree.engines.kubernetes.native import Native
from quotatree.engines.kubernetes.with_native import WithNative
from tests.control.told_engine import ToldEngine
from tests.engines.kubernetes.small_cluster import SmallCluster
from tests.engines.kubernetes.test_native import PROGRAM

OURS, THEIRS = JobId("dlc-1"), JobId("dlc-2")


def start(job: JobId, program: dict[str, Any]) -> StartOrder:
    return StartOrder(job, 1, Module.DLC, (ReplicaOrder(0, "a", (), Shape(1000, 0, 0)),), program, 0)


def test_orders_go_to_the_part_that_has_the_job():
    own = ToldEngine()
    native = Native(SmallCluster(), [BATCH_JOB])  # type: ignore[arg-type]
    both = WithNative(own, native)
    both.start(start(OURS, {"image": "x"}))
    both.start(start(THEIRS, PROGRAM))
    both.stop(StopOrder(OURS, 1, 0))
    both.stop(StopOrder(THEIRS, 1, 0))
    assert [order.job for order in own.orders] == [OURS, OURS]
    assert native.has(THEIRS)
    assert native._runs[THEIRS].stopping


def test_what_runs_is_what_both_see():
    own = ToldEngine()
    own.running = {(OURS, 1): (0,)}
    native = Native(SmallCluster(), [BATCH_JOB])  # type: ignore[arg-type]
    native.observe = lambda: Observed((Running(THEIRS, 2, (0,)),), ())  # type: ignore[method-assign]
    assert {one.job for one in WithNative(own, native).observe().running} == {OURS, THEIRS}


def test_both_report_to_the_same():
    own, heard = ToldEngine(), list[Report]()
    native = Native(SmallCluster(), [])  # type: ignore[arg-type]
    native._informers = []
    both = WithNative(own, native)
    both.open(heard.append)
    own.tell(Confirmed(OURS, 1, (0,)))
    native._report(Confirmed(THEIRS, 1, (0,)))
    assert len(heard) == 2
    both.close()
