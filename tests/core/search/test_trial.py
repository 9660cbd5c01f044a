"""What has been taken is booked, given back, and minimised (P8), without a word to the state."""

from __future__ import annotations

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Job, JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.policy import Module, Scope
from quotatree.core.model.resources import ZERO
from quotatree.core.model.rights import Work
from quotatree.core.model.unit import Unit
from quotatree.core.planning.plan import plan
from quotatree.core.search.eligible import Signature, own_clause
from quotatree.core.search.node_offer import TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.trial import Request, Trial, propose
from quotatree.core.state import State
from tests.core.building import MINUTE, cluster, gpus, root, self_level

HOUR = 60 * MINUTE


def a_trial(state: State, deficit: int) -> Trial:
    """For a job of the root with so many GPUs too little, which may take everybody up to priority 5."""
    quota = state.roots[0]
    clause = own_clause(quota, 9)
    assert clause is not None
    request = Request(state, quota, Signature(Work(quota, 9, Module.DLC), (clause,)), gpus(deficit), HOUR)
    return Trial(request, TOP_RUNG, Overlay(state))


def a_cluster() -> State:
    return cluster(8, root(8, self_level=self_level(6, 5, Scope.OWN)))


def run(state: State, name: str, size: int, started_ms: int, **fields: object) -> Unit:
    shape = Shape(size * 1000, 0, 0)
    spec = JobSpec(JobId(name), "r", (ReplicaGroup(1, shape),), started_ms, **fields)  # type: ignore[arg-type]
    apply(state, ev.JobAdopted(spec, started_ms), HOUR)
    return core(state.jobs[spec.id])


def core(job: Job) -> Unit:
    assert job.core is not None
    return job.core


def test_the_dearest_stays_if_the_others_are_enough() -> None:
    state = a_cluster()
    old, middle, new = (
        run(state, name, 2, at) for name, at in (("old", 0), ("middle", MINUTE), ("new", 50 * MINUTE))
    )
    trial = a_trial(state, 4)
    trial.take_all([new, old, middle])
    trial.minimise()
    assert list(trial.taken) == [middle, new]
    assert trial.quota_left() == ZERO


def test_nobody_stays_whose_share_is_needed() -> None:
    state = a_cluster()
    units = [run(state, name, 2, 0) for name in ("a", "b")]
    trial = a_trial(state, 3)
    trial.take_all(units)
    trial.minimise()
    assert trial.proposal().units == tuple(units)


def test_a_move_is_undone_by_its_mark() -> None:
    state = a_cluster()
    first, second = run(state, "first", 2, 0), run(state, "second", 4, 0)
    trial = a_trial(state, 8)
    trial.take(first)
    mark = trial.mark()
    trial.take(second)
    trial.give_back(first)
    trial.undo_to(mark)
    assert (list(trial.taken), trial.quota_left()) == ([first], gpus(6))


def test_a_core_takes_its_surplus_along_and_counts_it_once() -> None:
    """P12: whether surplus was taken before its core or goes with it, the same is free."""
    state = a_cluster()
    groups = (ReplicaGroup(3, Shape(1000, 0, 0)),)
    service = JobSpec(JobId("service"), "r", groups, 0, Module.EAS, 1, min_replicas=1)
    apply(state, ev.JobSubmitted(service), 0)
    plan(state, 0)
    job = state.jobs[service.id]
    one, _ = job.extras.values()
    trial = a_trial(state, 8)
    trial.take(one)
    assert trial.quota_left() == gpus(7)
    trial.take(core(job))
    assert trial.quota_left() == gpus(5)
    trial.give_back(one)
    assert trial.quota_left() == gpus(5), "it goes with its core"
    trial.give_back(core(job))
    assert trial.quota_left() == gpus(8)


def test_nothing_of_it_is_written() -> None:
    state = a_cluster()
    unit = run(state, "only", 8, 0)
    a_trial(state, 8).take(unit)
    assert (state.roots[0].used[0], state.nodes[0].whole_free, len(state.nodes[0].units)) == (8000, 0, 1)


def test_sets_alike_in_all_that_p5_compares_are_equal_whatever_their_units() -> None:
    state = a_cluster()
    one, other = run(state, "one", 1, 0), run(state, "other", 1, 0)
    first = propose([one], 5)
    second = first._replace(units=(other,))  # as a core and a hold of one job, which have the same name
    assert not first < second
    assert not second < first
    assert propose([one], 4) < first
