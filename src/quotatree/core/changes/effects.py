"""What a decision does to the state: start, hold, evict, demote, promote, release. Each returns the decision's value.

Used by the planner and by commands (drain, lost nodes, scaling with reclaim), so that an eviction is one thing.
"""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.model.job import Claim, Hold, Job, JobId, Phase, Placed
from quotatree.core.model.policy import Module
from quotatree.core.model.resources import WHOLE_GPU, ZERO
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost, eviction_lost_work
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.overlay import Nodes, Overlay
from quotatree.core.state import HOLD_MARGIN_MS, State


def start(
    state: State, job: Job, places: tuple[Placed, ...], claim: Claim, now_ms: int, step: Step, reason: Reason,
    preemption: say.Preemption | None = None,
) -> say.Start:  # fmt: skip
    """Start the core of a job, or what its running core is missing, on free devices."""
    clear_guard(state, job)
    if job.hold is not None:
        drop_hold(state, job, leaves=False)
    state.dequeue(job)
    if job.core is not None:
        _extend_core(state, job, places)
    else:
        state.move(job, Phase.RUNNING, now_ms, reason.code.name)
        state.begin_run(job, claim, now_ms)
        core = state.make_unit(job, UnitKind.CORE, claim, places, now_ms)
        state.place(core)
        state.set_core(job, core)
        if job.core_replicas < job.spec.total_replicas:
            state.put_entry(job.quota.tree.elastic, job.id, job)
    if job.queued:
        state.enqueue(job)
    return say.Start(job.id, job.run, claim, named(state, places), step, reason, preemption=preemption)


def _extend_core(state: State, job: Job, places: tuple[Placed, ...]) -> None:
    """Add replicas to a running core, which keeps its start and checkpoint."""
    old = job.core
    assert old is not None
    state.displace(old, leaves=False)
    core = state.make_unit(job, UnitKind.CORE, job.claim, old.places + places, old.started_ms)
    state.place(core)
    state.set_core(job, core)


def grow_into_surplus(state: State, job: Job, now_ms: int) -> say.Promote | None:
    """Make running surplus part of a core that was made larger (P12); None if there is none or the core needs none."""
    missing = job.core_replicas - len(job.core_indexes)
    chosen = sorted(job.surplus)[: max(0, missing)]
    if not chosen:
        return None
    places: tuple[Placed, ...] = ()
    for index in chosen:
        unit = job.surplus[index]
        state.displace(unit, leaves=False)
        state.drop_surplus(job, index)
        places += unit.places
    _extend_core(state, job, places)
    state.requeue(job)
    state.tell(job, now_ms, f"{len(chosen)} surplus replica(s) became core")
    return say.Promote(job.id, because(Code.CoreGrows))


def start_surplus(state: State, job: Job, place: Placed, now_ms: int) -> say.Start:
    unit = state.make_unit(job, UnitKind.SURPLUS, job.claim, (place,), now_ms)
    state.place(unit)
    state.put_surplus(job, unit)
    reason = because(Code.SurplusFits)
    return say.Start(job.id, job.run, job.claim, named(state, (place,)), Step.FREE, reason, surplus=True)


def hold(
    state: State, job: Job, places: tuple[Placed, ...], now_ms: int, step: Step, reason: Reason,
    preemption: say.Preemption | None = None,
) -> say.Hold:  # fmt: skip
    """Promise places to a job; quotas and devices count it as running from now on (P9)."""
    clear_guard(state, job)
    state.dequeue(job)
    waiting_on = leavers_on(state, places)
    if job.leaving and job.id not in waiting_on:
        waiting_on = (*waiting_on, job.id)
    grace = max((state.jobs[other].spec.grace_ms for other in waiting_on), default=0)
    unit = state.make_unit(job, UnitKind.HOLD, Claim.REGULAR, places, now_ms)
    state.place(unit)
    state.set_hold(job, Hold(unit, waiting_on, now_ms + grace + HOLD_MARGIN_MS))
    if job.phase is Phase.WAITING:
        state.move(job, Phase.HELD, now_ms, reason.code.name)
        state.set_replan_first(job, False)
    assert job.hold is not None
    return say.Hold(
        job=job.id,
        replicas=named(state, places),
        waiting_on=waiting_on,
        expires_ms=job.hold.expires_ms,
        step=step,
        reason=reason,
        preemption=preemption,
    )


def drop_hold(state: State, job: Job, *, leaves: bool = True) -> None:
    """Take a hold's places back; the caller says what becomes of the job."""
    assert job.hold is not None
    state.displace(job.hold.unit, leaves=leaves)
    state.set_hold(job, None)


def release(state: State, job: Job, now_ms: int, reason: Reason, again: bool) -> say.Release:
    """End a hold without a start; the job waits again. `again`: it is tried before any of its victims (P9)."""
    drop_hold(state, job)
    if job.phase is Phase.HELD:
        state.move(job, Phase.WAITING, now_ms, reason.code.name)
        state.set_replan_first(job, again)
        state.enqueue(job)
    elif job.queued:
        state.requeue(job)
    return say.Release(job.id, reason)


def evict(
    state: State, unit: Unit, now_ms: int, reason: Reason, preemptor: JobId | None, counts: bool
) -> say.Evict:
    """Evict a unit with everything that goes along with it (P12, P14). Its devices stay busy until it has left.

    `preemptor`: None if no job takes its place. `counts`: whether this is a preemption of the job, if its core was regular.
    """
    job, kind = unit.job, unit.cls.kind
    cost, lost_work, grace_ms = (
        eviction_cost(unit, now_ms),
        eviction_lost_work(unit, now_ms),
        job.spec.grace_ms,
    )
    if kind is UnitKind.HOLD:
        release(state, job, now_ms, reason, again=False)
        replicas: tuple[int, ...] = ()
        requeued, counts = job.phase is Phase.WAITING, False
        cost = lost_work = grace_ms = 0
    elif kind is UnitKind.SURPLUS:
        state.displace(unit)
        state.drop_surplus(job, unit.places[0].replica)
        state.begin_leaving(job, unit.places)
        replicas, requeued, counts = (unit.places[0].replica,), False, False
    else:
        # Not a victim if it lost its node: then it is always queued again (R5).
        lost_its_node = reason.code in (Code.NodeDrained, Code.NodeLost, Code.DeviceIll, Code.RunLost)
        requeued = job.spec.module is not Module.DSW or job.spec.requeue or lost_its_node
        counts = counts and unit.cls.claim is Claim.REGULAR
        places = stop_everything(state, job)
        replicas = tuple(sorted(place.replica for place in places))
        state.begin_leaving(job, places)
        state.end_by_eviction(job, preemptor, lost_work)
        _back_to_queue(state, job, now_ms, reason, preemptor, requeued)
    return say.Evict(
        job=job.id,
        run=job.run,
        kind=kind,
        replicas=replicas,
        preemptor=preemptor,
        cost=cost,
        lost_work=lost_work,
        grace_ms=grace_ms,
        requeued=requeued,
        counts=counts,
        reason=reason,
    )


def stop_everything(state: State, job: Job) -> tuple[Placed, ...]:
    """Take a running job, with surplus and hold, off its devices and quotas; return the places of core and surplus."""
    state.dequeue(job)
    if job.hold is not None:
        drop_hold(state, job)
    places: tuple[Placed, ...] = ()
    for unit in list(job.surplus.values()):
        state.displace(unit)
        places += unit.places
    if job.core is not None:
        state.displace(job.core)
        places = job.core.places + places
    state.clear_units(job)
    state.drop_entry(job.quota.tree.elastic, job.id)
    return places


def _back_to_queue(
    state: State, job: Job, now_ms: int, reason: Reason, preemptor: JobId | None, requeued: bool
) -> None:
    if requeued:
        state.set_queued(job, now_ms)
        state.move(job, Phase.WAITING, now_ms, reason.code.name)
        state.enqueue(job)
    else:
        state.move(job, Phase.STOPPED, now_ms, "Preempted" if preemptor is not None else reason.code.name)


def change_claim(state: State, job: Job, claim: Claim, now_ms: int, why: str) -> None:
    """Change a running job from regular to idle or back, in place, without a restart (I1)."""
    state.dequeue(job)
    old = job.core
    assert old is not None
    surplus = list(job.surplus.values())
    for unit in [old, *surplus]:
        state.displace(unit)
    state.set_claim(job, claim)
    core = state.make_unit(job, UnitKind.CORE, claim, old.places, old.started_ms)
    state.place(core)
    state.set_core(job, core)
    for unit in surplus:
        again = state.make_unit(job, UnitKind.SURPLUS, claim, unit.places, unit.started_ms)
        state.place(again)
        state.put_surplus(job, again)
    state.tell(job, now_ms, why)
    if job.queued:
        state.enqueue(job)


class Stopped(NamedTuple):
    """What an eviction changed in a job whose core it took, so that it can be said never to have happened (P8)."""

    unit: Unit
    preempted_by: JobId | None
    lost_last: int
    queued_ms: int


def stopped(unit: Unit) -> Stopped:
    """Return what an eviction of this core is about to change."""
    job = unit.job
    return Stopped(unit, job.preempted_by, job.lost_last, job.queued_ms)


def keep(state: State, job: Job, before: Stopped, now_ms: int) -> None:
    """Let a victim of this plan run on where it was, with a regular claim; its hold is gone, and its replicas do not leave."""
    old = before.unit
    state.end_by_eviction(job, before.preempted_by, before.lost_last)
    state.set_queued(job, before.queued_ms)
    state.move(job, Phase.RUNNING, now_ms, Code.KeptRunning.name)
    core = state.make_unit(job, UnitKind.CORE, Claim.REGULAR, old.places, old.started_ms)
    state.place(core)
    state.set_core(job, core)
    if job.core_replicas < job.spec.total_replicas:
        state.put_entry(job.quota.tree.elastic, job.id, job)


def leavers_on(state: State, places: tuple[Placed, ...], nodes: Nodes | None = None) -> tuple[JobId, ...]:
    """Return the jobs that must leave before replicas can start on all of these places.

    `nodes`: the nodes to look at; None means those of the state.
    """
    if not state.leaving_replicas:
        return ()
    nodes = nodes or state.nodes
    found: dict[JobId, None] = {}
    together: dict[int, tuple[int, int]] = {}
    wanted: dict[tuple[int, int], int] = {}
    for place in places:
        cpu, memory = together.get(place.node, (0, 0))
        together[place.node] = (cpu + place.shape.cpu_milli, memory + place.shape.memory_mib)
        for device in place.devices:
            milli = wanted.get((place.node, device), 0)
            wanted[place.node, device] = milli + min(place.shape.gpu_milli, WHOLE_GPU)
    for place in places:
        node = nodes[place.node]
        if not node.leavers:
            continue
        crowded = node.overbooked_with(*together[place.node])
        tight = {d for d in place.devices if node.device_free(d, True) < wanted[place.node, d]}
        for (job_id, _), leaving in node.leavers.items():
            if crowded or not tight.isdisjoint(leaving.devices):
                found[job_id] = None
    return tuple(sorted(found))


def wait_longer(state: State, job: Job, now_ms: int) -> bool:
    """Renew a hold whose leavers have all left if jobs evicted since occupy its places; return whether it was (P9).

    Fractions, CPU and memory are not promised by name: what was free when the hold was made may be in use by another job,
    which was started while capacity that is still leaving was counted for the hold.
    """
    hold = job.hold
    assert hold is not None
    if not any(state.nodes[index].leavers for index in hold.unit.nodes):
        return False
    without = Overlay(state)
    without.take(hold.unit)
    late = leavers_on(state, hold.unit.places, without.nodes)
    if not late:
        return False
    grace = max(state.jobs[other].spec.grace_ms for other in late)
    state.set_hold(job, Hold(hold.unit, late, max(hold.expires_ms, now_ms + grace + HOLD_MARGIN_MS)))
    return True


def named(state: State, places: tuple[Placed, ...]) -> tuple[say.ReplicaPlace, ...]:
    return tuple(say.ReplicaPlace(p.replica, state.nodes[p.node].spec.name, p.devices) for p in places)


def clear_guard(state: State, job: Job) -> None:
    """Free what the starvation guard keeps for this job, if it is the guarded one (S10)."""
    tree = job.quota.tree
    if tree.guard != job.id:
        return
    waits = job.id in job.quota.queue.of_job
    state.dequeue(job)
    for above in job.quota.path:
        state.set_shadow(above, ZERO)
    state.set_guard(tree, None, frozenset())
    if waits:
        state.enqueue(job)
    state.bump(job.quota)
