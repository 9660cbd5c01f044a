"""What does the status of a resource say? The answer to the last change as a condition, and the figures of a quota (Q7). Pure.

`Statuses` remembers what was written, so that only what changed is written again, and nothing more often than once a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from quotatree.api.models.fields import amounts
from quotatree.core import QuotaReport
from quotatree.kubernetes_edge.declaring import Refusal
from quotatree.kubernetes_edge.resources import Declared

PAUSE_MS: Final = 1_000
ACCEPTED: Final = "Accepted"
APPLIED: Final = "Applied"
LONGEST_MESSAGE: Final = 2_000
DELETING: Final = "the resource is being deleted, and waits: "


def quota_figures(report: QuotaReport) -> dict[str, Any]:
    """The figures of a quota, in the spelling of Kubernetes. Resources that a quota does not name and does not use are left out."""
    used = report.used_own.plus(report.used_below)
    return {
        "min": amounts(report.desired),
        "actual": amounts(report.actual),
        "used": amounts(used),
        "usedOwn": amounts(report.used_own),
        "usedBelow": amounts(report.used_below),
        "loan": amounts(report.loan),
        "squeezed": amounts(report.squeezed),
        "shortfall": amounts(report.shortfall),
        "idleBorrowed": amounts(report.idle_borrowed),
        "idleLent": amounts(report.idle_lent),
        "queued": amounts(report.queued),
        "queuedJobs": report.queued_jobs,
        "free": amounts(report.free),
    }


def condition(
    one: Declared, refusal: Refusal | None, before: Mapping[str, Any], now_ms: int
) -> dict[str, Any]:
    """The condition Accepted. Its time is that of the last change of its status, so that it shows since when."""
    status = "True" if refusal is None else "False"
    text = "the server is as the resource says" if refusal is None else refusal.text
    since = before.get("lastTransitionTime") if before.get("status") == status else None
    return {
        "type": ACCEPTED,
        "status": status,
        "observedGeneration": one.generation,
        "lastTransitionTime": since or moment(now_ms),
        "reason": APPLIED if refusal is None else refusal.code,
        "message": f"{DELETING if one.deleting else ''}{text}"[:LONGEST_MESSAGE],
    }


def moment(now_ms: int) -> str:
    """A time as Kubernetes writes it: seconds, in UTC."""
    return datetime.fromtimestamp(now_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class _Known:
    resource: Declared
    written: dict[str, Any]
    said: dict[str, Any] = field(
        default_factory=dict
    )  # generation, rule and condition, once there is an answer
    figures: dict[str, Any] = field(default_factory=dict)
    written_ms: int | None = None

    @property
    def wanted(self) -> dict[str, Any]:
        return {**self.figures, **self.said}


class Statuses:
    """`write(resource, patch)` changes the status of a resource in the cluster; if it raises, it is tried again later."""

    def __init__(self, write: Callable[[Declared, dict[str, Any]], None]) -> None:
        self._write = write
        self._known: dict[str, _Known] = {}

    def answer(self, one: Declared, refusal: Refusal | None, now_ms: int) -> None:
        """Note what became of the resource in its present generation."""
        known = self._of(one)
        last = known.said or known.written
        conditions: list[dict[str, Any]] = last.get("conditions", [])
        before = next((one for one in conditions if one.get("type") == ACCEPTED), {})
        known.said = {
            "observedGeneration": one.generation,
            "rule": "" if refusal is None else refusal.rule,
            "conditions": [condition(one, refusal, before, now_ms)],
        }

    def show(self, one: Declared, figures: dict[str, Any]) -> None:
        self._of(one).figures = figures

    def forget(self, others: Iterable[str]) -> None:
        """Drop resources that are not there any more, by `Declared.of`."""
        for of in others:
            self._known.pop(of, None)

    def flush(self, now_ms: int) -> int:
        """Write what changed, each resource at most once in PAUSE_MS; return how many were written."""
        count = 0
        for known in self._known.values():
            waits = known.written_ms is not None and now_ms - known.written_ms < PAUSE_MS
            patch = {} if waits or not known.said else _difference(known.written, known.wanted)
            if patch:
                self._write(known.resource, patch)
                known.written, known.written_ms = known.wanted, now_ms
                count += 1
        return count

    def _of(self, one: Declared) -> _Known:
        known = self._known.get(one.of)
        if known is None or known.resource.uid != one.uid:
            known = self._known[one.of] = _Known(one, dict(one.status))
        known.resource = one
        return known


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch from one status to the other: changed fields whole, None for an amount that is gone."""
    patch: dict[str, Any] = {}
    for name, value in after.items():
        old = before.get(name)
        if old == value:
            continue
        gone = (
            dict.fromkeys(set(old) - set(value)) if isinstance(old, dict) and isinstance(value, dict) else {}
        )
        patch[name] = {**gone, **value} if gone else value
    return patch
