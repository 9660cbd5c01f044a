"""Is what was marked looked at, once, and again if that fails?"""

from __future__ import annotations

from quotatree.core import JobId
from quotatree.engines.kubernetes.due_work import DueWork
from quotatree.engines.kubernetes.errors import Clash, ClusterError

A, B = JobId("a"), JobId("b")


class Desk:
    def __init__(self) -> None:
        self.now = 100.0
        self.seen: list[str] = []
        self.fails = 0
        self.fault: ClusterError = ClusterError(503, "", "busy")
        self.due = DueWork("desk", self.look, 0, lambda: self.now)

    def look(self, job: JobId) -> None:
        self.seen.append(job)
        if self.fails:
            self.fails -= 1
            raise self.fault

    def work(self, seconds: float = 0.0) -> list[str]:
        self.now += seconds
        while self.due.look_once():
            pass
        found, self.seen = self.seen, []
        return found


def test_marks_of_one_job_are_one_look_and_the_first_marked_comes_first():
    desk = Desk()
    for job in (B, A, B, B):
        desk.due.mark(job)
    assert desk.work() == ["b", "a"]


def test_a_mark_for_later_waits_and_an_earlier_one_wins():
    desk = Desk()
    desk.due.mark(A, 10)
    assert desk.work(5) == []
    desk.due.mark(A)
    assert desk.work() == ["a"]
    assert desk.work(60) == []


def test_a_failed_look_is_repeated_after_pauses_that_grow():
    desk = Desk()
    desk.fails = 3
    desk.due.mark(A)
    assert desk.work() == ["a"]
    assert desk.work(0.1) == []
    assert desk.work(0.2) == ["a"]
    assert desk.work(0.2) == []
    assert desk.work(0.3) == ["a"]
    assert desk.work(60) == ["a"]
    assert desk.work(60) == []


def test_a_mark_while_a_job_is_looked_at_is_not_lost():
    desk = Desk()

    def look(job: JobId) -> None:
        desk.seen.append(job)
        if len(desk.seen) == 1:
            desk.due.mark(job)
            assert not desk.due.look_once(), "nobody looks at a job that somebody looks at"

    desk.due = DueWork("desk", look, 0, lambda: desk.now)
    desk.due.mark(A)
    assert desk.work() == ["a", "a"]


def test_that_somebody_else_was_quicker_is_no_fault_until_it_goes_on_and_on():
    desk = Desk()
    desk.fails, desk.fault = 5, Clash(409, "Conflict", "another version")
    desk.due.mark(A)
    assert [desk.work(0.06) for _ in range(5)] == [["a"]] * 5
    assert desk.work(0.06) == []
    assert desk.work(10) == ["a"]
