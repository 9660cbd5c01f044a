"""Who may be taken for whom: the eligible units of each step of P4, as a signature that indexes can be kept for.

A signature is the preemptor's quota plus clauses; a clause is a part of the tree with the priorities and modules that may
be taken there, and the rule it comes from. How much of them may be taken together is another question (protections.py).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import NamedTuple

from quotatree.core.model.job import Claim
from quotatree.core.model.policy import HIGHEST_PRIORITY, Priorities, Reach, reach
from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import has_loan, loan
from quotatree.core.model.rights import Work, kept_from
from quotatree.core.model.tree import Tree
from quotatree.core.model.unit import Unit, UnitClass, UnitKind
from quotatree.core.reasons import Code
from quotatree.core.state import State


class Entitled(NamedTuple):
    """Under which rule a class of units may be taken, on which rung of the ladder (P5), and whether that frees quota."""

    rule: Code
    rung: int
    honours_min_runtime: bool
    frees_quota: bool
    down_to_min: bool

    def spares(self, unit: Unit, now_ms: int) -> bool:
        """Return whether a unit of the class may not be taken yet, since it has not run for long enough (P11)."""
        return self.honours_min_runtime and unit.protected_until_ms > now_ms


class Clause(NamedTuple):
    """Regular work of the quotas in [first, last) without [skip_first, skip_last), by tree number."""

    rule: Code
    first: int
    last: int
    reach: Reach
    honours_min_runtime: bool = False
    down_to_min: bool = False  # takes only while the sibling is above its min
    skip_first: int = 0
    skip_last: int = 0
    asked_for: tuple[int, ...] = ()  # of a return: the resources in which the sibling must be above its min

    def matches(self, cls: UnitClass) -> bool:
        tin = cls.quota.tin
        if not self.first <= tin < self.last or self.skip_first <= tin < self.skip_last:
            return False
        return bool(self.reach & cls.bit)

    def reaches_into(self, first: int, last: int) -> bool:
        """Return whether it is about a quota with a tree number in [first, last)."""
        first, last = max(first, self.first), min(last, self.last)
        return first < last and not self.skip_first <= first < last <= self.skip_last

    def entitles(self, cls: UnitClass) -> Entitled:
        """Return how it lets a class be taken that it matches."""
        return Entitled(self.rule, cls.rung, self.honours_min_runtime, True, self.down_to_min)

    def matched(self, state: State, tree: Tree) -> list[tuple[int, tuple[UnitClass, Entitled]]]:
        """Return the classes that it lets be taken, each with its number.

        Clauses of siblings are alike but for what they skip, so the classes of all of them are kept once.
        """
        if self.skip_first == self.skip_last:
            at = (state.classes_at(quota) for quota in tree.numbered[self.first : self.last])
            return [
                (cls.index, (cls, self.entitles(cls)))
                for classes in at
                for cls in classes
                if self.reach & cls.bit
            ]
        alike = self._replace(skip_first=0, skip_last=0)
        key = ("matched", tree.root.id, alike)
        known: _Matched | None = state.indexes.get(key)
        if known is None:
            known = state.indexes[key] = _Matched(alike)
        first, last = self.skip_first, self.skip_last
        return [e for e in known.up_to_now(state, tree) if not first <= e[1][0].quota.tin < last]


class Signature:
    """The classes of units that one kind of preemptor may take in one step; each class is decided once.

    `only_own`: it gives a right over work of the preemptor's own quota at most, beside what gives way to anybody.
    """

    __slots__ = (
        "_among", "_classes", "_known", "asked_for", "bounded", "clauses", "key", "only_own", "priority", "quota", "short_at", "spared",
        "work",
    )  # fmt: skip

    def __init__(
        self,
        work: Work,
        clauses: tuple[Clause, ...],
        key: tuple[object, ...] = (),
        short_at: Quota | None = None,
        spared: frozenset[QuotaId] = frozenset(),
    ) -> None:
        self.work = work
        self.spared = spared  # quotas whose own borrowers are not taken: others have a larger share (I4)
        self.short_at = work.quota if short_at is None else short_at
        self.quota = work.quota
        self.priority = work.priority
        self.clauses = clauses
        self.key = key
        self.bounded = any(c.down_to_min for c in clauses)
        self.asked_for = next((c.asked_for for c in clauses if c.rule is Code.ReturnOfLoan), ())
        self._known: dict[int, Entitled | None] = {}
        self._classes: list[tuple[UnitClass, Entitled]] = []
        self.only_own = all(c.first == self.quota.tin == c.last - 1 for c in clauses)
        self._among = [0, 0]  # numbers of classes decided so far; the lists of them only grow

    def binds(self) -> bool:
        """Return whether bounds limit what may be taken together: reserved parts, or siblings that stop at their min."""
        return self.bounded or self.quota.tree.shares_reserved

    def classes_in(self, state: State) -> list[tuple[UnitClass, Entitled]]:
        """Return the classes of the taker's tree that may be taken, in their order. Those known already are not asked again."""
        root = self.quota.root
        if self.only_own:
            parts = [state.classes_giving_way(root), state.classes_at(self.quota)]
        else:
            parts = [state.classes_below(root)]
            if not self._among[0]:
                self._classes = self._first_look(state)
                self._among[0] = len(parts[0])
        for number, classes in enumerate(parts):
            for position in range(self._among[number], len(classes)):
                cls = classes[position]
                entitled = self.entitled(cls)
                if entitled is not None:
                    insort(self._classes, (cls, entitled), key=_number)
            self._among[number] = len(classes)
        return self._classes

    def units_in(self, state: State, now_ms: int) -> Iterator[tuple[Entitled, Unit]]:
        """Yield the units of the taker's tree that may be taken now, by class."""
        for cls, entitled in self.classes_in(state):
            for bucket in cls.buckets.values():
                for *_, unit in bucket:
                    if not entitled.spares(unit, now_ms):
                        yield entitled, unit

    def _first_look(self, state: State) -> list[tuple[UnitClass, Entitled]]:
        """Return the classes that may be taken, in their order; of clauses that reach the same work, siblings look only once."""
        found: dict[int, tuple[UnitClass, Entitled]] = {}
        bounded = [clause for clause in self.clauses if clause.down_to_min]
        others = [clause for clause in self.clauses if not clause.down_to_min]
        for clause in (
            *reversed(bounded),
            *reversed(others),
        ):  # the first decides; those without a bound before the others
            found.update(clause.matched(state, self.quota.tree))
        for cls in state.classes_giving_way(self.quota.root):
            entitled = self.entitled(cls)
            if entitled is not None:
                found[cls.index] = (cls, entitled)
        return [found[index] for index in sorted(found)]

    def entitled(self, cls: UnitClass) -> Entitled | None:
        known = self._known
        index = cls.index
        if index in known:
            return known[index]
        known[index] = found = self._decide(cls)
        return found

    def frees_quota(self, cls: UnitClass) -> bool:
        """Return whether units of the class may be taken, and their leaving frees quota for the taker."""
        entitled = self.entitled(cls)
        return entitled is not None and entitled.frees_quota

    def _decide(self, cls: UnitClass) -> Entitled | None:
        if cls.claim is Claim.IDLE:
            if cls.quota.id in self.spared:
                return None
            return Entitled(Code.IdleTakenBack, 0, False, False, False)
        if cls.quota.tree is not self.quota.tree:
            return None
        if cls.kind is UnitKind.SURPLUS:
            frees = self.short_at.contains(cls.quota)
            return Entitled(Code.SurplusGivesWay, 0, False, frees, False)
        down_to_min = None
        for clause in self.clauses:
            if clause.matches(cls):
                found = clause.entitles(cls)
                if not clause.down_to_min:
                    return found
                down_to_min = down_to_min or found
        return down_to_min


class _Matched:
    """The classes that a clause lets be taken, as far as classes were looked at; both lists only grow."""

    __slots__ = ("_among", "_clause", "_found")

    def __init__(self, clause: Clause) -> None:
        self._clause, self._among = clause, 0
        self._found: list[tuple[int, tuple[UnitClass, Entitled]]] = []

    def up_to_now(self, state: State, tree: Tree) -> list[tuple[int, tuple[UnitClass, Entitled]]]:
        clause, classes = self._clause, state.classes_below(tree.root)
        for position in range(self._among, len(classes)):
            cls = classes[position]
            if cls.claim is not Claim.IDLE and cls.kind is not UnitKind.SURPLUS and clause.matches(cls):
                self._found.append((cls.index, (cls, clause.entitles(cls))))
        self._among = len(classes)
        return self._found


def _number(entry: tuple[UnitClass, Entitled]) -> int:
    return entry[0].index


def surplus_below(state: State, quota: Quota) -> list[Unit]:
    """Return the regular surplus replicas of a quota and of all below it (P12)."""
    return [
        unit
        for cls in state.classes_giving_way(quota.root)
        if cls.kind is UnitKind.SURPLUS and cls.claim is Claim.REGULAR and quota.contains(cls.quota)
        for bucket in cls.buckets.values()
        for *_, unit in bucket
    ]


def own_clause(quota: Quota, priority: int) -> Clause | None:
    """Return the clause by which a job of this priority takes from its own quota (P1); None if it may take nobody."""
    taken = quota.spec.self_level.own(priority)
    if not taken:
        return None
    return Clause(Code.SelfLevelOwn, quota.tin, quota.tin + 1, taken, honours_min_runtime=True)


def descendants_clause(quota: Quota) -> Clause | None:
    policy = quota.spec.child_level
    if policy is None or policy.off or not quota.children:
        return None
    return Clause(Code.ChildLevel, quota.tin + 1, quota.tout, policy.reach, honours_min_runtime=True)


def descendants_above_min(quota: Quota) -> tuple[Clause, ...]:
    """Return the clauses of child-level for descendants that are above their min, down to it; P4 prefers them."""
    all_below = descendants_clause(quota)
    if all_below is None or not quota.tree.loans:
        return ()
    return tuple(
        all_below._replace(first=below.tin, last=below.tout, down_to_min=True)
        for below in quota.subtree()
        if below is not quota and has_loan(below)
    )


def sibling_clauses(quota: Quota, priority: int, above_min_only: bool) -> tuple[Clause, ...]:
    """Return the clauses of self-level beside the quota: siblings above their min (down to it), or all, with their subtrees.

    Empty if the quota's policies let this priority take nobody in siblings.
    """
    taken = quota.spec.self_level.beside(priority)
    if not taken or quota.parent is None:
        return ()
    if above_min_only:
        if not quota.tree.loans:
            return ()
        return tuple(
            Clause(Code.SelfLevelSibling, s.tin, s.tout, taken, honours_min_runtime=True, down_to_min=True)
            for s in quota.siblings()
            if has_loan(s)
        )
    parent = quota.parent
    return (
        Clause(
            Code.SelfLevelSibling,
            parent.tin + 1,
            parent.tout,
            taken,
            honours_min_runtime=True,
            skip_first=quota.tin,
            skip_last=quota.tout,
        ),
    )


def return_clauses(
    state: State, claimant: Work, short: list[int], asked_for: tuple[int, ...]
) -> tuple[Clause, ...]:
    """Return the clauses of P15: regular work of equal or lower priority in siblings that are above their min, down to it.

    `short`: the resources that are short; a sibling counts if the claimant may claim part of its loan in one of them.
    `asked_for`: the resources that are wanted; others do not make a sibling one that is above its min.
    """
    quota = claimant.quota
    if not quota.tree.loans:
        return ()
    return tuple(
        Clause(
            Code.ReturnOfLoan,
            s.tin,
            s.tout,
            reach(Priorities(1, claimant.priority)),
            down_to_min=True,
            asked_for=asked_for,
        )
        for s in above_min_beside(state, quota)
        if any((over := loan(s, i)) and over > kept_from(s, claimant, i) for i in short)
    )


def above_min_beside(state: State, quota: Quota) -> list[Quota]:
    """Return the siblings that are above their min. Those of one parent are looked for once in a state, however many jobs wait."""
    parent = quota.parent
    if parent is None:
        return []
    noted = quota.tree.above_min
    known = noted.get(parent.id)
    if known is None or known[0] != state.all_changes:
        known = noted[parent.id] = (
            state.all_changes,
            [child for child in parent.children if has_loan(child)],
        )
    return [s for s in known[1] if s is not quota]


def all_of(quota: Quota, rule: Code, above_min_only: bool) -> tuple[Clause, ...]:
    """Return the clauses of scaling with reclaim (Q5): all regular units of the subtree.

    `above_min_only`: only those of descendants above their min, down to it.
    """
    everyone = reach(Priorities(1, HIGHEST_PRIORITY))
    if not above_min_only:
        return (Clause(rule, quota.tin, quota.tout, everyone),)
    return tuple(
        Clause(rule, q.tin, q.tout, everyone, down_to_min=True)
        for q in quota.subtree()
        if q is not quota and has_loan(q)
    )
