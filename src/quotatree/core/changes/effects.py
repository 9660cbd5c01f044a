"""What a decision does to the state: start, hold, demote, promote, release. Each returns the decision's value.

Used by the planner and by commands. Evictions: see evictions.py.
"""

from __future__ import annotations

from typing import NamedTuple

from quotatree.core import decisions as say
from quotatree.core.changes.replicas import add_replicas, change_replica_claim, settle
from quotatree.core.model.job import Claim, Hold, Job, JobId, Phase, Placed
from quotatree.core.model.quota_arithmetic import over_while_ending
from quotatree.core.model.resources import WHOLE_GPU, ZERO, Resources
from quotatree.core.model.unit import Unit, UnitKind, eviction_cost, eviction_lost_work
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.search.overlay import Nodes, Overlay
from quotatree.core.state import HOLD_MARGIN_MS, State


def start(
    state: State, job: Job, places: tuple[Placed, ...], claim: Claim, now_ms: int, step: Step, reason: Reason,
    preemption: say.Preemption | None = None,
) -> say.Start:  # fmt: skip
    """Start a job on free devices, with its core at least, or replicas that a running job is missing (P12)."""
    clear_guard(state, job)
    if job.hold is not None:
        drop_hold(state, job, leaves=False)
    state.dequeue(job)
    grows = job.core is not None
    ordered = places if len(places) == 1 else tuple(sorted(places, key=lambda place: place.replica))
    if not grows:
        state.begin_run(job, claim, now_ms, reason.code._name_)
        core, ordered = ordered[: job.core_replicas], ordered[job.core_replicas :]
        unit = state.make_unit(job, UnitKind.CORE, claim, core, now_ms)
        state.place(unit)
        state.set_core(job, unit)
    else:
        state.set_reason(job, reason.code._name_)
    if ordered:
        add_replicas(state, job, ordered, claim, now_ms)
    settle(state, job, now_ms, waited=grows)
    return say.Start(
        job.id, job.run, claim, named(state, places), step, reason, preemption=preemption, grows=grows
    )  # fmt: skip


def start_surplus(state: State, job: Job, place: Placed, now_ms: int) -> say.Start:
    add_replicas(state, job, (place,), job.claim, now_ms, surplus=True)
    settle(state, job, now_ms, surplus=True)
    reason = because(Code.SurplusFits)
    state.set_reason(job, reason.code.name)
    return say.Start(
        job.id, job.run, job.claim, named(state, (place,)), Step.FREE, reason, surplus=True, grows=True
    )  # fmt: skip


def hold(
    state: State, job: Job, places: tuple[Placed, ...], now_ms: int, step: Step, reason: Reason,
    preemption: say.Preemption | None = None,
) -> say.Hold:  # fmt: skip
    """Promise places to a job; quotas and devices count it as running from now on (P9)."""
    clear_guard(state, job)
    state.dequeue(job)
    waiting_on = waited_for(state, job, places)
    if job.core is None and job.leaving and job.id not in waiting_on:
        waiting_on = (*waiting_on, job.id)
    grace = max((state.jobs[other].spec.grace_ms for other in waiting_on), default=0)
    unit = state.make_unit(job, UnitKind.HOLD, Claim.REGULAR, places, now_ms)
    state.place(unit)
    state.set_hold(job, Hold(unit, waiting_on, now_ms + grace + HOLD_MARGIN_MS))
    if job.phase is Phase.WAITING:
        state.move(job, Phase.HELD, now_ms, reason.code.name)
        state.set_replan_first(job, False)
    else:
        state.set_reason(job, reason.code.name)
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
        return say.Release(job.id, reason)
    state.set_reason(job, reason.code.name)
    if job.queued:
        state.requeue(job)
    return say.Release(job.id, reason)


def stop(state: State, job: Job, now_ms: int, reason: Reason) -> say.Stop:
    """Let all replicas of a running job leave, with grace, though no other job takes their place.

    Until they have, the regular ones count for what else its quota starts (P9).
    """
    assert job.core is not None
    lost_work, cost = eviction_lost_work(job.core, now_ms), eviction_cost(job.core, now_ms)
    regular = regular_places(job)
    places = stop_everything(state, job)
    state.begin_leaving(job, places)
    state.count_ending(job, regular)
    replicas = tuple(sorted(p.replica for p in places))
    return say.Stop(job.id, job.run, replicas, job.spec.grace_ms, reason, lost_work=lost_work, cost=cost)


def stop_everything(state: State, job: Job) -> tuple[Placed, ...]:
    """Take a running job off its devices and quotas, a hold too; return the places of all replicas that ran."""
    state.dequeue(job)
    if job.hold is not None:
        drop_hold(state, job)
    places: tuple[Placed, ...] = ()
    if job.extras:
        for unit in list(job.extras.values()):
            state.displace(unit)
            places += unit.places
    if job.core is not None:
        state.displace(job.core)
        places = job.core.places + places
    state.clear_units(job)
    state.drop_entry(job.quota.tree.elastic, job.id)
    return places


def regular_places(job: Job) -> tuple[Placed, ...]:
    """Return the places of all regular replicas of a running job."""
    units = [unit for unit in (job.core, *job.extras.values()) if unit is not None]
    return tuple([place for unit in units if unit.cls.claim is Claim.REGULAR for place in unit.places])


def demote(state: State, unit: Unit, now_ms: int, preemptor: JobId) -> say.Demote:
    """Turn a job idle with all its replicas, or one replica beyond its core, in place (I1)."""
    job, why = unit.job, f"demoted for {preemptor}"
    replicas: tuple[int, ...] = ()
    state.set_reason(job, Code.Demoted.name)
    if unit.cls.kind is UnitKind.CORE:
        _change_claim(state, job, Claim.IDLE, now_ms, why)
    else:
        replicas = (unit.places[0].replica,)
        change_replica_claim(state, job, replicas[0], Claim.IDLE)
        state.tell(job, now_ms, f"replica {replicas[0]} {why}")
        settle(state, job, now_ms)
    return say.Demote(job.id, preemptor, because(Code.Demoted, preemptor=preemptor), replicas)


def promote(
    state: State, job: Job, replicas: list[int], now_ms: int, reason: Reason,
    preemption: say.Preemption | None = None,
) -> say.Promote:  # fmt: skip
    """Make the idle core of a job regular in place or, once that is, these replicas beyond it (I1)."""
    state.set_reason(job, reason.code.name)
    if job.claim is Claim.IDLE:
        _change_claim(state, job, Claim.REGULAR, now_ms, "promoted")
        return say.Promote(job.id, reason, preemption=preemption)
    for number in replicas:
        change_replica_claim(state, job, number, Claim.REGULAR)
    state.tell(job, now_ms, f"promoted: {len(replicas)} more replica(s)")
    settle(state, job, now_ms)
    return say.Promote(job.id, reason, tuple(replicas), preemption)


def _change_claim(state: State, job: Job, claim: Claim, now_ms: int, why: str) -> None:
    """Change the core of a running job from regular to idle or back, in place, without a restart (I1).

    What becomes idle takes all other replicas along; what becomes regular leaves them to be promoted each by itself.
    """
    state.dequeue(job)
    old = job.core
    assert old is not None
    state.displace(old, in_place=True)
    state.set_claim(job, claim)
    core = state.make_unit(job, UnitKind.CORE, claim, old.places, old.started_ms)
    state.place(core)
    state.set_core(job, core)
    if claim is Claim.IDLE:
        for number in [i for i, unit in job.extras.items() if unit.cls.claim is not claim]:
            change_replica_claim(state, job, number, claim)
    state.tell(job, now_ms, why)
    settle(state, job, now_ms)


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
    settle(state, job, now_ms)


def waited_for(state: State, job: Job, places: tuple[Placed, ...]) -> tuple[JobId, ...]:
    """Return the jobs that must leave before the job can start on these places, which it does not stand on yet.

    Beside those on the devices: jobs of its own quota that are ending, while both together are more than the quota may have.
    """
    found = leavers_on(state, places)
    if waits_for_ending(job, places):
        ending = [
            other.id for other in state.leaving_jobs.values() if other.quota is job.quota and other.ending
        ]
        found = tuple(sorted({*found, *ending}))
    return found


def waits_for_ending(job: Job, places: tuple[Placed, ...]) -> bool:
    """Return whether its quota would have more than it may if the job started on these places before its others ended (P9)."""
    if not any(job.quota.ending):
        return False
    request = total_of(places)
    return over_while_ending(job.quota, request, request)


def total_of(places: tuple[Placed, ...]) -> Resources:
    return Resources(*(sum(place.shape.resources[i] for place in places) for i in range(3)))


def leavers_on(state: State, places: tuple[Placed, ...], nodes: Nodes | None = None) -> tuple[JobId, ...]:
    """Return the jobs that must leave before replicas can start on all of these places.

    `nodes`: the nodes to look at; None means those of the state.
    """
    if not state.leaving_replicas:
        return ()
    nodes = nodes or state.nodes
    on_node: dict[int, list[Placed]] = {}
    for place in places:
        on_node.setdefault(place.node, []).append(place)
    found: dict[JobId, None] = {}
    for index, here in on_node.items():
        node = nodes[index]
        if not node.leavers:
            continue
        wanted: dict[int, int] = {}
        for _, _, devices, shape in here:
            milli = min(shape.gpu_milli, WHOLE_GPU)
            for device in devices:
                wanted[device] = wanted.get(device, 0) + milli
        crowded = node.overbooked_with(
            sum(p.shape.cpu_milli for p in here), sum(p.shape.memory_mib for p in here)
        )
        free, _, _ = node.left(True)
        tight = {device for device, milli in wanted.items() if free[device] < milli}
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
    nodes = state.nodes
    return tuple([say.ReplicaPlace(p.replica, nodes[p.node].spec.name, p.devices) for p in places])


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
