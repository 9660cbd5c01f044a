"""A quota as it is shown: what was declared, and its figures (Q7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NotRequired, cast

from typing_extensions import TypedDict

from quotatree.access.redaction import Reader
from quotatree.api.models.fields import amounts, number, span
from quotatree.api.models.policies import ChildLevelOut, SelfLevelOut, names_in_policies, policies_out
from quotatree.core import Bounds, PriorityNames, QuotaId, QuotaReport, QuotaSpec

EMPTY: Final[PriorityNames] = MappingProxyType({})


class AmountsOut(TypedDict):
    gpus: NotRequired[float]
    cpu: NotRequired[float]
    memory: NotRequired[str]


class StoodOn(TypedDict):
    quota: str
    amount: AmountsOut


class UsageOut(TypedDict):
    """The figures of a quota (Q7).

    `used_own`, `used_below`: regular work here and below; `loan`: what of it is beyond min; `squeezed`: what cannot be
    used of the guarantee now, because of `stood_on_by`; `shortfall`: what lost nodes take from a root; `idle_*`: idle work
    here and on what is not used here; `queued`: what waits here, `queued_below`: below; `free`: what a regular job could start
    with now.
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
    queued_below: AmountsOut
    queued_jobs_below: int
    free: AmountsOut


class QuotaOut(TypedDict):
    """`min` is what is desired; `usage.actual` follows it (Q5). `weight` is null where it is the min (S6).

    `version` rises with settings only, never with use. `allowed`: what the reader's roles let them do to it.
    `workspaces`: those of the reader's that are bound to it (W1). `priority_names`: the names that there are for priorities in
    its policies (W6).
    """

    id: str
    parent: str | None
    depth: int
    version: int
    min: AmountsOut
    draws: dict[str, AmountsOut]
    reserved: AmountsOut
    weight: AmountsOut | None
    fair_idle: bool
    strategy: str
    self_level: list[SelfLevelOut]
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
    allowed: list[str]
    workspaces: list[str]
    priority_names: dict[str, int]


class QuotaStub(TypedDict):
    """A quota above those that one may see: what of it bounds them. `free`: of it and all above it, `unused`: of its own min."""

    id: str
    parent: str | None
    depth: int
    min: AmountsOut
    free: AmountsOut
    unused: AmountsOut


class Quotas(TypedDict):
    """Parents before their children. `ancestors` stand above `items` and are not for the reader, but for these figures."""

    items: list[QuotaOut]
    ancestors: list[QuotaStub]


class QueuePlace(TypedDict):
    """Other teams' jobs have a priority and a size, no name."""

    position: int
    job: str
    priority: int
    priority_name: str | None
    reason_code: str


class Queue(TypedDict):
    items: list[QueuePlace]
    next: str | None


def quota_out(
    spec: QuotaSpec,
    version: int,
    shrinking: bool,
    report: QuotaReport,
    allowed: Sequence[str] = (),
    workspaces: Sequence[str] = (),
    names: PriorityNames = EMPTY,
) -> QuotaOut:
    limit = spec.idle_limit_milli
    return {
        "id": spec.id,
        "parent": spec.parent,
        "depth": report.depth,
        "version": version,
        "min": shown(report.desired),
        "draws": {pool: shown(drawn) for pool, drawn in spec.draws},
        "reserved": shown(spec.reserved),
        "weight": None if spec.weight is None else shown(spec.weight),
        "fair_idle": spec.fair_idle,
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
        "allowed": list(allowed),
        "workspaces": list(workspaces),
        "priority_names": names_in_policies(spec, names),
    }


def quota_stub(spec: QuotaSpec, report: QuotaReport) -> QuotaStub:
    return {
        "id": spec.id,
        "parent": spec.parent,
        "depth": report.depth,
        "min": shown(report.desired),
        "free": shown(report.free),
        "unused": shown(unused(report)),
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
        "queued_below": shown(report.queued_below),
        "queued_jobs_below": report.queued_jobs_below,
        "free": shown(report.free),
    }


def unused(report: QuotaReport) -> Bounds:
    """What regular work of the quota and of those below leaves of its min; None for a resource that it does not name."""
    used = report.used_own.plus(report.used_below)
    left = [None if bound is None else max(0, bound - used[i]) for i, bound in enumerate(report.desired)]
    return Bounds(*left)


def shown(of: Any) -> AmountsOut:
    return cast(AmountsOut, amounts(of))  # a dict built field by field is no TypedDict to the checker


def masked(report: QuotaReport, reads: Reader) -> QuotaReport:
    stood_on = tuple((QuotaId(reads.quota(who)), amount) for who, amount in report.stood_on_by)
    return replace(report, stood_on_by=stood_on)
