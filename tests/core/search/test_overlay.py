"""What would be there if some had left: seen through an overlay, with the state as it was."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Idle, Job, JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.quota_arithmetic import has_loan, idle_room, shortage
from quotatree.core.model.resources import GPU
from quotatree.core.model.unit import Unit
from quotatree.core.search.free_index import free_view
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import find_places
from quotatree.core.state import State
from tests.core.building import child, cluster, gpus, root, self_level

WHOLE = Shape(4000, 0, 0)


def two_full_nodes() -> tuple[State, Job, Job]:
    """Nodes of four GPUs, each taken by one job: `first` of the root's child a, `second` of b, which borrows."""
    state = cluster(4, root(8), child("a", 6), child("b", 2, self_level=self_level(6, 5)), nodes=2)
    return state, run(state, "first", "a", 0), run(state, "second", "b", 1)


def run(state: State, name: str, quota: str, node: int, idle: bool = False) -> Job:
    spec = JobSpec(
        JobId(name), quota, (ReplicaGroup(1, WHOLE),), 0, priority=9, idle=Idle.ONLY if idle else Idle.NEVER
    )
    apply(state, ev.JobAdopted(spec, 0, places=(Placed(0, node, (0, 1, 2, 3), WHOLE),), idle=idle), 0)
    return state.jobs[JobId(name)]


def core(job: Job) -> Unit:
    assert job.core is not None
    return job.core


def test_a_place_is_found_where_somebody_would_have_left_and_nobody_has() -> None:
    state, first, _ = two_full_nodes()
    overlay = Overlay(state)
    overlay.take(core(first))
    wanted = [(0, WHOLE)]
    there = find_places(state, state.roots[0], wanted, now=True, overlay=overlay)
    assert there == (Placed(0, 0, (0, 1, 2, 3), WHOLE),)
    assert find_places(state, state.roots[0], wanted, now=True) is None
    assert core(first) in state.nodes[0].units


def test_places_are_counted_again_after_every_move() -> None:
    state, first, second = two_full_nodes()
    overlay = Overlay(state)
    counts = []
    for job in (first, second):
        overlay.take(core(job))
        counts.append(free_view(overlay, WHOLE, state.roots[0], False).total)
    overlay.give_back(core(first))
    view = free_view(overlay, WHOLE, state.roots[0], False)
    assert (counts, view.total, view.take(2, frozenset())) == ([1, 2], 1, [1])


def test_quotas_are_asked_as_they_would_be() -> None:
    state, _, second = two_full_nodes()
    a, b = state.quotas["a"], state.quotas["b"]  # type: ignore[index]
    overlay = Overlay(state)
    assert shortage(a, gpus(2)) is not None
    assert has_loan(b)
    overlay.take(core(second))
    assert shortage(a, gpus(2), usage=overlay) is None
    assert not has_loan(b, overlay)
    assert (overlay.used(state.roots[0])[GPU], state.roots[0].used[GPU]) == (4000, 8000)


def test_idle_work_that_would_have_left_makes_idle_room() -> None:
    state = cluster(4, root(8), nodes=2)
    top = state.roots[0]
    borrower = run(state, "borrower", "r", 0, idle=True)
    overlay = Overlay(state)
    overlay.take(core(borrower))
    assert (idle_room(top, 8000, GPU), idle_room(top, 8000, GPU, overlay)) == (4000, 8000)
    assert (top.tree.idle_units, overlay.idle_units(top.tree)) == (1, 0)


def test_a_fork_goes_its_own_way() -> None:
    state, first, second = two_full_nodes()
    before = Overlay(state)
    before.take(core(first))
    fork = before.fork()
    fork.take(core(second))
    fork.give_back(core(first))
    assert list(before.off) == [core(first)]
    assert (before.node(0).whole_free, before.node(1).whole_free) == (4, 0)
    assert (fork.node(0).whole_free, fork.node(1).whole_free) == (0, 4)
