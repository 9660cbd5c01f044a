"""The world as the brain sees it, kept up to date by small reversible changes, never rebuilt for a plan.

Everything that writes goes through the methods below; each can be undone, so that a preview (X3) or a failed commit
leaves no trace: `begin()`, change what you like, `rollback()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import Any, Final

from quotatree.core.fragmentation import Typical
from quotatree.core.job import Claim, Hold, Job, JobId, Phase, Placed
from quotatree.core.journal import Journal
from quotatree.core.mix import Mix
from quotatree.core.node import Node, NodeSpec, NodeState
from quotatree.core.policy import Module
from quotatree.core.queueing import WaitClass
from quotatree.core.quota import AmountLimit, Quota, QuotaId, charge, followed_down, has_loan
from quotatree.core.shape import number, share_pools
from quotatree.core.touched import Touched
from quotatree.core.unit import Unit, UnitClass, UnitKind

HOLD_MARGIN_MS: Final = 60_000
CHANGES_KEPT: Final = 500_000
NOTHING_KNOWN: Final = Typical({})


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator may tune for the whole cluster; times in milliseconds, 0 switches off."""

    aging_interval_ms: int = 600_000
    balance_timeout_ms: int = 300_000
    starvation_guard_ms: int = 3_600_000
    eas_outage_ms: int = 3_600_000


class State(Journal):
    """Nodes, quotas, jobs and the counters between them."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.pools: dict[str, bool] = {}  # name -> mixed
        self.pool_models: dict[str, dict[str, None]] = {}  # GPU models seen in each pool
        self.mixes: dict[str, Mix] = {}  # what is asked for, by pool
        self.picture = 0  # names the pictures of all mixes that hold now; see mix.py
        self._pictures_made = 0
        self.nodes: list[Node] = []
        self.node_by_name: dict[str, Node] = {}
        self.quotas: dict[QuotaId, Quota] = {}
        self.roots: list[Quota] = []
        self.jobs: dict[JobId, Job] = {}
        self.held: dict[JobId, Job] = {}
        self.awaited: dict[JobId, dict[JobId, Job]] = {}  # a leaving job -> holds that wait for it
        self.elastic: dict[JobId, Job] = {}
        self.waiting_quotas: dict[QuotaId, Quota] = {}
        self.limits: dict[str, tuple[AmountLimit, ...]] = {}
        self.limit_used: dict[AmountLimit, int] = {}
        self.leaving_jobs: dict[JobId, Job] = {}
        self.leaving_replicas = 0
        self.surplus_failed: dict[JobId, int] = {}  # root version at which no surplus replica fitted
        self.protected: dict[tuple[int, QuotaId], int] = {}  # units by the end of their min_runtime, by tree
        self.protections: list[tuple[int, QuotaId]] = []  # a heap of these ends; some stand there in vain
        self.protections_ended_ms = 0  # all that ended up to here have been dealt with
        self.changes: list[int] = []
        self.changes_epoch = 0
        self.nodes_version = 0
        self.nodes_out = 0  # nodes that are not ready
        self.ready_version = 0  # rises whenever a node joins or changes its state
        self.indexes: dict[Any, Any] = {}  # search indexes live here; see placement.py and candidates.py
        self._classes: dict[tuple[object, ...], UnitClass] = {}
        self._classes_of: dict[QuotaId, list[UnitClass]] = {}
        self._tree_changed = False
        self.touched: Touched | None = None

    def begin(self, *, watch: bool = False) -> None:
        """From here on every change can be taken back; `watch`: and `touched` tells what was written."""
        super().begin()
        self._tree_changed = False
        self.touched = Touched() if watch else None

    def commit(self) -> None:
        super().commit()
        self.touched = None

    def rollback(self) -> None:
        super().rollback()
        self.touched = None

    def _written(self, target: Any, name: str) -> None:
        if self.touched is not None:
            self.touched.note(target, name)

    def _undone(self) -> None:
        """Remembered failures are forgotten too: they may be of the future undone."""
        if self._tree_changed:
            # Units that stand again may be of classes from before the change, which nobody looks at any more.
            self.reshape(*self.roots)
        for quota in self.quotas.values():
            quota.version += 1
        for quota in self.waiting_quotas.values():
            quota.queue.forget_failures()

    # -- nodes -----------------------------------------------------------------------------------------------

    def add_pool(self, name: str, mixed: bool) -> None:
        self.put_entry(self.pools, name, mixed)
        if self.touched is not None:
            self.touched.pools[name] = None

    def add_node(self, spec: NodeSpec) -> Node:
        node = Node(len(self.nodes), spec)
        self.nodes.append(node)
        self.put_entry(self.node_by_name, spec.name, node)
        if spec.gpus:
            if spec.pool not in self.pool_models:
                self.put_entry(self.pool_models, spec.pool, {})
            self.put_entry(self.pool_models[spec.pool], spec.model, None)
        self._nodes_changed()
        self.on_undo(self._last_node_gone)
        if self.touched is not None:
            self.touched.nodes[spec.name] = None
        return node

    def _last_node_gone(self) -> None:
        """Undo a join: indexes and the log of changes may still name the node."""
        self.nodes.pop()
        self.changes = []
        self.changes_epoch += 1
        self._nodes_changed()

    def _nodes_changed(self) -> None:
        self.nodes_version += 1
        self.ready_version += 1
        self._bump_everyone()

    def set_node_state(self, node: Node, wanted: NodeState) -> None:
        before = node.state

        def become(now: NodeState) -> None:
            self.nodes_out += (now is not NodeState.READY) - (node.state is not NodeState.READY)
            node.state = now
            node.touch()
            self.log_change(node.index)
            self.ready_version += 1
            self._bump_everyone()

        become(wanted)
        self.on_undo(lambda: become(before))
        if self.touched is not None:
            self.touched.nodes[node.spec.name] = None

    def nodes_of(self, root: Quota) -> list[Node]:
        """The nodes a tree draws on."""
        pools = {pool for pool, _ in root.spec.draws}
        return [node for node in self.nodes if node.spec.pool in pools]

    def log_change(self, index: int) -> None:
        """Tell the indexes that a node is not what it was."""
        self.changes.append(index)
        if len(self.changes) > CHANGES_KEPT:
            self.changes = []
            self.changes_epoch += 1

    def _bump_everyone(self) -> None:
        for root in self.roots:
            root.version += 1

    def bump(self, quota: Quota) -> None:
        """Something may have become possible in this tree and in those that share its pools."""
        for root in quota.path[-1].pool_mates:
            root.version += 1

    # -- the tree --------------------------------------------------------------------------------------------

    def add_quota(self, quota: Quota) -> None:
        """A quota joins the tree as the last of its siblings."""
        self.insert_quota(quota, max((q.order for q in self.quotas.values()), default=0) + 1)
        self.reshape(quota.root)
        self.on_undo(lambda: self._leave_tree(quota))

    def insert_quota(self, quota: Quota, order: int) -> None:
        """A quota takes its place in the tree; `reshape` must follow."""
        quota.order = order
        parent = quota.parent
        quota.path = (quota, *(parent.path if parent is not None else ()))
        self._enter_tree(quota)

    def remove_quota(self, quota: Quota) -> None:
        self._leave_tree(quota)
        self.reshape(*([] if quota.parent is None else [quota.root]))
        self.on_undo(lambda: self._enter_tree(quota))

    def _enter_tree(self, quota: Quota) -> None:
        beside = self.roots if quota.parent is None else quota.parent.children
        beside.append(quota)
        beside.sort(key=lambda q: q.order)
        self.quotas[quota.id] = quota
        self._tree_changed = True
        self._touch_quota(quota)

    def _leave_tree(self, quota: Quota) -> None:
        (self.roots if quota.parent is None else quota.parent.children).remove(quota)
        del self.quotas[quota.id]
        self._tree_changed = True
        self._touch_quota(quota)

    def _touch_quota(self, quota: Quota) -> None:
        if self.touched is not None:
            self.touched.quotas[quota.id] = None

    def reshape(self, *changed: Quota) -> None:
        """The form of these trees is another one: refresh what hangs on it."""
        for root in changed:
            number(root)
        share_pools(self.roots, self._idle_units())
        self.forget_classes()
        self._bump_everyone()

    def _idle_units(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for job in self.jobs.values():
            if job.claim is Claim.IDLE and job.core is not None:
                root = job.quota.root.id
                found[root] = found.get(root, 0) + 1 + len(job.surplus)
        return found

    def put_limits(self, quota: Quota, limits: tuple[AmountLimit, ...]) -> None:
        if limits:
            self.put_entry(self.limits, quota.id, limits)
        else:
            self.drop_entry(self.limits, quota.id)
        self._touch_quota(quota)

    # -- units -----------------------------------------------------------------------------------------------

    def unit_class(
        self, quota: Quota, priority: int, module: Module, kind: UnitKind, claim: Claim
    ) -> UnitClass:
        key = (quota.spec.id, priority, module, kind, claim)
        found = self._classes.get(key)
        if found is None:
            found = UnitClass(len(self._classes), quota, priority, module, kind, claim)
            self._classes[key] = found
            self._classes_of.setdefault(quota.root.id, []).append(found)
        return found

    def classes_below(self, root: Quota) -> list[UnitClass]:
        """All classes of units that ever stood in a tree."""
        return self._classes_of.get(root.id, [])

    def keep_indexes(self, kind: str, most: int) -> None:
        """Make room for one more index of a kind: the one not used for longest goes."""
        same = [key for key in self.indexes if key[0] == kind]
        if len(same) >= most:
            del self.indexes[same[0]]

    def forget_indexes(self) -> None:
        """Rights have changed: who is eligible for whom must be asked anew, also after an undo."""
        self.indexes.clear()
        self.on_undo(self.indexes.clear)

    def forget_classes(self) -> None:
        """After the tree itself changed: indexes memoise by class and by place in the tree."""
        standing = [unit for job in self.jobs.values() for unit in units_of(job)]
        for old in [*self._classes.values(), *(unit.cls for unit in standing)]:
            old.clear()  # the journal may still know units of it
        self._classes = {}
        self._classes_of = {}
        self.indexes.clear()
        for unit in standing:
            cls = unit.cls
            unit.cls = self.unit_class(unit.job.quota, cls.priority, cls.module, cls.kind, cls.claim)
            unit.cls.count(unit, 1)

    def make_unit(
        self, job: Job, kind: UnitKind, claim: Claim, places: tuple[Placed, ...], started_ms: int
    ) -> Unit:
        cls = self.unit_class(job.quota, job.priority, job.spec.module, kind, claim)
        unit = Unit(job, cls, places, started_ms)
        unit.price(self.settings.eas_outage_ms, job.checkpoint_ms)
        if kind is not UnitKind.HOLD:
            min_runtime_ms = job.quota.min_runtime_ms
            if min_runtime_ms:
                unit.protected_until_ms = started_ms + min_runtime_ms
        return unit

    def place(self, unit: Unit) -> None:
        """Let a unit stand: on its devices, in its quotas, in the limits of its owner."""
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self.nodes[index].put(unit, held)
            self.log_change(index)
        self._count(unit, 1)
        if unit.protected_until_ms:
            self._count_protected(unit, 1)
        if self._journal is not None:
            self._journal.append(lambda: self._displace(unit))
            if self.touched is not None:
                self.touched.jobs[unit.job.id] = None

    def displace(self, unit: Unit, *, leaves: bool = True) -> None:
        """Take a unit off its devices and quotas; `leaves`: for good, not to stand again in another form."""
        self._displace(unit)
        if self._journal is not None:
            self._journal.append(lambda: self.place(unit))
            if self.touched is not None:
                self.touched.jobs[unit.job.id] = None
        if leaves and unit.cls.claim is not Claim.IDLE:
            for above in unit.job.quota.path:
                if above.shrinking:
                    actual, still_above = followed_down(above)
                    self.set(above, "actual", actual)
                    self.set(above, "shrinking", still_above)

    def lift(self, unit: Unit) -> None:
        """Take a unit off for a moment, to see what would fit; `lower` must follow. Nobody is told."""
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self.nodes[index].take_away(unit, held)
            self.log_change(index)
        self._count(unit, -1)

    def lower(self, unit: Unit) -> None:
        """Undo `lift`; or let a unit stand for a moment, to be lifted again."""
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self.nodes[index].put(unit, held)
            self.log_change(index)
        self._count(unit, 1)

    def _displace(self, unit: Unit) -> None:
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self.nodes[index].take_away(unit, held)
            self.log_change(index)
        self._count(unit, -1)
        if unit.protected_until_ms:
            self._count_protected(unit, -1)
        self.bump(unit.job.quota)

    def _count(self, unit: Unit, sign: int) -> None:
        quota, cls = unit.job.quota, unit.cls
        idle = cls.claim is Claim.IDLE
        charge(quota, unit.footprint, sign, idle)
        if sign > 0 and not idle and not quota.path[-1].loans:
            quota.path[-1].loans = any(has_loan(above) for above in quota.path)
        cls.count(unit, sign)
        if idle:
            for root in quota.path[-1].pool_mates:
                root.idle_units += sign
        if cls.kind is UnitKind.SURPLUS:
            quota.surplus_units += sign
        root = quota.path[-1]
        if len(root.spec.draws) > 1:
            for place in unit.places:
                pool = self.nodes[place.node].spec.pool
                root.pool_used[pool] = root.pool_used.get(pool, 0) + sign * place.shape.gpu_milli
        if self.limits:
            for limit in limits_on(self, unit.job):
                self.limit_used[limit] = self.limit_used.get(limit, 0) + sign * unit.footprint.gpu_milli

    def reprice(self, unit: Unit, started_ms: int | None = None) -> None:
        """The job checkpointed, or its start was confirmed: its cost is another one now."""
        before = (unit.started_ms, unit.base, unit.slope, unit.anchor_ms, unit.interval_ms)

        def become(price: tuple[int, int, int, int, int | None] | None) -> None:
            unit.cls.count(unit, -1)
            if price is not None:
                unit.started_ms, unit.base, unit.slope, unit.anchor_ms, unit.interval_ms = price
            else:
                unit.started_ms = before[0] if started_ms is None else started_ms
                unit.price(self.settings.eas_outage_ms, unit.job.checkpoint_ms)
            unit.cls.count(unit, 1)
            for index in unit.nodes:
                self.nodes[index].touch()
                self.log_change(index)

        become(None)
        self.on_undo(lambda: become(before))

    def protect(self, unit: Unit) -> None:
        """Its start was confirmed, or min_runtime of its quota changed: protected until another time (P11)."""
        min_runtime_ms = unit.job.quota.min_runtime_ms
        until = unit.started_ms + min_runtime_ms if min_runtime_ms else 0
        before = unit.protected_until_ms
        if until == before:
            return

        def become(end_ms: int) -> None:
            self._count_protected(unit, -1)
            unit.protected_until_ms = end_ms
            self._count_protected(unit, 1)
            for index in unit.nodes:
                self.nodes[index].touch()
                self.log_change(index)

        become(until)
        self.on_undo(lambda: become(before))

    def _count_protected(self, unit: Unit, sign: int) -> None:
        """There must be a plan when this unit can be taken."""
        end_ms = unit.protected_until_ms
        if not end_ms:
            return
        end = (end_ms, unit.job.quota.root.id)
        count = self.protected.get(end, 0) + sign
        if not count:
            del self.protected[end]
            return
        self.protected[end] = count
        if count == 1 and sign > 0 and end_ms > self.protections_ended_ms:
            heappush(self.protections, end)

    def next_protection_end(self) -> list[int]:
        """When min_runtime of somebody who stands ends next."""
        while self.protections and self.protections[0] not in self.protected:
            heappop(self.protections)
        return [end_ms for end_ms, _ in self.protections[:1]]

    def end_protections(self, now_ms: int) -> None:
        """Work whose min_runtime is over can be taken now: who failed because of it may be tried again (P11)."""
        if now_ms > self.protections_ended_ms:
            self.set(self, "protections_ended_ms", now_ms)
        while self.protections and self.protections[0][0] <= now_ms:
            ended = heappop(self.protections)
            if ended in self.protected:
                self.on_undo(partial(heappush, self.protections, ended))
                self.bump(self.quotas[ended[1]])

    # -- jobs ------------------------------------------------------------------------------------------------

    def learn(self, job: Job) -> None:
        """Its request belongs to the usual ones of the pools it may stand on."""
        for pool, _ in job.quota.path[-1].spec.draws:
            mix = self.mixes.get(pool)
            if mix is None:
                mix = self.mixes[pool] = Mix()
            for group in job.spec.groups:
                if group.shape.gpu_milli:
                    mix.count(group.shape, group.replicas)
                    if self.touched is not None:
                        self.touched.pools[pool] = None
                    if self._journal is not None:
                        self._journal.append(partial(mix.count, group.shape, -group.replicas))
            if mix.seen >= mix.next_picture:
                self.set(mix, "next_picture", 2 * mix.seen)
                self.set(mix, "typical", Typical(dict(mix.counts)))
                self._pictures_made += 1  # never taken back: a number names the same pictures for ever
                self.set(self, "picture", self._pictures_made)

    def typical(self, pool: str) -> Typical:
        """The requests by which places in a pool are judged."""
        mix = self.mixes.get(pool)
        return mix.typical if mix is not None else NOTHING_KNOWN

    def tell(self, job: Job, now_ms: int, what: str) -> None:
        """Append to the job's story; a story of an undone future is shortened again."""
        job.story.append(f"{now_ms} {what}")
        self.on_undo(lambda: job.story.__delitem__(-1))
        if self.touched is not None:
            self.touched.jobs[job.id] = None

    def move(self, job: Job, phase: Phase, now_ms: int, why: str) -> None:
        """Along an edge of the state machine, or raise (A5)."""
        job.check_transition(phase)
        self.set(job, "phase", phase)
        self.set(job, "reason", why)
        self.set(job, "told", None)
        self.tell(job, now_ms, f"{phase.value}: {why}" if why else phase.value)

    def forget_job(self, job: Job) -> None:
        self.drop_entry(self.jobs, job.id)
        self.surplus_failed.pop(job.id, None)
        if self.touched is not None:
            self.touched.jobs[job.id] = None

    def enqueue(self, job: Job) -> None:
        quota = job.quota
        delayed = bool(quota.preemption_delay_ms)
        quota.queue.add(job, limits_on(self, job) if self.limits else (), delayed)
        self.waiting_quotas[quota.id] = quota
        self.on_undo(lambda: self._unqueue(job))

    def dequeue(self, job: Job) -> None:
        if job.id not in job.quota.queue.of_job:
            return
        left = self._unqueue(job)
        self.on_undo(lambda: self._back_in_queue(job, left))

    def _unqueue(self, job: Job) -> WaitClass:
        queue = job.quota.queue
        found = queue.remove(job)
        if not queue.of_job:
            self.waiting_quotas.pop(job.quota.id, None)
        return found

    def _back_in_queue(self, job: Job, cls: WaitClass) -> None:
        """Undo a dequeue: into the class it was in, whatever else of the job is not yet undone."""
        job.quota.queue.put_back(job, cls)
        self.waiting_quotas[job.quota.id] = job.quota

    def requeue(self, job: Job) -> None:
        """Its request is another one now: out of its class and into the right one, or out of the queue."""
        self.dequeue(job)
        if job.queued:
            self.enqueue(job)

    def begin_leaving(self, job: Job, places: tuple[Placed, ...]) -> None:
        """Evicted replicas keep their devices busy until the engine confirms (P9)."""
        for place in places:
            self.nodes[place.node].leave(job.id, place, 1)
            self.log_change(place.node)
            job.leaving[place.replica] = place
        if places:
            self.leaving_jobs[job.id] = job
        self.leaving_replicas += len(places)
        self.on_undo(lambda: self._end_leaving(job, places))
        if self.touched is not None:
            self.touched.jobs[job.id] = None

    def end_leaving(self, job: Job, places: tuple[Placed, ...]) -> None:
        self._end_leaving(job, places)
        self.on_undo(lambda: self.begin_leaving(job, places))
        if self.touched is not None:
            self.touched.jobs[job.id] = None

    def _end_leaving(self, job: Job, places: tuple[Placed, ...]) -> None:
        for place in places:
            self.nodes[place.node].leave(job.id, place, -1)
            self.log_change(place.node)
            del job.leaving[place.replica]
        if not job.leaving:
            self.leaving_jobs.pop(job.id, None)
        self.leaving_replicas -= len(places)
        self.bump(job.quota)

    def set_hold(self, job: Job, hold: Hold | None) -> None:
        if job.hold is not None:
            for leaver in job.hold.waiting_on:
                self.drop_entry(self.awaited.get(leaver, {}), job.id)
        self.set(job, "hold", hold)
        if hold is None:
            self.drop_entry(self.held, job.id)
            return
        self.put_entry(self.held, job.id, job)
        for leaver in hold.waiting_on:
            self.put_entry(self.awaited.setdefault(leaver, {}), job.id, job)


def units_of(job: Job) -> list[Unit]:
    """Everything of a job that can be evicted."""
    found = [job.core] if job.core is not None else []
    found += job.surplus.values()
    if job.hold is not None:
        found.append(job.hold.unit)
    return found


def limits_on(state: State, job: Job) -> tuple[AmountLimit, ...]:
    """Amount limits that bind this job (W3); all must hold, so the strictest wins."""
    return tuple(
        limit
        for limit in state.limits.get(job.quota.id, ())
        if limit.subject in job.spec.subjects and limit.low <= job.priority <= limit.high
    )
