"""A quota as it is declared, changed and shown, with its figures (Q1-Q8, P1, P2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from quotatree.access.redaction import Reader
from quotatree.api.models.fields import (
    Amounts,
    Body,
    Duration,
    Gpus,
    Labels,
    Line,
    ModuleName,
    Name,
    Range,
    amounts,
    number,
    span,
)
from quotatree.core.events import ScaleMode
from quotatree.core.policy import ChildLevel, Module, Scope, SelfLevel, Strategy, parse_modules
from quotatree.core.quota import QuotaId, QuotaSpec
from quotatree.core.report import QuotaReport
from quotatree.core.resources import UNBOUNDED, ZERO, Bounds

StrategyName = Literal["fifo", "traverse", "balance", "intelligent"]
ModeName = Literal["refuse", "lazy", "reclaim"]
ModuleNames = Annotated[list[ModuleName], Field(min_length=1, max_length=3)]
ALL_MODULES: list[ModuleName] = ["DLC", "DSW", "EAS"]
Draws = Annotated[dict[Name, Amounts], Field(max_length=100)]


class SelfLevelIn(Body):
    """P1: waiting jobs with a priority in `high` may take running ones with a priority in `low`."""

    high: Range
    low: Range
    modules: ModuleNames = ALL_MODULES
    scope: Literal["own", "siblings", "level"] = "level"

    def policy(self) -> SelfLevel:
        return SelfLevel(
            self.high, self.low, parse_modules("self_level.modules", self.modules), Scope(self.scope)
        )


class ChildLevelIn(Body):
    """P2: any waiting job may take matching jobs of the quotas below."""

    priorities: Range
    modules: ModuleNames = ALL_MODULES

    def policy(self) -> ChildLevel:
        return ChildLevel(self.priorities, parse_modules("child_level.modules", self.modules))


class QuotaChange(Body):
    """What may be changed after creation; what is left out stays as it is, and null takes a setting away (Q6)."""

    strategy: StrategyName = "intelligent"
    self_level: SelfLevelIn | None = None
    child_level: ChildLevelIn | None = None
    reserved: Amounts | None = None
    lending: bool = True
    idle_limit: Gpus | None = None
    min_runtime: Duration | None = None
    preemption_delay: Duration | None = None
    name: Annotated[str, Field(max_length=253)] = ""
    description: Line = ""
    labels: Labels = Field(default={})

    def applied_to(self, spec: QuotaSpec) -> QuotaSpec:
        given = self.model_fields_set
        changes: dict[str, Any] = {
            "strategy": Strategy(self.strategy),
            "self_level": None if self.self_level is None else self.self_level.policy(),
            "child_level": None if self.child_level is None else self.child_level.policy(),
            "reserved": ZERO if self.reserved is None else self.reserved.resources(),
            "lending": self.lending,
            "idle_limit": self.idle_limit,
            "min_runtime": self.min_runtime,
            "preemption_delay": self.preemption_delay,
            "name": self.name,
            "description": self.description,
            "labels": tuple(sorted(self.labels.items())),
        }
        return replace(
            spec, **{FIELDS.get(name, name): value for name, value in changes.items() if name in given}
        )


FIELDS = {
    "idle_limit": "idle_limit_milli",
    "min_runtime": "min_runtime_ms",
    "preemption_delay": "preemption_delay_ms",
}
"""Where the core's field is called after its unit."""


class PoliciesIn(Body):
    """All three; what is left out is taken away, the strategy becomes intelligent."""

    strategy: StrategyName = "intelligent"
    self_level: SelfLevelIn | None = None
    child_level: ChildLevelIn | None = None

    def applied_to(self, spec: QuotaSpec) -> QuotaSpec:
        whole = QuotaChange(strategy=self.strategy, self_level=self.self_level, child_level=self.child_level)
        return whole.applied_to(spec)


class QuotaIn(QuotaChange):
    """A new quota: a root names its draws from pools, everybody else a parent (Q1)."""

    id: Name
    parent: Name | None = None
    min: Amounts | None = None
    draws: Draws = Field(default={})

    def spec(self) -> QuotaSpec:
        made = QuotaSpec(
            QuotaId(self.id),
            None if self.parent is None else QuotaId(self.parent),
            UNBOUNDED if self.min is None else self.min.bounds(),
            draws_of(self.draws),
        )
        return self.applied_to(made)


class ScaleIn(Body):
    """A new `min`, or for a root new draws. `mode` says what happens to use beyond it (Q5)."""

    min: Amounts | None = None
    draws: Draws = Field(default={})
    mode: ModeName = "refuse"

    def bounds(self) -> Bounds:
        return UNBOUNDED if self.min is None else self.min.bounds()

    def scale_mode(self) -> ScaleMode:
        return ScaleMode(self.mode)


class TransferIn(Body):
    """Capacity goes from `source` to its sibling `target` in one step (Q5)."""

    source: Name
    target: Name
    amount: Amounts
    mode: ModeName = "refuse"


def draws_of(draws: dict[str, Amounts]) -> tuple[tuple[str, Bounds], ...]:
    return tuple((pool, wanted.bounds()) for pool, wanted in draws.items())


class AmountsOut(TypedDict):
    gpus: NotRequired[float]
    cpu: NotRequired[float]
    memory: NotRequired[str]


class SelfLevelOut(TypedDict):
    high: str
    low: str
    modules: list[str]
    scope: str


class ChildLevelOut(TypedDict):
    priorities: str
    modules: list[str]


class PoliciesOut(TypedDict):
    strategy: str
    self_level: SelfLevelOut | None
    child_level: ChildLevelOut | None


class StoodOn(TypedDict):
    quota: str
    amount: AmountsOut


class UsageOut(TypedDict):
    """The figures of a quota (Q7).

    `used_own`, `used_below`: regular work here and below; `loan`: what of it is beyond min; `squeezed`: what cannot be
    used of the guarantee now, because of `stood_on_by`; `shortfall`: what lost nodes take from a root; `idle_*`: idle work
    here and on what is not used here; `queued`: what waits; `free`: what a regular job could start with now.
    """

    desired: AmountsOut
    actual: AmountsOut
    used_own: AmountsOut
    used_below: AmountsOut
    loan: AmountsOut
    squeezed: AmountsOut
    stood_on_by: list[StoodOn]
    shortfall: AmountsOut
    idle_borrowed: AmountsOut
    idle_lent: AmountsOut
    queued: AmountsOut
    queued_jobs: int
    free: AmountsOut


class QuotaOut(TypedDict):
    """`min` is what is desired; `usage.actual` follows it (Q5)."""

    id: str
    parent: str | None
    depth: int
    version: int
    min: AmountsOut
    draws: dict[str, AmountsOut]
    reserved: AmountsOut
    strategy: str
    self_level: SelfLevelOut | None
    child_level: ChildLevelOut | None
    lending: bool
    idle_limit: float | None
    min_runtime: str | None
    preemption_delay: str | None
    name: str
    description: str
    labels: dict[str, str]
    shrinking: bool
    usage: UsageOut


class Quotas(TypedDict):
    """Parents before their children."""

    items: list[QuotaOut]


class QueuePlace(TypedDict):
    """Other teams' jobs have a priority and a size, no name."""

    position: int
    job: str
    priority: int
    reason_code: str


class Queue(TypedDict):
    items: list[QueuePlace]


def quota_out(spec: QuotaSpec, version: int, shrinking: bool, report: QuotaReport) -> QuotaOut:
    limit = spec.idle_limit_milli
    return {
        "id": spec.id,
        "parent": spec.parent,
        "depth": report.depth,
        "version": version,
        "min": shown(report.desired),
        "draws": {pool: shown(drawn) for pool, drawn in spec.draws},
        "reserved": shown(spec.reserved),
        **policies_out(spec),
        "lending": spec.lending,
        "idle_limit": None if limit is None else number(limit),
        "min_runtime": span(spec.min_runtime_ms),
        "preemption_delay": span(spec.preemption_delay_ms),
        "name": spec.name,
        "description": spec.description,
        "labels": dict(spec.labels),
        "shrinking": shrinking,
        "usage": usage_out(report),
    }


def policies_out(spec: QuotaSpec) -> PoliciesOut:
    own, child = spec.self_level, spec.child_level
    return {
        "strategy": spec.strategy.value,
        "self_level": None
        if own is None
        else {
            "high": str(own.high),
            "low": str(own.low),
            "modules": module_names(own.modules),
            "scope": own.scope.value,
        },
        "child_level": None
        if child is None
        else {"priorities": str(child.priorities), "modules": module_names(child.modules)},
    }


def usage_out(report: QuotaReport) -> UsageOut:
    return {
        "desired": shown(report.desired),
        "actual": shown(report.actual),
        "used_own": shown(report.used_own),
        "used_below": shown(report.used_below),
        "loan": shown(report.loan),
        "squeezed": shown(report.squeezed),
        "stood_on_by": [{"quota": who, "amount": shown(amount)} for who, amount in report.stood_on_by],
        "shortfall": shown(report.shortfall),
        "idle_borrowed": shown(report.idle_borrowed),
        "idle_lent": shown(report.idle_lent),
        "queued": shown(report.queued),
        "queued_jobs": report.queued_jobs,
        "free": shown(report.free),
    }


def module_names(modules: frozenset[Module]) -> list[str]:
    return sorted(module.value for module in modules)


def shown(of: Any) -> AmountsOut:
    found: Any = amounts(of)
    return found  # type: ignore[no-any-return]


def masked(report: QuotaReport, reads: Reader) -> QuotaReport:
    stood_on = tuple((QuotaId(reads.quota(who)), amount) for who, amount in report.stood_on_by)
    return replace(report, stood_on_by=stood_on)
