"""What a plan has told, found by job: the order stays, and changes can be taken back (P8)."""

from __future__ import annotations

from quotatree.core import decisions as say
from quotatree.core.model.job import JobId
from quotatree.core.model.unit import UnitKind
from quotatree.core.planning.net_effect import Told
from quotatree.core.reasons import Code, Step, because

WHY = because(Code.FitsFree)


def evicts(job: str, preemptor: str, kind: UnitKind = UnitKind.CORE) -> say.Evict:
    return say.Evict(JobId(job), 1, kind, (0,), JobId(preemptor), 0, 0, 0, True, True, WHY)


def holds(job: str, expires_ms: int = 0) -> say.Hold:
    return say.Hold(JobId(job), (say.ReplicaPlace(0, "n0", (0,)),), (), expires_ms, Step.FREE, WHY)


def test_a_job_is_found_by_its_first_eviction_and_its_last_hold() -> None:
    told = Told(
        [evicts("v", "a", UnitKind.SURPLUS), evicts("v", "a"), holds("v", 1), evicts("v", "b"), holds("v", 2)]
    )
    first = told.eviction_of(JobId("v"))
    assert first is not None
    held = told.hold_of(JobId("v"))
    assert held is not None
    assert held[1].expires_ms == 2
    told.drop(first)
    told.drop(held[0])
    assert [type(d) for d in told.in_order()] == [say.Evict, say.Hold, say.Evict]
    assert told.hold_of(JobId("nobody")) is None


def test_what_is_made_for_another_by_now_is_found_there() -> None:
    told = Told([evicts("v", "kept"), evicts("w", "kept"), evicts("x", "other")])
    for number, decision in told.taken_for(JobId("kept")):
        told.replace(number, decision._replace(preemptor=JobId("other")))
    assert told.taken_for(JobId("kept")) == []
    assert [decision.job for _, decision in told.taken_for(JobId("other"))] == ["v", "w", "x"]


def test_what_is_taken_back_stands_where_it_stood() -> None:
    decisions: list[say.Decision] = [evicts("v", "a"), holds("a"), holds("v")]
    told = Told(decisions)
    before = told.mark()
    told.add(holds("late"))
    number = told.eviction_of(JobId("v"))
    assert number is not None
    told.replace(number, evicts("v", "b"))
    told.drop(number)
    told.undo_to(before)
    assert told.in_order() == decisions
    assert [decision.job for _, decision in told.taken_for(JobId("a"))] == ["v"]
    assert told.taken_for(JobId("b")) == []
    assert told.hold_of(JobId("late")) is None
