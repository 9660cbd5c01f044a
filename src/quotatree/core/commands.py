"""What an event does: check it against the rules, then change the state. Refused means nothing changed.

`apply` returns the decisions an event brings about by itself (a drain, a lost node, a scaling with reclaim evict at
once); everything else is left to the next plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quotatree.core import act, quota_commands
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.errors import Refused
from quotatree.core.job import FINAL_PHASES, Claim, Idle, Job, JobId, JobSpec, Phase, Placed, Shape
from quotatree.core.node import Node, NodeState
from quotatree.core.placement import find_places
from quotatree.core.plan import count_preemption
from quotatree.core.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY
from quotatree.core.quota import Quota, QuotaId
from quotatree.core.reasons import Code, because
from quotatree.core.resources import RESOURCE_NAMES, WHOLE_GPU, amount_text
from quotatree.core.state import State
from quotatree.core.unit import UnitKind

Decisions = tuple[say.Decision, ...]


def apply(state: State, event: ev.Event, now_ms: int) -> Decisions:
    """Let one event happen."""
    return _HANDLERS[type(event)](state, event, now_ms)


# -- pools and nodes ---------------------------------------------------------------------------------------------


def _pool_declared(state: State, event: ev.PoolDeclared, now_ms: int) -> Decisions:
    del now_ms
    if event.pool in state.pools:
        raise Refused("pool", event.pool, "R4", "exists already")
    state.pools[event.pool] = event.mixed
    return ()


def _node_joined(state: State, event: ev.NodeJoined, now_ms: int) -> Decisions:
    del now_ms
    spec = event.node
    known = state.node_by_name.get(spec.name)
    if known is not None:
        if known.spec != spec:
            raise Refused("node", spec.name, "R2", "exists already with other properties")
        return _node_changed(state, ev.NodeChanged(spec.name, NodeState.READY), 0)
    if spec.gpus < 0 or spec.cpu_milli < 0 or spec.memory_mib < 0:
        raise Refused("node", spec.name, "R2", "GPUs, CPU and memory must not be negative")
    mixed = state.pools.setdefault(spec.pool, False)
    others = set(state.pool_models.get(spec.pool, ()))
    if not mixed and spec.gpus and others and spec.model not in others:
        raise Refused(
            "model", spec.model, "R4",
            f"pool {spec.pool} holds {others.pop()} nodes; declare it mixed or use another pool",
        )  # fmt: skip
    state.add_node(spec)
    return ()


def _node_changed(state: State, event: ev.NodeChanged, now_ms: int) -> Decisions:
    node = state.node_by_name.get(event.node)
    if node is None:
        raise Refused("node", event.node, "R2", "no such node")
    state.set_node_state(node, event.state)
    if event.state is NodeState.LOST:
        return _lose(state, node, now_ms)
    if event.state is NodeState.DRAINING:
        return _drain(state, node, now_ms)
    if event.state is NodeState.CORDONED:
        return _cordon(state, node, now_ms)
    return ()


def _cordon(state: State, node: Node, now_ms: int) -> Decisions:
    """Nothing new lands, so whoever was promised places here is planned anew (R5, P9)."""
    held = sorted((u for u in node.units if u.cls.kind is UnitKind.HOLD), key=lambda u: u.name)
    reason = because(Code.NodeCordoned, node=node.spec.name)
    return tuple(act.release(state, unit.job, now_ms, reason, again=True) for unit in held)


def _drain(state: State, node: Node, now_ms: int) -> Decisions:
    """Everybody leaves with grace and is queued again, gangs whole; not a preemption (R5)."""
    reason = because(Code.NodeDrained, node=node.spec.name)
    found: list[say.Decision] = []
    while node.units:
        unit = min(node.units, key=lambda u: (u.cls.kind is not UnitKind.CORE, u.name))
        found.append(act.evict(state, unit, now_ms, reason, None, counts=False))
    return tuple(found)


def _lose(state: State, node: Node, now_ms: int) -> Decisions:
    """What stood here is gone at once; what its jobs had elsewhere leaves with grace (R5)."""
    reason = because(Code.NodeLost, node=node.spec.name)
    found: list[say.Decision] = []
    while node.units:
        unit = min(node.units, key=lambda u: (u.cls.kind is not UnitKind.CORE, u.name))
        found.append(act.evict(state, unit, now_ms, reason, None, counts=False))
    for job in list(state.leaving_jobs.values()):
        dead = tuple(p for p in job.leaving.values() if p.node == node.index)
        if dead:
            _left(state, job, dead)
    return tuple(found)


# -- jobs --------------------------------------------------------------------------------------------------------


def _job(state: State, job_id: JobId) -> Job:
    job = state.jobs.get(job_id)
    if job is None:
        raise Refused("job", job_id, "section 4", "no such job")
    return job


def _new_job(state: State, spec: JobSpec) -> Job:
    quota = state.quotas.get(QuotaId(spec.quota))
    if quota is None:
        raise Refused("quota", spec.quota, "W1", "no such quota")
    known = state.jobs.get(spec.id)
    if known is not None and known.phase not in FINAL_PHASES:
        raise Refused("job", spec.id, "section 4", "exists already")
    if known is not None and known.leaving:
        raise Refused("job", spec.id, "P9", "an earlier job of this name is still leaving its devices")
    check_can_ever_fit(state, spec, quota)
    return Job(
        spec, quota, priority=spec.priority, core_replicas=spec.core_replicas, queued_ms=spec.submitted_ms
    )


def check_can_ever_fit(state: State, spec: JobSpec, quota: Quota) -> None:
    """S11: refuse what no departure of others could ever make fit, naming the bound."""
    total = [0, 0, 0]
    left = spec.core_replicas
    for group in spec.groups:
        count = min(left, group.replicas)
        left -= count
        for i in range(3):
            total[i] += group.shape.resources[i] * count
    for above in quota.path:
        policy = quota.spec.self_level
        lends = policy is not None and policy.reaches_siblings and policy.lets_preempt(spec.priority)
        if above is quota and lends and quota.parent is not None:
            continue
        if spec.idle is Idle.ONLY and above is not quota.root:
            continue
        for i, bound in above.named:
            if total[i] > bound:
                raise Refused(
                    RESOURCE_NAMES[i], amount_text(i, total[i]), "S11",
                    f"can never fit: the min of {above.id} is {amount_text(i, bound)}",
                )  # fmt: skip
    for group in spec.groups:
        key = ("suits", quota.root.id, group.shape)
        if state.indexes.get(key) != state.nodes_version:
            _check_some_node(group.shape, state.nodes_of(quota.root), quota)
            state.indexes[key] = state.nodes_version
    _check_all_at_once(state, spec, quota)


def _check_all_at_once(state: State, spec: JobSpec, quota: Quota) -> None:
    """All replicas of the core must have room at once, if nobody else were there."""
    if spec.core_replicas == 1:
        return
    left = spec.core_replicas
    wanted: dict[Shape, int] = {}
    for group in spec.groups:
        count = min(left, group.replicas)
        left -= count
        wanted[group.shape] = wanted.get(group.shape, 0) + count
    for shape, count in wanted.items():
        key = ("all slots", quota.root.id, shape)
        known: tuple[int, int] | None = state.indexes.get(key)
        if known is None or known[0] != state.nodes_version:
            slots = sum(n.slots_when_empty(shape) for n in state.nodes_of(quota.root) if n.accepts(shape))
            known = state.indexes[key] = (state.nodes_version, slots)
        if known[1] < count:
            raise Refused(
                "replicas", count, "S11",
                f"can never fit: the nodes of {quota.root.id} hold {known[1]} replicas of this size at once",
            )  # fmt: skip


def _check_some_node(shape: Any, nodes: list[Node], quota: Quota) -> None:
    models = {n.spec.model for n in nodes}
    if shape.models and not models & set(shape.models):
        raise Refused(
            "models", list(shape.models), "S11", f"the tree of {quota.root.id} has only {sorted(models)}"
        )
    for node in nodes:
        spec = node.spec
        if shape.models and spec.model not in shape.models:
            continue
        if any(node.labels.get(key) != value for key, value in shape.labels):
            continue
        if (
            shape.gpu_milli <= spec.gpus * WHOLE_GPU
            and shape.cpu_milli <= spec.cpu_milli
            and shape.memory_mib <= spec.memory_mib
        ):
            return
    largest = max((n.spec.gpus for n in nodes), default=0)
    raise Refused(
        "request", amount_text(0, shape.gpu_milli), "S11",
        f"one replica is larger than any node it may use; the largest has {largest} GPU",
    )  # fmt: skip


def _submitted(state: State, event: ev.JobSubmitted, now_ms: int) -> Decisions:
    job = _new_job(state, event.job)
    _register(state, job)
    state.tell(job, now_ms, "submitted")
    state.enqueue(job)
    return ()


def _register(state: State, job: Job) -> None:
    state.put_entry(state.jobs, job.id, job)
    state.put_entry(job.quota.jobs, job.id, job)


def _adopted(state: State, event: ev.JobAdopted, now_ms: int) -> Decisions:
    """A job that runs already. Quota limits are not checked: what runs, runs."""
    job = _new_job(state, event.job)
    replicas = event.replicas if event.replicas is not None else job.spec.total_replicas
    indexes = list(range(max(replicas, job.core_replicas)))
    places = event.places
    if not places:
        wanted = [(i, job.shape_of(i)) for i in indexes]
        found = find_places(state, job.quota.root, wanted, now=True)
        if found is None:
            raise Refused("job", job.id, "R3", "runs, but there are no free devices to place it on")
        places = found
    _check_places(state, job, places)
    _register(state, job)
    claim = Claim.IDLE if event.idle else Claim.REGULAR
    state.move(job, Phase.RUNNING, now_ms, "adopted")
    state.set(job, "claim", claim)
    state.set(job, "run", 1)
    state.set(job, "started_ms", event.started_ms)
    state.set(job, "checkpoint_ms", event.checkpoint_ms)
    core = tuple(p for p in places if p.replica < job.core_replicas)
    unit = state.make_unit(job, UnitKind.CORE, claim, core, event.started_ms)
    state.place(unit)
    state.set(job, "core", unit)
    for place in places:
        if place.replica >= job.core_replicas:
            extra = state.make_unit(job, UnitKind.SURPLUS, claim, (place,), event.started_ms)
            state.place(extra)
            state.put_entry(job.surplus, place.replica, extra)
    if job.spec.elastic:
        state.put_entry(state.elastic, job.id, job)
    if job.queued:
        state.enqueue(job)
    return ()


def _check_places(state: State, job: Job, places: tuple[Placed, ...]) -> None:
    if len({p.replica for p in places}) != len(places) or len(places) < job.core_replicas:
        raise Refused(
            "place", job.id, "R3", f"must name a place for each of its {job.core_replicas} replicas"
        )
    taken: dict[tuple[int, int], int] = {}
    for place in places:
        node = state.nodes[place.node]
        milli = min(place.shape.gpu_milli, WHOLE_GPU)
        if len(place.devices) != max(place.shape.whole_gpus, 1 if place.shape.fraction_milli else 0):
            raise Refused(
                "place", f"{node.spec.name}:{place.devices}", "R3", "names the wrong number of devices"
            )
        for device in place.devices:
            if not 0 <= device < len(node.free):
                raise Refused("place", f"{node.spec.name}:{device}", "R3", "no such device")
            before = taken.get((place.node, device), 0)
            if node.free[device] - before < milli:
                raise Refused("place", f"{node.spec.name}:{device}", "R3", "the device is taken already")
            taken[(place.node, device)] = before + milli


def _started(state: State, event: ev.JobStarted, now_ms: int) -> Decisions:
    """The engine confirms; the run's clock starts now."""
    job = _job(state, event.job)
    if job.phase is Phase.RUNNING and job.run == event.run and job.core is not None:
        state.set(job, "started_ms", now_ms)
        state.reprice(job.core, now_ms)
        state.protect(job.core)
    return ()


def _checkpointed(state: State, event: ev.JobCheckpointed, now_ms: int) -> Decisions:
    job = _job(state, event.job)
    if job.phase is Phase.RUNNING and job.core is not None:
        state.set(job, "checkpoint_ms", now_ms)
        state.reprice(job.core)
    return ()


def _ended(state: State, event: ev.JobEnded, now_ms: int) -> Decisions:
    job = _job(state, event.job)
    if event.phase not in (Phase.SUCCEEDED, Phase.FAILED, Phase.STOPPED):
        raise Refused("phase", event.phase.value, "A5", "a job ends as Succeeded, Failed or Stopped")
    if job.phase is not Phase.RUNNING:
        raise Refused("job", job.id, "A5", f"is {job.phase.value}, not Running")
    act.stop_everything(state, job)
    _finish(state, job, event.phase, now_ms, "ended")
    return ()


def _finish(state: State, job: Job, phase: Phase, now_ms: int, why: str) -> None:
    act.clear_guard(state, job)
    state.move(job, phase, now_ms, why)
    if phase in FINAL_PHASES:
        state.drop_entry(job.quota.jobs, job.id)


def _job_left(state: State, event: ev.JobLeft, now_ms: int) -> Decisions:
    del now_ms
    job = _job(state, event.job)
    wanted = event.replicas if event.replicas is not None else tuple(job.leaving)
    _left(state, job, tuple(job.leaving[i] for i in wanted if i in job.leaving))
    return ()


def _left(state: State, job: Job, places: tuple[Placed, ...]) -> None:
    """Confirmed gone: devices are free, and whoever waited for this job waits for one fewer."""
    if not places:
        return
    state.end_leaving(job, places)
    if not job.leaving and job.id in job.quota.queue.of_job:
        state.requeue(job)
    for other in list(state.awaited.get(job.id, {}).values()):
        if other.hold is not None and not _in_the_way(job, other):
            rest = tuple(j for j in other.hold.waiting_on if j != job.id)
            state.set(other.hold, "waiting_on", rest)
            state.drop_entry(state.awaited[job.id], other.id)
    if not state.awaited.get(job.id):
        state.drop_entry(state.awaited, job.id)


def _in_the_way(job: Job, other: Job) -> bool:
    """Does what is still leaving of a job stand where another one has a hold? A later eviction elsewhere does not."""
    if job is other or other.hold is None:
        return bool(job.leaving)
    for leaving in job.leaving.values():
        for place in other.hold.unit.places:
            if place.node != leaving.node:
                continue
            shape, mine = place.shape, leaving.shape
            if (shape.cpu_milli and mine.cpu_milli) or (shape.memory_mib and mine.memory_mib):
                return True
            if not set(place.devices).isdisjoint(leaving.devices):
                return True
    return False


def _cancelled(state: State, event: ev.JobCancelled, now_ms: int) -> Decisions:
    """Whatever it was doing, it stops; a hold is released, victims already told to stop stop (P9)."""
    job = _job(state, event.job)
    if job.phase in FINAL_PHASES:
        raise Refused("job", job.id, "A5", f"is {job.phase.value} already")
    found: list[say.Decision] = []
    if job.phase is Phase.RUNNING:
        places = act.stop_everything(state, job)
        state.begin_leaving(job, places)
        replicas = tuple(sorted(p.replica for p in places))
        reason = because(Code.CancelledByOwner)
        found.append(say.Stop(job.id, job.run, replicas, job.spec.grace_ms, reason))
    else:
        state.dequeue(job)
        if job.hold is not None:
            act.drop_hold(state, job)
    _finish(state, job, Phase.CANCELLED, now_ms, "cancelled")
    return tuple(found)


def _resubmitted(state: State, event: ev.JobResubmitted, now_ms: int) -> Decisions:
    job = _job(state, event.job)
    if job.phase is not Phase.STOPPED:
        raise Refused("job", job.id, "P14", f"is {job.phase.value}; only a stopped job can be started again")
    state.set(job, "queued_ms", now_ms)
    state.set(job, "claim", Claim.REGULAR)
    state.move(job, Phase.WAITING, now_ms, "resubmitted")
    state.enqueue(job)
    return ()


def _priority_changed(state: State, event: ev.JobPriorityChanged, now_ms: int) -> Decisions:
    job = _job(state, event.job)
    if job.phase is not Phase.WAITING:
        raise Refused(
            "priority", event.priority, "W5", f"{job.id} is {job.phase.value}; works only while it waits"
        )
    if not LOWEST_PRIORITY <= event.priority <= HIGHEST_PRIORITY:
        raise Refused("priority", event.priority, "section 1", "must be 1..9")
    state.dequeue(job)
    state.set(job, "priority", event.priority)
    state.tell(job, now_ms, f"priority {event.priority}")
    state.enqueue(job)
    return ()


def _resized(state: State, event: ev.JobResized, now_ms: int) -> Decisions:
    """P12: a larger core is a waiting request of the job with all its rights; a smaller one makes surplus."""
    job = _job(state, event.job)
    if len(job.spec.groups) != 1 or not 1 <= event.min_replicas <= job.spec.total_replicas:
        raise Refused(
            "min_replicas", event.min_replicas, "P12", f"must be 1..{job.spec.total_replicas} (replicas)"
        )
    if job.phase in FINAL_PHASES:
        raise Refused("job", job.id, "A5", f"is {job.phase.value}")
    found: Decisions = ()
    if job.hold is not None:
        found = (act.release(state, job, now_ms, because(Code.CoreResized), again=True),)
    act.clear_guard(state, job)
    state.dequeue(job)
    state.set(job, "core_replicas", event.min_replicas)
    state.tell(job, now_ms, f"min_replicas {event.min_replicas}")
    if job.core is not None and len(job.core_indexes) > event.min_replicas:
        _shrink_core(state, job, event.min_replicas)
    if job.core is not None:
        state.put_entry(state.elastic, job.id, job)
        if len(job.core_indexes) < event.min_replicas:
            state.set(job, "queued_ms", now_ms)
    if job.queued:
        state.enqueue(job)
    return found


def _shrink_core(state: State, job: Job, size: int) -> None:
    """Replicas beyond the smaller core run on as surplus."""
    old = job.core
    assert old is not None
    state.displace(old, leaves=False)
    keep, extra = old.places[:size], old.places[size:]
    core = state.make_unit(job, UnitKind.CORE, job.claim, keep, old.started_ms)
    state.place(core)
    state.set(job, "core", core)
    for place in extra:
        unit = state.make_unit(job, UnitKind.SURPLUS, job.claim, (place,), old.started_ms)
        state.place(unit)
        state.put_entry(job.surplus, place.replica, unit)


def _loan_returned(state: State, event: ev.LoanReturned, now_ms: int) -> Decisions:
    found = quota_commands.return_loan(state, event, now_ms)
    return (*found, *_count_all(state, found, now_ms))


def _scaled(state: State, event: ev.QuotaScaled, now_ms: int) -> Decisions:
    found = quota_commands.scale(state, event, now_ms)
    return (*found, *_count_all(state, found, now_ms))


def _transferred(state: State, event: ev.QuotaTransferred, now_ms: int) -> Decisions:
    found = quota_commands.transfer(state, event, now_ms)
    return (*found, *_count_all(state, found, now_ms))


def _count_all(state: State, found: Decisions, now_ms: int) -> Decisions:
    more: list[say.Decision] = []
    for decision in found:
        if isinstance(decision, say.Evict) and decision.counts:
            more += count_preemption(state, state.jobs[decision.job], now_ms)
    return tuple(more)


_HANDLERS: dict[type[Any], Callable[[State, Any, int], Decisions]] = {
    ev.PoolDeclared: _pool_declared,
    ev.NodeJoined: _node_joined,
    ev.NodeChanged: _node_changed,
    ev.QuotaCreated: quota_commands.create,
    ev.QuotaUpdated: quota_commands.update,
    ev.QuotaScaled: _scaled,
    ev.QuotaTransferred: _transferred,
    ev.QuotaDeleted: quota_commands.delete,
    ev.LoanReturned: _loan_returned,
    ev.LimitsSet: quota_commands.set_limits,
    ev.JobSubmitted: _submitted,
    ev.JobAdopted: _adopted,
    ev.JobStarted: _started,
    ev.JobCheckpointed: _checkpointed,
    ev.JobEnded: _ended,
    ev.JobLeft: _job_left,
    ev.JobCancelled: _cancelled,
    ev.JobResubmitted: _resubmitted,
    ev.JobPriorityChanged: _priority_changed,
    ev.JobResized: _resized,
}
