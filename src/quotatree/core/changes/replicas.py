"""What do the replicas of a running job count as: core, wanted or surplus (P12)?

While fewer replicas run than the core should have, all of them are the core. Beyond it, as many as the job wants are wanted,
and the rest is surplus. Only where these numbers change does a replica become something else: regular before idle, the
oldest first, then by number. So one of the surplus becomes wanted when a wanted one goes.
"""

from __future__ import annotations

from quotatree.core.model.job import Claim, Job, Placed
from quotatree.core.model.unit import Unit, UnitKind
from quotatree.core.state import State


def add_replicas(
    state: State, job: Job, places: tuple[Placed, ...], claim: Claim, now_ms: int, *, surplus: bool = False
) -> None:
    """Put replicas beyond the core of a running job on their places; `settle` says afterwards what they count as."""
    kind = UnitKind.SURPLUS if surplus else UnitKind.WANTED
    for place in places:
        unit = state.make_unit(job, kind, claim, (place,), now_ms)
        state.place(unit)
        state.put_entry(job.extras, place.replica, unit)


def settle(state: State, job: Job, now_ms: int, *, waited: bool = False, surplus: bool = False) -> int:
    """Make every replica of a running job what it counts as now, and queue the job if it wants more.

    `waited`: it wanted more before, and goes on waiting; that is also known from its queue or its hold. `surplus`: nothing has
    changed but that it got one more replica of surplus. Returns how many replicas joined the core.
    """
    if job.core is None:
        return 0
    queued = job.quota.queue.of_job.get(job.id)
    waited = waited or job.hold is not None or (queued is not None and queued.grows)
    joined = 0
    core = job.core.places
    all_surplus = surplus and len(core) >= max(job.core_replicas, job.spec.wanted_replicas)
    if job.extras and not all_surplus:
        joined = _fill_core(state, job)
        room = max(0, job.spec.wanted_replicas - len(job.core.places))
        if not _in_place(job, room):
            for position, unit in enumerate(_in_order(job)):
                kind = UnitKind.WANTED if position < room else UnitKind.SURPLUS
                if unit.cls.kind is not kind:
                    _replace(state, job, unit, kind, unit.cls.claim)
        reprice_replicas(state, job)
    if state.surplus_failed:
        state.remember_surplus(job, None)
    elastic = job.quota.tree.elastic
    if job.core_replicas < job.spec.most_replicas:
        state.put_entry(elastic, job.id, job)
    elif job.id in elastic:
        state.drop_entry(elastic, job.id)
    missing = job.missing_replicas
    if missing and not waited:
        state.set_queued(job, now_ms)
    may_wait = missing or job.extras or job.claim is Claim.IDLE
    if queued is not None or (may_wait and job.queued):
        state.requeue(job)
    return joined


def reprice_replicas(state: State, job: Job) -> None:
    """Give each replica beyond the core of a service its part of an outage: one of all that run now (P6)."""
    for unit in job.extras.values():
        if unit.is_surplus or unit.slope:
            continue
        if unit.base != unit.constant_cost(state.settings.eas_outage_ms):
            state.reprice(unit)


def shrink_core(state: State, job: Job) -> None:
    """Make the core of a running job as small as it should be; its last replicas become units of their own."""
    old = job.core
    assert old is not None
    keep, rest = old.places[: job.core_replicas], old.places[job.core_replicas :]
    if rest:
        _set_core(state, job, keep)
        add_replicas(state, job, rest, job.claim, old.started_ms)


def change_replica_claim(state: State, job: Job, number: int, claim: Claim) -> None:
    """Give one replica beyond the core another claim, in place (I1)."""
    unit = job.extras[number]
    _replace(state, job, unit, unit.cls.kind, claim, leaves=True)


def _fill_core(state: State, job: Job) -> int:
    """Make replicas of the core's own claim part of a core that is too small; return how many."""
    assert job.core is not None
    missing = job.core_replicas - len(job.core.places)
    if missing <= 0:
        return 0
    chosen = [unit for unit in _in_order(job) if unit.cls.claim is job.claim][:missing]
    places = job.core.places
    for unit in chosen:
        state.displace(unit, leaves=False)
        state.drop_entry(job.extras, unit.places[0].replica)
        places += unit.places
    if chosen:
        _set_core(state, job, places)
    return len(chosen)


def _in_place(job: Job, room: int) -> bool:
    """Return whether all replicas beyond the core count already as what they should, of which `room` are wanted."""
    wanted = idle_wanted = regular_surplus = 0
    for unit in job.extras.values():
        cls = unit.cls
        if cls.kind is UnitKind.WANTED:
            wanted += 1
            idle_wanted += cls.claim is Claim.IDLE
        elif cls.claim is not Claim.IDLE:
            regular_surplus += 1
    return wanted == min(room, len(job.extras)) and not (idle_wanted and regular_surplus)


def _in_order(job: Job) -> list[Unit]:
    """Return the replicas beyond the core, those first that are to be wanted rather than surplus."""
    return sorted(
        job.extras.values(),
        key=lambda u: (u.cls.claim is Claim.IDLE, u.is_surplus, u.started_ms, u.places[0].replica),
    )


def _set_core(state: State, job: Job, places: tuple[Placed, ...]) -> None:
    """Let the core stand on other places; it keeps its start and checkpoint."""
    old = job.core
    assert old is not None
    state.displace(old, leaves=False)
    core = state.make_unit(job, UnitKind.CORE, job.claim, places, old.started_ms)
    state.place(core)
    state.set_core(job, core)


def _replace(
    state: State, job: Job, unit: Unit, kind: UnitKind, claim: Claim, *, leaves: bool = False
) -> None:
    """Put another unit in the place of one replica; `leaves`: it leaves its quotas, for an idle claim, or comes into them."""
    state.displace(unit, leaves=leaves, in_place=True)
    again = state.make_unit(job, kind, claim, unit.places, unit.started_ms)
    state.place(again)
    state.put_entry(job.extras, unit.places[0].replica, again)
