"""How does a unit come to stand, and cease to: on its devices, in its quotas, in the limits of its owner?

Units are kept by class (what policies look at), so that indexes can memoise by class and the cheapest are at hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from quotatree.core.model.effort import NODES_KEPT
from quotatree.core.model.job import Claim, Job, Placed
from quotatree.core.model.policy import Module
from quotatree.core.model.quota import Quota
from quotatree.core.model.quota_arithmetic import charge, charge_surplus, followed_down, loan_on_path
from quotatree.core.model.unit import Unit, UnitClass, UnitKind, total_footprint
from quotatree.core.state.facts import limits_on
from quotatree.core.state.leaving import LeavingChanges
from quotatree.core.state.protection import ProtectionChanges
from quotatree.core.state.quota_values import QuotaValues


class UnitChanges(ProtectionChanges, LeavingChanges, QuotaValues):
    """Changes of units and their classes."""

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
        """Put a unit on its devices, and count it in its quotas and in the limits of its owner."""
        self._place(unit)
        self.on_undo(self._displace, unit)
        if self.touched is not None:
            self._touch_job(unit.job)
        if _may_help(unit):
            self.bump(unit.job.quota)

    def displace(self, unit: Unit, *, leaves: bool = True, in_place: bool = False) -> None:
        """Take a unit off its devices and quotas; `leaves`: for good, not to be placed again in another form.

        `in_place`: its places are taken again at once, though its quotas are left.
        """
        self._displace(unit)
        self.on_undo(self._place, unit)
        if self.touched is not None:
            self._touch_job(unit.job)
        self.bump(unit.job.quota)
        if leaves and unit.cls.claim is not Claim.IDLE:
            self._follow_use_down(unit.job.quota)
        if leaves and not in_place:
            for index in unit.nodes:
                if self.nodes[index].crowded:
                    self.settle_foreign(self.nodes[index])

    def vacate(self, units: Sequence[Unit]) -> None:
        """Take units off their quotas for good, and let all their replicas leave; none is a hold or stands on a crowded node.

        As `displace` and `begin_leaving` of each of them, but every node, class of units and quota is written once.
        """
        on_node: defaultdict[int, list[Unit]] = defaultdict(list)
        of_class: defaultdict[UnitClass, list[Unit]] = defaultdict(list)
        for unit in units:
            of_class[unit.cls].append(unit)
            for index in unit.nodes:
                on_node[index].append(unit)
            if unit.protected_until_ms:
                self._count_protected(unit, -1)
            self._count_leaving(unit.job, unit.places)
            if self.touched is not None:
                self._touch_job(unit.job)
        for index, there in on_node.items():
            self.nodes[index].vacate(there)
            self.log_change(index)
        for alike in of_class.values():
            self._count(alike, -1)
        self.on_undo(self._occupy_again, units)
        quotas = dict.fromkeys([alike[0].job.quota for alike in of_class.values()])
        for tree in dict.fromkeys([mate for quota in quotas for mate in quota.tree.pool_mates]):
            self._raise_version(tree)
        for cls, alike in of_class.items():
            if cls.claim is not Claim.IDLE:
                self._follow_use_down(alike[0].job.quota)

    def _occupy_again(self, units: Sequence[Unit]) -> None:
        for unit in reversed(units):
            self._end_leaving(unit.job, unit.places)
            self._place(unit)

    def _follow_use_down(self, quota: Quota) -> None:
        """Let the min of shrinking quotas along a path follow their use, which has become less (Q5)."""
        for above in quota.path:
            if above.shrinking:
                actual, still_above = followed_down(above)
                self.set_actual(above, actual, still_above)

    def _place(self, unit: Unit) -> None:
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self.nodes[index].put(unit, held)
            self.log_change(index)
        self._count((unit,), 1)
        if unit.protected_until_ms:
            self._count_protected(unit, 1)

    def _displace(self, unit: Unit) -> None:
        held = unit.cls.kind is UnitKind.HOLD
        for index in unit.nodes:
            self.nodes[index].take_away(unit, held=held)
            self.log_change(index)
        self._count((unit,), -1)
        if unit.protected_until_ms:
            self._count_protected(unit, -1)

    def _count(self, units: Sequence[Unit], sign: int) -> None:
        """Count (1) or discount (-1) units of one class, in their quotas and in the limits of their owners."""
        quota, cls = units[0].job.quota, units[0].cls
        tree, footprint = quota.tree, units[0].footprint if len(units) == 1 else total_footprint(units)
        idle = cls.claim is Claim.IDLE
        charge(quota, footprint, sign, idle)
        self.log_stir(quota)
        if not idle:
            of_priority = quota.own_by_priority.get(cls.priority)
            if of_priority is None:
                of_priority = quota.own_by_priority[cls.priority] = [0, 0, 0]
            gpu_milli, cpu_milli, memory_mib = footprint
            of_priority[0] += sign * gpu_milli
            of_priority[1] += sign * cpu_milli
            of_priority[2] += sign * memory_mib
        if sign > 0 and not idle and not tree.loans:
            tree.loans = loan_on_path(quota)
        if sign < 0 and len(units) > 1:
            cls.remove_all(units)
        else:
            for unit in units:
                cls.count(unit, sign)
        if idle:
            for mate in tree.pool_mates:
                mate.idle_units += sign * len(units)
        elif cls.kind is UnitKind.SURPLUS:
            tree.surplus_units += sign * len(units)
            charge_surplus(quota, footprint, sign)
        if len(tree.root.spec.draws) > 1:
            for place in [place for unit in units for place in unit.places]:
                pool = self.nodes[place.node].spec.pool
                tree.pool_used[pool] = tree.pool_used.get(pool, 0) + sign * place.shape.gpu_milli
        if self.limits:
            for unit in units:
                for limit in limits_on(self, unit.job):
                    used = self.limit_used.get(limit, 0)
                    self.limit_used[limit] = used + sign * unit.footprint.gpu_milli

    def reprice(self, unit: Unit, started_ms: int | None = None) -> None:
        """Compute the unit's cost anew after a checkpoint or a confirmed start.

        `started_ms`: the confirmed start; None: the start stays as it is.
        """
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
        self.on_undo(become, before)

    def unit_class(
        self, quota: Quota, priority: int, module: Module, kind: UnitKind, claim: Claim
    ) -> UnitClass:
        key = (quota.spec.id, priority, module, kind, claim)
        found = self._classes.get(key)
        if found is None:
            found = UnitClass(len(self._classes), quota, priority, module, kind, claim)
            self._classes[key] = found
            self._classes_of.setdefault(quota.root.id, []).append(found)
            gives_way = claim is Claim.IDLE or kind is UnitKind.SURPLUS
            part = self._giving_way_in if gives_way else self._classes_at
            part.setdefault(quota.root.id if gives_way else quota.id, []).append(found)
        return found

    def classes_below(self, root: Quota) -> list[UnitClass]:
        """Return all classes of units of a tree, also those without units now; the list only grows until it is remade."""
        return self._classes_of.get(root.id, [])

    def classes_at(self, quota: Quota) -> list[UnitClass]:
        """Return those of `classes_below` that a right is needed for and that are of this very quota."""
        return self._classes_at.get(quota.id, [])

    def classes_giving_way(self, root: Quota) -> list[UnitClass]:
        """Return those of `classes_below` that give way to regular work without a policy: idle ones and surplus."""
        return self._giving_way_in.get(root.id, [])

    def index_table(self, kind: str) -> dict[Any, Any]:
        """Return the search indexes of one kind, the one not used for longest first."""
        found: dict[Any, Any] | None = self.indexes.get(kind)
        if found is None:
            found = self.indexes[kind] = {}
        return found

    def keep_indexes(self, kind: str) -> None:
        """Make room for one more index of a kind: where all have as many nodes as may be kept, drop the one not used for longest."""
        table = self.index_table(kind)
        if table and (len(table) + 1) * len(self.nodes) > NODES_KEPT:
            del table[next(iter(table))]

    def forget_indexes(self) -> None:
        """Drop all search indexes after rights have changed, and again when that is undone."""
        self.indexes.clear()
        self.on_undo(self.indexes.clear)

    def forget_classes(self) -> None:
        """Make all classes anew and drop all indexes after the tree itself changed, since both depend on its numbers."""
        standing = [unit for job in self.jobs.values() for unit in units_of(job)]
        for old in [*self._classes.values(), *(unit.cls for unit in standing)]:
            old.clear()  # the journal may still know units of it
        self._classes = {}
        self._classes_of, self._classes_at, self._giving_way_in = {}, {}, {}
        self.indexes.clear()
        for unit in standing:
            cls = unit.cls
            unit.cls = self.unit_class(unit.job.quota, cls.priority, cls.module, cls.kind, cls.claim)
            unit.cls.count(unit, 1)


def _may_help(unit: Unit) -> bool:
    """Return whether placing this unit, which is counted already, may let a job start that failed before.

    What a unit takes was free a moment ago, and a job that now has a right to take it could not start on that either. So
    placing helps nobody, but where rights depend on how much a quota uses: above its min a sibling may claim what it lent
    (P15) and pass a guard (S10), and a reserved part that is used is out of nobody's way any more (Q8).
    """
    tree = unit.job.quota.tree
    if tree.shares_reserved or tree.guard is not None:
        return True
    # While the tree has no loan, as `_count` has just found out, none of its quotas is above its min.
    if unit.cls.claim is Claim.IDLE or not tree.loans:
        return False
    return loan_on_path(unit.job.quota)


def units_of(job: Job) -> list[Unit]:
    """Return all units of a job: its core, the replicas beyond it and its hold."""
    found = [job.core] if job.core is not None else []
    found += job.extras.values()
    if job.hold is not None:
        found.append(job.hold.unit)
    return found
