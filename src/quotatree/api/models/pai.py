"""Policies in the spelling of Alibaba Cloud PAI's quotas, both ways.

PAI lists priorities one by one and has no scopes; what it cannot say is refused rather than said differently.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field
from typing_extensions import TypedDict

from quotatree.api.models.fields import Body, Priority
from quotatree.api.models.quota_views import module_names
from quotatree.api.models.quotas import ModuleNames
from quotatree.core import (
    LOWEST_PRIORITY,
    STRATEGY_ALIASES,
    ChildLevel,
    Priorities,
    QuotaSpec,
    Refused,
    Scope,
    SelfLevel,
    parse_modules,
    parse_strategy,
)

OWN: Final = "SelfQuotaPreemptionConfig"
SUB: Final = "SubQuotaPreemptionConfig"
PriorityList = Annotated[list[Priority], Field(min_length=1, max_length=9, examples=[[6, 7, 8, 9]])]


class PaiSelf(Body):
    """P1 in PAI's words."""

    preemptor: PriorityList = Field(alias="PreemptorPriorities")
    preempted: PriorityList = Field(alias="PreemptedPriorities")
    products: ModuleNames = Field(alias="PreemptedProducts")


class PaiSub(Body):
    """P2 in PAI's words: everything up to the bound."""

    bound: Priority = Field(alias="PreemptedPriorityUpperBound")
    products: ModuleNames = Field(alias="PreemptedProducts")


class PaiPolicies(Body):
    strategy: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, alias="QueueStrategy", examples=["PaiStrategyIntelligent"]
    )
    own: PaiSelf | None = Field(default=None, alias=OWN)
    sub: PaiSub | None = Field(default=None, alias=SUB)

    def applied_to(self, spec: QuotaSpec) -> QuotaSpec:
        """The spec with strategy, self-level and child-level policy replaced; a strategy that is left out stays."""
        own = None
        if self.own is not None:
            modules = parse_modules(f"{OWN}.PreemptedProducts", self.own.products)
            own = SelfLevel(
                _range(f"{OWN}.PreemptorPriorities", self.own.preemptor),
                _range(f"{OWN}.PreemptedPriorities", self.own.preempted),
                modules,
                Scope.LEVEL,
            )
        sub = None
        if self.sub is not None:
            modules = parse_modules(f"{SUB}.PreemptedProducts", self.sub.products)
            sub = ChildLevel(Priorities(LOWEST_PRIORITY, self.sub.bound), modules)
        strategy = spec.strategy if self.strategy is None else parse_strategy(self.strategy)
        return replace(spec, strategy=strategy, self_level=own, child_level=sub)


class PaiSelfOut(TypedDict):
    PreemptorPriorities: list[int]
    PreemptedPriorities: list[int]
    PreemptedProducts: list[str]


class PaiSubOut(TypedDict):
    PreemptedPriorityUpperBound: int
    PreemptedProducts: list[str]


class PaiOut(TypedDict):
    QueueStrategy: str
    SelfQuotaPreemptionConfig: PaiSelfOut | None
    SubQuotaPreemptionConfig: PaiSubOut | None


def pai_out(spec: QuotaSpec) -> PaiOut:
    own, sub = spec.self_level, spec.child_level
    if own is not None and own.scope is not Scope.LEVEL:
        raise Refused(
            "self_level.scope", own.scope.value, "P1", "PAI's spelling has no word for it; only for level"
        )
    if sub is not None and sub.priorities.low != LOWEST_PRIORITY:
        raise Refused(
            "child_level.priorities", str(sub.priorities), "P2", "PAI's spelling always begins at 1"
        )
    return {
        "QueueStrategy": next(
            name for name, strategy in STRATEGY_ALIASES.items() if strategy is spec.strategy
        ),
        "SelfQuotaPreemptionConfig": None
        if own is None
        else {
            "PreemptorPriorities": _listed(own.high),
            "PreemptedPriorities": _listed(own.low),
            "PreemptedProducts": module_names(own.modules),
        },
        "SubQuotaPreemptionConfig": None
        if sub is None
        else {
            "PreemptedPriorityUpperBound": sub.priorities.high,
            "PreemptedProducts": module_names(sub.modules),
        },
    }


def _range(field: str, listed: list[int]) -> Priorities:
    low, high = min(listed), max(listed)
    if sorted(set(listed)) != _listed(Priorities(low, high)):
        raise Refused(field, str(listed), "P1", "must be a range without gaps")
    return Priorities(low, high)


def _listed(of: Priorities) -> list[int]:
    return list(range(of.low, of.high + 1))
