"""Who may take from whom: modules, priority ranges and the two preemption policies (P1, P2).

A policy belongs to the quota whose *waiting* jobs benefit from it. Both are values, checked when they are made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, NewType

from quotatree.core.errors import Refused

LOWEST_PRIORITY: Final = 1
HIGHEST_PRIORITY: Final = 9


class Module(Enum):
    """What kind of work a job is."""

    __hash__ = object.__hash__  # each member is one object; an Enum would hash its name at every look-up

    DLC = "DLC"  # training, runs to completion
    DSW = "DSW"  # notebook, interactive
    EAS = "EAS"  # inference service, stays up


class Scope(Enum):
    """In which quotas a self-level policy reaches running jobs: its own, its siblings, or both (P1)."""

    OWN = "own"
    SIBLINGS = "siblings"
    LEVEL = "level"


class Strategy(Enum):
    """How a queue goes on behind a blocked head (S1-S4)."""

    FIFO = "fifo"
    TRAVERSE = "traverse"
    BALANCE = "balance"
    INTELLIGENT = "intelligent"


STRATEGY_ALIASES: Final = {
    "PaiStrategyStrictFIFO": Strategy.FIFO,
    "PaiStrategyRoundRobin": Strategy.TRAVERSE,
    "PaiStrategyBalance": Strategy.BALANCE,
    "PaiStrategyIntelligent": Strategy.INTELLIGENT,
}


def parse_strategy(text: str) -> Strategy:
    """Return a strategy by its own name or by PAI's (S7), or raise Refused."""
    if text in STRATEGY_ALIASES:
        return STRATEGY_ALIASES[text]
    try:
        return Strategy(text)
    except ValueError:
        allowed = ", ".join([s.value for s in Strategy] + list(STRATEGY_ALIASES))
        raise Refused("strategy", text, "S7", f"not a queue strategy; allowed: {allowed}") from None


class Priorities(NamedTuple):
    """A closed range of priorities inside 1..9."""

    low: int
    high: int

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def parse_priorities(field: str, value: int | str) -> Priorities:
    """Return the range that `4` or `"6-9"` says, or raise Refused naming `field`."""
    text = str(value).strip()
    first, dash, last = text.partition("-")
    try:
        low = int(first)
        high = int(last) if dash else low
    except ValueError:
        raise Refused(field, value, "P1", "must be one priority or a range such as 6-9") from None
    return check_priorities(field, Priorities(low, high))


def check_priorities(field: str, range_: Priorities) -> Priorities:
    if not LOWEST_PRIORITY <= range_.low <= range_.high <= HIGHEST_PRIORITY:
        one = range_.low == range_.high
        allowed = "must be a priority, 1 to 9" if one else "must be an ascending range inside 1..9"
        raise Refused(field, str(range_), "P1", allowed)
    return range_


def parse_modules(field: str, values: Iterable[str]) -> frozenset[Module]:
    modules = set()
    for value in values:
        try:
            modules.add(Module(value))
        except ValueError:
            raise Refused(field, value, "P1", "not a module; allowed: DLC, DSW, EAS") from None
    if not modules:
        raise Refused(field, [], "P1", "must name at least one of DLC, DSW, EAS")
    return frozenset(modules)


Reach = NewType("Reach", int)
"""Which pairs of priority and module may be taken: one bit for each, so that rights of several policies add up by `|`."""

NOBODY: Final = Reach(0)
EVERY_MODULE: Final = frozenset(Module)


@lru_cache(maxsize=1024)
def reach(priorities: Priorities, modules: frozenset[Module] = EVERY_MODULE) -> Reach:
    """Return all pairs of one of these priorities with one of these modules."""
    found = 0
    for priority in range(priorities.low, priorities.high + 1):
        for module in modules:
            found |= bit_of(priority, module)
    return Reach(found)


def reaches(reached: Reach, priority: int, module: Module) -> bool:
    """Return whether the pair is among those reached."""
    return bool(reached & bit_of(priority, module))


def bit_of(priority: int, module: Module) -> int:
    """Return the pair as a set of one, to be compared with what policies reach."""
    return _BITS[priority, module]


_BITS: Final = {
    (priority, module): 1 << (priority * len(Module) + place)
    for priority in range(HIGHEST_PRIORITY + 1)
    for place, module in enumerate(Module)
}


@dataclass(frozen=True, slots=True)
class SelfLevel:
    """Lets waiting jobs with a priority in `high` take running jobs with one in `low` (P1)."""

    high: Priorities
    low: Priorities
    modules: frozenset[Module]
    scope: Scope = Scope.LEVEL
    any_lower: bool = False
    """Whether each priority of `high` may take those of `low` that are strictly below it: all pairs, as one policy."""
    off: bool = False
    """Switched off: it gives no right and keeps its settings."""

    def __post_init__(self) -> None:
        check_priorities("self_level.high", self.high)
        check_priorities("self_level.low", self.low)
        if self.low.high >= self.high.low and not self.any_lower:
            raise Refused(
                "self_level.low",
                str(self.low),
                "P1",
                f"its highest value {self.low.high} must be below {self.high.low}, "
                f"the lowest value of self_level.high = {self.high}",
            )

    @classmethod
    def over_any_lower(
        cls, modules: frozenset[Module], scope: Scope = Scope.LEVEL, off: bool = False
    ) -> SelfLevel:
        """Return the policy by which every priority may take every strictly lower one."""
        high = Priorities(LOWEST_PRIORITY + 1, HIGHEST_PRIORITY)
        low = Priorities(LOWEST_PRIORITY, HIGHEST_PRIORITY - 1)
        return cls(high, low, modules, scope, any_lower=True, off=off)

    @property
    def reaches_own(self) -> bool:
        return self.scope is not Scope.SIBLINGS

    @property
    def reaches_siblings(self) -> bool:
        return self.scope is not Scope.OWN

    def lets_preempt(self, priority: int) -> bool:
        return not self.off and self.high.low <= priority <= self.high.high

    def reach_of(self, priority: int) -> Reach:
        """Return whom a waiting job of this priority may take, wherever the policy reaches."""
        if not self.lets_preempt(priority):
            return NOBODY
        low = self.low
        if self.any_lower:
            low = Priorities(low.low, min(low.high, priority - 1))
        return reach(low, self.modules)


class SelfLevels(tuple[SelfLevel, ...]):
    """The self-level policies of a quota, each valid by itself: a job may take whom any of them names (P1).

    Rights come from one policy at a time: the `high` of one never goes with the `low` or the scope of another.
    """

    @cached_property
    def _own(self) -> tuple[Reach, ...]:
        return self._by_priority(policy for policy in self if policy.reaches_own)

    @cached_property
    def _beside(self) -> tuple[Reach, ...]:
        return self._by_priority(policy for policy in self if policy.reaches_siblings)

    @staticmethod
    def _by_priority(policies: Iterable[SelfLevel]) -> tuple[Reach, ...]:
        """Return whom a waiting job of each priority, from 0 on, may take by any of these policies."""
        found = [0] * (HIGHEST_PRIORITY + 1)
        for policy in policies:
            for priority in range(LOWEST_PRIORITY, HIGHEST_PRIORITY + 1):
                found[priority] |= policy.reach_of(priority)
        return tuple(map(Reach, found))

    @classmethod
    def of(cls, *policies: SelfLevel) -> SelfLevels:
        return cls(policies)

    def own(self, priority: int) -> Reach:
        """Return whom a waiting job of this priority may take in its own quota."""
        return self._own[priority]

    def beside(self, priority: int) -> Reach:
        """Return whom a waiting job of this priority may take in siblings of its quota and below them."""
        return self._beside[priority]

    def lets_preempt(self, priority: int) -> bool:
        return any(policy.lets_preempt(priority) for policy in self)

    def reaches_siblings(self, priority: int) -> bool:
        """Return whether some policy lets this priority reach into siblings, which is also the right to a loan (P3)."""
        for policy in self:  # noqa: SIM110  # asked several times in every attempt: no generator
            if policy.scope is not Scope.OWN and policy.lets_preempt(priority):
                return True
        return False

    def lets_take(self, taker_priority: int, priority: int, module: Module) -> bool:
        """Return whether a waiting job of one priority may take running work of the other somewhere."""
        return any(reaches(policy.reach_of(taker_priority), priority, module) for policy in self)

    def switched_on(self) -> SelfLevels:
        """Return those that are not switched off."""
        return SelfLevels(policy for policy in self if not policy.off)


NO_SELF_LEVEL: Final = SelfLevels()


@dataclass(frozen=True, slots=True)
class ChildLevel:
    """Lets any job waiting at the quota take matching jobs of any descendant quota (P2)."""

    priorities: Priorities
    modules: frozenset[Module]
    off: bool = False
    """Switched off: it gives no right and keeps its settings."""

    def __post_init__(self) -> None:
        check_priorities("child_level.priorities", self.priorities)

    @property
    def reach(self) -> Reach:
        """Return whom it lets be taken."""
        return NOBODY if self.off else reach(self.priorities, self.modules)
