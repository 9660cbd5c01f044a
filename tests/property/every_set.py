"""What is the best lawful set of victims for one waiting job? Every set of a small cluster is looked at (P4, P5, P7, Q8)."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import (
    NO_SELF_LEVEL,
    ChildLevel,
    Module,
    Priorities,
    Scope,
    SelfLevel,
    SelfLevels,
)
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.quota_arithmetic import shortage
from quotatree.core.model.resources import Bounds, Resources
from quotatree.core.model.rights import may_borrow
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Step
from quotatree.core.state import State
from tests.property import rights
from tests.property.fitting import devices_fit, quota_fits
from tests.property.model import JobView, Model, Piece, total
from tests.property.walk import step_by_step
from tests.property.worlds import MINUTE_MS, chance, pick

NOW_MS = 1_000_000_000
OUTAGE_MS = 3_600_000
TAKER = JobId("taker")
MOST = 11
"""Units that may be taken, at most, for all their sets to be looked at."""
TOGETHER = rights.ORDER.index(Step.SIBLINGS_ABOVE_MIN)
"""From here on steps are one: the lowest highest priority decides, then the first part that has it (P4)."""


class Taken(NamedTuple):
    """A set of victims as P4 and P5 compare it; the least is the best."""

    step: int
    """Its number in the order of the rules; one number for descendants and siblings together."""
    highest: int
    part: int
    cost: int


def best_of_all(model: Model) -> Taken | None:
    """Return the best lawful set with which the taker fits, of one step with victims; None if there is none.

    Cores only: no job of the model may have replicas beyond its core, or hold anything.
    """
    taker = model.jobs[TAKER]
    step_of = _first_steps(model, taker)
    best: Taken | None = None
    for size in range(len(step_of) + 1):
        for pieces in combinations(step_of, size):
            first = max((step_of[piece] for piece in pieces), default=0)
            for step in rights.ORDER[first:]:
                found = _as_taken(model, pieces, step)
                if best is not None and found >= best:
                    break
                if _works(model, taker, pieces, step):
                    best = found
                    break
    return best


def of_plan(state: State) -> Taken | None:
    """Return what a plan takes for the taker, as `best_of_all` does; None if it takes nobody. The plan is applied."""
    with step_by_step():
        decisions = plan(state, NOW_MS).decisions
    for decision in decisions:
        if isinstance(decision, say.Start | say.Hold) and decision.job == TAKER:
            ledger = decision.preemption
            if ledger is None:
                return Taken(0, 0, 0, 0)
            part = rights.ORDER.index(rights.step_of(ledger))
            return Taken(min(part, TOGETHER), ledger.highest_priority, part, ledger.cost)
    return None


def _first_steps(model: Model, taker: JobView) -> dict[Piece, int]:
    """Return the pieces that may be taken in some step, each with the number of the first."""
    found: dict[Piece, int] = {}
    for number, step in enumerate(rights.ORDER):
        for piece in model.pieces():
            if piece not in found and rights.may_take(model, taker, piece, step, NOW_MS):
                found[piece] = number
    return found


def _as_taken(model: Model, pieces: tuple[Piece, ...], step: Step) -> Taken:
    part = rights.ORDER.index(step)
    highest = max((rights.ladder(model, piece) for piece in pieces), default=0)
    cost = sum(rights.cost(model, piece, NOW_MS, OUTAGE_MS) for piece in pieces)
    return Taken(min(part, TOGETHER), highest, part, cost)


def _works(model: Model, taker: JobView, pieces: tuple[Piece, ...], step: Step) -> bool:
    wanted = [shape for _, shape in model.missing(taker)]
    loan = rights.at_least(step, Step.LOAN) and rights.may_borrow(model, taker)
    return (
        quota_fits(model, taker.quota, total(wanted), pieces, loan=loan, past_guard=True)
        and rights.lawful_together(model, taker, pieces, step, NOW_MS) is None
        and devices_fit(model, model.root(taker.quota), wanted, pieces)
    )


def may_be_counted(model: Model) -> bool:
    """Return whether so few units may be taken that all their sets can be looked at."""
    return len(_first_steps(model, model.jobs[TAKER])) <= MOST


# -- clusters ------------------------------------------------------------------------------------------------------


def crowded(random: Random, *groups: ReplicaGroup) -> State | None:
    """Return a small cluster full of work, in which the taker waits at `a` for these replicas; None if they can never fit.

    `a` has a child with a reserved part, as a rule, or shrinks: then it may not borrow (Q5, Q8). `b` may have borrowed.
    """
    state = State()
    gpus = 0
    for number in range(random.randint(2, 3)):
        size = pick(random, 1, 2, 4)
        gpus += size
        apply(state, ev.NodeJoined(NodeSpec(f"n{number}", gpus=size)), NOW_MS)
    apply(state, ev.QuotaCreated(QuotaSpec(QuotaId("r"), draws=(("default", Bounds(gpus * 1000)),))), NOW_MS)
    _quotas(random, state, gpus)
    for number in range(14):
        _adopt(random, state, number)
    try:
        if chance(random, 30):
            low = random.randint(0, state.quotas[QuotaId("a")].min[0] or 0)
            apply(state, ev.QuotaScaled("a", Bounds(low), mode=ev.ScaleMode.LAZY), NOW_MS)
    except Refused:
        pass  # what is below it needs more
    try:
        apply(
            state,
            ev.JobSubmitted(JobSpec(TAKER, "a", groups, NOW_MS, priority=pick(random, 9, 9, 6, 4))),
            NOW_MS,
        )
    except Refused:
        return None
    return state


def _quotas(random: Random, state: State, gpus: int) -> None:
    def policy(low: int, most: int, scope: Scope) -> SelfLevels:
        return SelfLevels.of(SelfLevel(Priorities(low, 9), Priorities(1, most), frozenset(Module), scope))

    def quota(name: str, parent: str, size: int, reserves: int, **fields: Any) -> None:
        reserved = Resources(random.randint(0, size) * 1000 if chance(random, reserves) else 0)
        spec = QuotaSpec(QuotaId(name), QuotaId(parent), Bounds(size * 1000), reserved=reserved, **fields)
        apply(state, ev.QuotaCreated(spec), NOW_MS)

    a = random.randint(1, gpus)
    b = random.randint(0, gpus - a)
    scope = pick(random, Scope.LEVEL, Scope.LEVEL, Scope.LEVEL, Scope.OWN, Scope.SIBLINGS)
    below = ChildLevel(Priorities(1, random.randint(1, 6)), frozenset(Module)) if chance(random, 60) else None
    quota("a", "r", a, 0, self_level=policy(6, random.randint(3, 5), scope), child_level=below)
    quota("a.x", "a", random.randint(0, a), 80)
    quota("b", "r", b, 30, self_level=policy(4, 3, Scope.LEVEL) if chance(random, 70) else NO_SELF_LEVEL)
    quota("c", "r", gpus - a - b, 0)


def _adopt(random: Random, state: State, number: int) -> None:
    """Let one more job run, perhaps on a loan, if its quotas and nodes have room for it."""
    group = ReplicaGroup(pick(random, 1, 1, 1, 2), Shape(pick(random, 1000, 1000, 2000, 2000, 3000), 0, 0))
    name = pick(random, "a", "a", "b", "b", "c", "a.x", "r")
    module = pick(random, Module.DLC, Module.DLC, Module.DSW)
    spec = JobSpec(
        JobId(f"j{number:02}"), name, (group,), NOW_MS, priority=random.randint(1, 5), module=module
    )
    quota = state.quotas[QuotaId(name)]
    request = Resources(group.shape.gpu_milli * group.replicas)
    lent = chance(random, 60) and may_borrow(quota, spec.priority)
    if shortage(quota, request, loan_allowed=lent, past_guard=True) is None:
        try:
            apply(state, ev.JobAdopted(spec, NOW_MS - random.randint(0, 90) * MINUTE_MS), NOW_MS)
        except Refused:
            return  # no node has room
