"""A quota as it is shown: what was declared, and its figures (Q7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, cast

from typing_extensions import TypedDict

from quotatree.access.redaction import Reader
from quotatree.api.models.noun_fields import AmountsOut, fields_shown, shown, shows
from quotatree.api.models.policies import names_in_policies
from quotatree.core import QUOTA_SETTINGS, Bounds, PriorityNames, QuotaId, QuotaReport, QuotaSpec

EMPTY: Final[PriorityNames] = MappingProxyType({})


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


@shows(QUOTA_SETTINGS, before="shrinking")
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
    found = {
        "id": spec.id,
        "parent": spec.parent,
        "depth": report.depth,
        "version": version,
        "min": shown(report.desired),
        "draws": {pool: shown(drawn) for pool, drawn in spec.draws},
        **fields_shown(spec, QUOTA_SETTINGS),
        "shrinking": shrinking,
        "usage": usage_out(report),
        "allowed": list(allowed),
        "workspaces": list(workspaces),
        "priority_names": names_in_policies(spec, names),
    }
    return cast(QuotaOut, found)  # the checker does not know the settings of the table


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


def masked(report: QuotaReport, reads: Reader) -> QuotaReport:
    stood_on = tuple((QuotaId(reads.quota(who)), amount) for who, amount in report.stood_on_by)
    return replace(report, stood_on_by=stood_on)
