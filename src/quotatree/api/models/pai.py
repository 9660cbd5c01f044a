"""Policies as they are shown in the spelling of Alibaba Cloud PAI's quotas.

PAI lists priorities one by one, has one self-level configuration for each quota and no scopes; what it cannot say is
refused rather than said differently. How its spelling is read: quotatree.core.model.pai_words.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from typing_extensions import TypedDict

from quotatree.api.models.policies import module_names
from quotatree.core import (
    LOWEST_PRIORITY,
    STRATEGY_ALIASES,
    ChildLevel,
    Priorities,
    QuotaSpec,
    Refused,
    Scope,
    SelfLevel,
    SelfLevels,
)

ONE_LIST: Final = "PAI's spelling has one list of priorities that take and one of those that are taken"


class PaiSelfOut(TypedDict):
    PreemptorPriorities: list[int]
    PreemptedPriorities: list[int]
    PreemptedProducts: list[str]


class PaiSubOut(TypedDict):
    PreemptedPriorityUpperBound: int
    PreemptedProducts: list[str]


class PaiOut(TypedDict):
    QueueStrategy: str
    EnableSelfQuotaPreemption: bool
    SelfQuotaPreemptionConfig: PaiSelfOut | None
    EnableSubQuotaPreemption: bool
    SubQuotaPreemptionConfig: PaiSubOut | None


def pai_out(spec: QuotaSpec) -> PaiOut:
    own, sub = spec.self_level, spec.child_level
    return {
        "QueueStrategy": next(
            name for name, strategy in STRATEGY_ALIASES.items() if strategy is spec.strategy
        ),
        "EnableSelfQuotaPreemption": any(not policy.off for policy in own),
        "SelfQuotaPreemptionConfig": _self_out(own) if own else None,
        "EnableSubQuotaPreemption": sub is not None and not sub.off,
        "SubQuotaPreemptionConfig": None if sub is None else _sub_out(sub),
    }


def _self_out(policies: SelfLevels) -> PaiSelfOut:
    """The policies as one configuration. Several are one if they are all pairs of some priorities with some others."""
    first = policies[0]
    for policy in policies:
        if policy.scope is not Scope.LEVEL:
            raise _unsaid("scope", policy.scope.value, "PAI's spelling has no word for it; only for level")
        if policy.any_lower:
            raise _unsaid("any", "lower", ONE_LIST)
        if policy.modules != first.modules:
            raise _unsaid("modules", module_names(policy.modules), "PAI's spelling has one list for all")
        if policy.off != first.off:
            raise _unsaid("enabled", not policy.off, "PAI's spelling has one switch for all")
    high = sorted({priority for policy in policies for priority in _listed(policy.high)})
    low = sorted({priority for policy in policies for priority in _listed(policy.low)})
    if set(product(high, low)) != {pair for policy in policies for pair in _pairs(policy)}:
        raise _unsaid("high", ", ".join(f"{policy.high} over {policy.low}" for policy in policies), ONE_LIST)
    return {
        "PreemptorPriorities": high,
        "PreemptedPriorities": low,
        "PreemptedProducts": module_names(first.modules),
    }


def _sub_out(policy: ChildLevel) -> PaiSubOut:
    if policy.priorities.low != LOWEST_PRIORITY:
        raise Refused(
            "child_level.priorities", str(policy.priorities), "P2", "PAI's spelling always begins at 1"
        )
    return {
        "PreemptedPriorityUpperBound": policy.priorities.high,
        "PreemptedProducts": module_names(policy.modules),
    }


def _unsaid(field: str, value: object, why: str) -> Refused:
    return Refused(f"self_level.{field}", value, "P1", why)


def _pairs(policy: SelfLevel) -> set[tuple[int, int]]:
    return set(product(_listed(policy.high), _listed(policy.low)))


def _listed(of: Priorities) -> list[int]:
    return list(range(of.low, of.high + 1))
