"""Who may take from whom: modules, priority ranges and the two preemption policies (P1, P2).

A policy belongs to the quota whose *waiting* jobs benefit from it. Both are values, checked when they are made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from quotatree.core.errors import Refused

LOWEST_PRIORITY: Final = 1
HIGHEST_PRIORITY: Final = 9


class Module(Enum):
    """What kind of work a job is."""

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
        raise Refused(field, str(range_), "P1", "must be an ascending range inside 1..9")
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


@dataclass(frozen=True, slots=True)
class SelfLevel:
    """Lets waiting jobs with a priority in `high` take running jobs with one in `low` (P1)."""

    high: Priorities
    low: Priorities
    modules: frozenset[Module]
    scope: Scope = Scope.LEVEL

    def __post_init__(self) -> None:
        check_priorities("self_level.high", self.high)
        check_priorities("self_level.low", self.low)
        if self.low.high >= self.high.low:
            raise Refused(
                "self_level.low",
                str(self.low),
                "P1",
                f"its highest value {self.low.high} must be below {self.high.low}, "
                f"the lowest value of self_level.high = {self.high}",
            )

    @property
    def reaches_own(self) -> bool:
        return self.scope is not Scope.SIBLINGS

    @property
    def reaches_siblings(self) -> bool:
        return self.scope is not Scope.OWN

    def lets_preempt(self, priority: int) -> bool:
        return self.high.low <= priority <= self.high.high

    def lets_take(self, priority: int, module: Module) -> bool:
        return self.low.low <= priority <= self.low.high and module in self.modules


@dataclass(frozen=True, slots=True)
class ChildLevel:
    """Lets any job waiting at the quota take matching jobs of any descendant quota (P2)."""

    priorities: Priorities
    modules: frozenset[Module]

    def __post_init__(self) -> None:
        check_priorities("child_level.priorities", self.priorities)

    def lets_take(self, priority: int, module: Module) -> bool:
        return self.priorities.low <= priority <= self.priorities.high and module in self.modules
