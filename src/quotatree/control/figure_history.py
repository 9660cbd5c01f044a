"""The figures of every quota over time (Q7): who looks at them once a minute, and how long are they kept?

A thread of its own asks the loop for the figures, writes them, and after each hour puts minutes together into hours and
hours into days, a few quotas at a time. No decision waits for it, and only the server that leads does it. A minute that it
misses, since no server led or the store was away, is a gap.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import structlog

from quotatree.control.errors import Unavailable
from quotatree.control.world import World
from quotatree.core import JobTotal, Module, QuotaId, QuotaReport, State, job_totals, quota_report
from quotatree.store.errors import StoreError
from quotatree.store.rows import SampleRow
from quotatree.store.samples import Amounts, Sample, Span, Sums

T = TypeVar("T")
log = structlog.get_logger(__name__)

AT_ONCE: Final = 25
"""How many quotas are looked at, or put together, in one go."""
PAUSE_SECONDS: Final = 0.05
LONGEST_ANSWER_SECONDS: Final = 30.0
_HOURS_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class KeptFigures:
    """How long figures of each minute, hour and day are kept, in milliseconds."""

    minutes_ms: int = 48 * _HOURS_MS
    hours_ms: int = 60 * 24 * _HOURS_MS
    days_ms: int = 3 * 365 * 24 * _HOURS_MS

    def of(self, span: Span) -> int:
        return {Span.MINUTE: self.minutes_ms, Span.HOUR: self.hours_ms, Span.DAY: self.days_ms}[span]

    def oldest(self, span: Span, now_ms: int) -> int:
        """When the oldest samples that are kept begin. Those that make one longer span go together, so that none is left of half."""
        whole = {Span.MINUTE: Span.HOUR, Span.HOUR: Span.DAY}.get(span, span)
        return whole.start_of(now_ms - self.of(span))


class SampleStore(Protocol):
    def put_samples(self, holder: str, epoch: int, rows: Sequence[SampleRow]) -> None: ...

    def put_samples_together(self, quotas: Sequence[str], span: Span, now_ms: int) -> list[SampleRow]: ...

    def forget_samples(self, quotas: Sequence[str], span: Span, before_ms: int) -> int: ...


class Asked(Protocol):
    """What is needed of the loop."""

    @property
    def lease(self) -> tuple[str, int] | None: ...

    def ask(self, query: Callable[[World, int], T]) -> Future[T]: ...


class FigureHistory:
    def __init__(
        self,
        controller: Asked,
        store: SampleStore,
        keep: KeptFigures,
        *,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._controller = controller
        self._store = store
        self._keep = keep
        self._clock = clock
        self._put_together_ms: int | None = (
            None  # hours and days before this are stored; None: not looked yet
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="figure-history", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def look(self) -> None:
        """Write the figures of this minute, if this server leads; after an hour, put together what is over, and forget what is old."""
        lease = self._controller.lease
        if lease is None:
            self._put_together_ms = None
            return
        now_ms = self._clock()
        found: dict[str, Sample] = {}
        counts = self._controller.ask(job_counts).result(LONGEST_ANSWER_SECONDS)
        for part in in_parts(counts):
            found |= self._controller.ask(samples_of(part)).result(LONGEST_ANSWER_SECONDS)
        at_ms = Span.MINUTE.start_of(now_ms)
        self._store.put_samples(
            *lease, [SampleRow(quota, Span.MINUTE, at_ms, one) for quota, one in found.items()]
        )
        hour_ms = Span.HOUR.start_of(now_ms)
        if self._put_together_ms is None or self._put_together_ms < hour_ms:
            self._put_together(lease, list(found), now_ms)
            self._put_together_ms = hour_ms

    def _put_together(self, lease: tuple[str, int], quotas: list[str], now_ms: int) -> None:
        spans = [Span.HOUR]
        if self._put_together_ms is None or self._put_together_ms < Span.DAY.start_of(now_ms):
            spans.append(Span.DAY)
        parts = [quotas[start : start + AT_ONCE] for start in range(0, len(quotas), AT_ONCE)]
        for span in spans:
            for part in parts:
                rows = self._store.put_samples_together(part, span, now_ms)
                self._store.put_samples(*lease, rows)
                self._stopping.wait(PAUSE_SECONDS)
        for part in parts:
            for span in Span:
                self._store.forget_samples(part, span, self._keep.oldest(span, now_ms))
            self._stopping.wait(PAUSE_SECONDS)

    def _run(self) -> None:
        while not self._stopping.wait(self._seconds_to_next()):
            try:
                self.look()
            except (StoreError, Unavailable, TimeoutError) as error:
                log.warning("figures_not_kept", error=str(error) or type(error).__name__)
            except Exception:
                log.exception("figures_broke")  # a gap, and the next minute is tried

    def _seconds_to_next(self) -> float:
        """Until shortly after the next minute begins: a pause of a minute would drift, and skip one in the end."""
        now_ms = self._clock()
        return (Span.MINUTE.start_of(now_ms) + Span.MINUTE - now_ms) / 1000 + 0.5


def job_counts(world: World, now_ms: int) -> dict[str, Sums]:
    """JOB_FIGURES of every quota itself."""
    return counts_of(world.state, job_totals(world.state), now_ms)


def counts_of(state: State, jobs: Mapping[tuple[QuotaId, Module], JobTotal], now_ms: int) -> dict[str, Sums]:
    found: dict[str, Sums] = {}
    for quota in state.quotas:
        totals = [jobs[key] for module in Module if (key := (quota, module)) in jobs]
        since = [total.waiting_since_ms for total in totals if total.waiting_since_ms is not None]
        oldest_s = max(0, now_ms - min(since)) // 1000 if since else 0
        found[quota] = (
            sum(total.running for total in totals),
            sum(total.waiting for total in totals),
            oldest_s,
        )
    return found


def samples_of(counts: Mapping[str, Sums]) -> Callable[[World, int], dict[str, Sample]]:
    """The figures of these quotas, with what was counted of their jobs; one that is gone meanwhile is left out."""

    def query(world: World, now_ms: int) -> dict[str, Sample]:
        del now_ms
        state = world.state
        return {
            name: Sample.of_minute(jobs, _amounts(state, quota_report(state, name)))
            for name, jobs in counts.items()
            if QuotaId(name) in state.quotas
        }

    return query


def in_parts(counts: Mapping[str, Sums]) -> Iterator[dict[str, Sums]]:
    """A few quotas at a time, so that what waits for the loop never waits for the figures of all."""
    names = list(counts)
    for start in range(0, len(names), AT_ONCE):
        yield {name: counts[name] for name in names[start : start + AT_ONCE]}


def _amounts(state: State, report: QuotaReport) -> tuple[Amounts | None, ...]:
    reserved = state.quotas[report.id].spec.reserved
    used = report.used_own.plus(report.used_below)
    found: list[Amounts | None] = []
    for i, least in enumerate(report.desired):
        values = (
            used[i], report.used_own[i], report.loan[i], report.squeezed[i], reserved[i], report.idle_lent[i],
            report.idle_borrowed[i], report.queued[i], report.free[i],
        )  # fmt: skip
        seen = least is not None or used[i] or report.idle_borrowed[i] or report.queued[i]
        found.append(
            Amounts.of_minute(least or 0, *values, named=least is not None) if seen or i == 0 else None
        )
    return tuple(found)
