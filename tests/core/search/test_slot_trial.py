"""Slots are counted the same whether units of a node are taken together or one after the other (P8)."""

from __future__ import annotations

import pytest

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.policy import Module, Scope
from quotatree.core.model.rights import Work
from quotatree.core.model.unit import Unit
from quotatree.core.search.eligible import Signature, own_clause
from quotatree.core.search.node_offer import TOP_RUNG
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.slot_trial import SlotTrial
from quotatree.core.search.trial import Request, Trial
from quotatree.core.state import State
from tests.core.building import MINUTE, cluster, gpus, root, self_level

HOUR = 60 * MINUTE
TWO_GPUS = Shape(2_000, 0, 0)


def a_cluster(*sizes_milli: int, replicas: int = 1) -> tuple[State, list[Unit]]:
    """Two nodes of 8 GPUs, and a running job for each size; its replicas have that size each."""
    state = cluster(16, root(16, self_level=self_level(6, 5, Scope.OWN)))
    for number, milli in enumerate(sizes_milli):
        group = ReplicaGroup(replicas, Shape(milli, 0, 0))
        apply(state, ev.JobAdopted(JobSpec(JobId(f"job-{number}"), "r", (group,), 0), 0), HOUR)
    return state, [job.core for job in state.jobs.values() if job.core is not None]


def a_trial(state: State) -> SlotTrial:
    """For places of two GPUs each, while six GPUs of quota are missing."""
    quota = state.roots[0]
    clause = own_clause(quota, 9)
    assert clause is not None
    request = Request(state, quota, Signature(Work(quota, 9, Module.DLC), (clause,)), gpus(6), HOUR)
    return SlotTrial(Trial(request, TOP_RUNG, Overlay(state)), TWO_GPUS, 1)


def counted(trial: SlotTrial) -> tuple[object, ...]:
    return trial.slots, trial.quota_left(), trial.looks, list(trial.taken)


@pytest.mark.parametrize(
    ("sizes", "replicas"),
    [((1_000,) * 8, 1), ((1_000, 3_000, 4_000), 1), ((500,) * 8, 1), ((4_000, 4_000), 2)],
)
def test_units_taken_together_count_as_if_taken_one_after_the_other(
    sizes: tuple[int, ...], replicas: int
) -> None:
    state, units = a_cluster(*sizes, replicas=replicas)
    together, one_by_one = a_trial(state), a_trial(state)
    free = together.slots
    together.take_all(units)
    for unit in units:
        one_by_one.take(unit)
    assert counted(together) == counted(one_by_one)
    assert together.slots > free
    together.give_back(units[0])
    one_by_one.give_back(units[0])
    assert counted(together) == counted(one_by_one)


def test_units_taken_together_are_given_back_by_a_mark() -> None:
    state, units = a_cluster(*(1_000,) * 8)
    trial = a_trial(state)
    free, mark = trial.slots, trial.mark()
    trial.take_all(units[:5])
    trial.take_all(units[3:])  # two of them are taken already
    assert (trial.slots, list(trial.taken)) == (free + 4, units)
    trial.undo_to(mark)
    assert (trial.slots, list(trial.taken), trial.quota_left()) == (free, [], gpus(6))
