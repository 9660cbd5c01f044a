"""A quota's strategy and policies as they are said, in our words or in PAI's, and as they are shown (P1, P2, S7).

What is said is passed on as it came: the core reads it, as it reads files, and refuses it with the rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field, PlainValidator
from typing_extensions import TypedDict

from quotatree.api.models.fields import PRIORITY_NAMES, Body, ModuleName, Priority, Range
from quotatree.core import (
    ChildLevel,
    Module,
    Priorities,
    PriorityNames,
    QuotaSpec,
    SelfLevel,
    SelfLevels,
    Strategy,
    in_our_words,
    parse_strategy,
    policies_in_numbers,
    read_child_level,
    read_self_level,
)

StrategyName = Literal[
    "fifo", "traverse", "balance", "intelligent",
    "PaiStrategyStrictFIFO", "PaiStrategyRoundRobin", "PaiStrategyBalance", "PaiStrategyIntelligent",
]  # fmt: skip
ModuleNames = Annotated[list[ModuleName], Field(min_length=1, max_length=3)]
ALL_MODULES: Final[list[ModuleName]] = ["DLC", "DSW", "EAS"]
PriorityList = Annotated[list[Priority], Field(min_length=1, max_length=9, examples=[[6, 7, 8, 9]])]
Switch = bool | Literal["on", "off"]


def _unsaid(schema: dict[str, Any]) -> None:
    """Take the default out of the description of a field: null is not how one leaves it out."""
    del schema["default"]


Unsaid: Any = Field(default=None, json_schema_extra=_unsaid)


class SelfLevelIn(Body):
    """P1: waiting jobs with a priority in `high` may take running ones with a priority in `low`.

    Without both: 6-9 over 1-5, or with `any` every priority over every lower one. Without modules: DLC and DSW. Without
    `enabled` a policy that is there keeps its switch, and a new one is on.
    """

    high: Range | PriorityList = Unsaid
    low: Range | PriorityList = Unsaid
    any: Literal["lower"] = Unsaid
    modules: ModuleNames = Unsaid
    scope: Literal["own", "siblings", "level"] = "level"
    enabled: Switch = Unsaid


class ChildLevelIn(Body):
    """P2: any waiting job may take matching jobs of the quotas below; without priorities 1-9, without modules DLC and DSW.

    Without `enabled` a policy that is there keeps its switch, and a new one is on."""

    priorities: Range | PriorityList = Unsaid
    modules: ModuleNames = Unsaid
    enabled: Switch = Unsaid


class PaiSelfLevel(Body):
    """P1 in PAI's words; lists may have gaps."""

    preemptor: PriorityList = Field(alias="PreemptorPriorities")
    preempted: PriorityList = Field(alias="PreemptedPriorities")
    products: ModuleNames = Field(alias="PreemptedProducts")


class PaiChildLevel(Body):
    """P2 in PAI's words: everything up to the bound."""

    bound: Priority = Field(alias="PreemptedPriorityUpperBound")
    products: ModuleNames = Field(alias="PreemptedProducts")


def _as_said(field: str, kinds: Any) -> PlainValidator:
    """What is said of a field, with numbers where names of priorities stand (W6)."""

    def read(value: object) -> object:
        return policies_in_numbers(field, value, PRIORITY_NAMES.get({}))

    return PlainValidator(read, json_schema_input_type=kinds | None)


SelfLevelSaid = Annotated[Any, _as_said("self_level", Switch | SelfLevelIn | list[SelfLevelIn])]
ChildLevelSaid = Annotated[Any, _as_said("child_level", Switch | ChildLevelIn)]
PaiSelfSaid = Annotated[Any, _as_said("SelfQuotaPreemptionConfig", PaiSelfLevel)]
PaiChildSaid = Annotated[Any, _as_said("SubQuotaPreemptionConfig", PaiChildLevel)]


class PolicyFields(Body):
    """The fields that say strategy and policies. A switch alone (`on`, `off`) keeps a policy's settings, and settings alone its switch."""

    strategy: StrategyName = "intelligent"
    self_level: SelfLevelSaid = None
    child_level: ChildLevelSaid = None
    queue_strategy: StrategyName = Field(default="intelligent", alias="QueueStrategy")
    pai_self: PaiSelfSaid = Field(default=None, alias="SelfQuotaPreemptionConfig")
    pai_self_on: bool | None = Field(default=None, alias="EnableSelfQuotaPreemption")
    pai_child: PaiChildSaid = Field(default=None, alias="SubQuotaPreemptionConfig")
    pai_child_on: bool | None = Field(default=None, alias="EnableSubQuotaPreemption")

    def policies_of(self, spec: QuotaSpec) -> dict[str, Any]:
        """The fields of the spec that are said here, with their new values."""
        said = in_our_words(
            {
                PolicyFields.model_fields[name].alias or name: getattr(self, name)
                for name in PolicyFields.model_fields
                if name in self.model_fields_set
            }
        )
        found: dict[str, Any] = {}
        if "strategy" in said:
            found["strategy"] = parse_strategy(said["strategy"])
        if "self_level" in said:
            found["self_level"] = read_self_level(said["self_level"], spec.self_level)
        if "child_level" in said:
            found["child_level"] = read_child_level(said["child_level"], spec.child_level)
        return found


class PoliciesIn(PolicyFields):
    """All three; a policy that is left out is taken away, and the strategy becomes intelligent (in PAI's words: stays)."""

    def applied_to(self, spec: QuotaSpec) -> QuotaSpec:
        ours = {"strategy", "self_level", "child_level"}
        usual: dict[str, Any] = {"self_level": SelfLevels(), "child_level": None}
        if self.model_fields_set <= ours:
            usual["strategy"] = Strategy.INTELLIGENT
        return replace(spec, **{**usual, **self.policies_of(spec)})


class SelfLevelOut(TypedDict):
    """Either `high` and `low`, or `any`."""

    high: NotRequired[str]
    low: NotRequired[str]
    any: NotRequired[Literal["lower"]]
    modules: list[str]
    scope: str
    enabled: bool


class ChildLevelOut(TypedDict):
    priorities: str
    modules: list[str]
    enabled: bool


class PoliciesOut(TypedDict):
    strategy: str
    self_level: list[SelfLevelOut]
    child_level: ChildLevelOut | None


def policies_out(spec: QuotaSpec) -> PoliciesOut:
    return {
        "strategy": spec.strategy.value,
        "self_level": self_levels_out(spec.self_level),
        "child_level": None if spec.child_level is None else child_level_out(spec.child_level),
    }


def names_in_policies(spec: QuotaSpec, names: PriorityNames) -> dict[str, int]:
    """The names of the priorities that a quota's policies speak of (W6)."""
    ranges = [one for policy in spec.self_level if not policy.any_lower for one in (policy.high, policy.low)]
    if spec.child_level is not None:
        ranges.append(spec.child_level.priorities)
    return names_in(ranges, names)


def names_in(ranges: Iterable[Priorities], names: PriorityNames) -> dict[str, int]:
    """The names of the priorities in these ranges, with their numbers."""
    spoken_of = {number for one in ranges for number in range(one.low, one.high + 1)}
    return {name: number for name, number in names.items() if number in spoken_of}


def module_names(modules: frozenset[Module]) -> list[str]:
    return sorted(module.value for module in modules)


def self_levels_out(policies: SelfLevels) -> list[SelfLevelOut]:
    return [_self_level_out(policy) for policy in policies]


def _self_level_out(policy: SelfLevel) -> SelfLevelOut:
    rest: SelfLevelOut = {
        "modules": module_names(policy.modules),
        "scope": policy.scope.value,
        "enabled": not policy.off,
    }
    if policy.any_lower:
        return {"any": "lower", **rest}
    return {"high": str(policy.high), "low": str(policy.low), **rest}


def child_level_out(policy: ChildLevel) -> ChildLevelOut:
    return {
        "priorities": str(policy.priorities),
        "modules": module_names(policy.modules),
        "enabled": not policy.off,
    }
