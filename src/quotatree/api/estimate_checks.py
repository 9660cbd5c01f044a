"""How right are the server's estimates here? Once a minute it asks itself about a job that has begun to wait.

What it said is kept with the job. Once the job has started, the next estimates learn from it which range to tell
(`sim/calibration`). Only the server that leads asks, in the process that makes all estimates, and about one job a minute.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, NamedTuple, Protocol, TypeVar

import structlog

from quotatree.api.estimate_worker import Work
from quotatree.api.estimates import WAITING, Known, known_of, played
from quotatree.api.models.explanations import EstimateOut
from quotatree.control.errors import Unavailable
from quotatree.control.world import World
from quotatree.core import JobId
from quotatree.store.errors import StoreError
from quotatree.store.estimating import Material
from quotatree.store.rows import EstimateRow

T = TypeVar("T")
log = structlog.get_logger(__name__)

EVERY_SECONDS: Final = 60.0
LONGEST_ANSWER_SECONDS: Final = 30.0
LONGEST_PLAY_SECONDS: Final = 10.0
"""A check that takes longer is given up: a server that stops waits for it."""

Wait = tuple[JobId, int]
"""A job, and the number of its last run: it waits anew after each."""


class EstimateStore(Protocol):
    def material(self, quotas: tuple[str, ...]) -> Material: ...

    def put_estimate(self, holder: str, epoch: int, row: EstimateRow) -> None: ...


class Asked(Protocol):
    """What is needed of the loop."""

    @property
    def lease(self) -> tuple[str, int] | None: ...

    def ask(self, query: Callable[[World, int], T]) -> Future[T]: ...


class _New(NamedTuple):
    """All that wait now; of those that did not wait a minute ago the one submitted last, and what is known of its tree."""

    waits: frozenset[Wait]
    job: JobId | None
    known: Known | None


class EstimateChecks:
    def __init__(
        self,
        controller: Asked,
        store: EstimateStore,
        *,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        make: Callable[[Work], EstimateOut] = lambda work: played(work, seconds=LONGEST_PLAY_SECONDS),
    ) -> None:
        self._controller = controller
        self._store = store
        self._clock = clock
        self._make = make
        self._waits: frozenset[Wait] | None = None  # a minute ago; None: not looked yet
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="estimate-checks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def look(self) -> None:
        """Ask about one job that began to wait since the last look, and keep the answer, if this server leads."""
        lease = self._controller.lease
        if lease is None:
            self._waits = None
            return
        before = self._waits
        new = self._controller.ask(lambda world, _: _new(world, before)).result(LONGEST_ANSWER_SECONDS)
        self._waits = new.waits
        if new.job is None or new.known is None:
            return
        material = self._store.material(new.known.quotas)
        if new.job not in material.owners:
            return
        now_ms = self._clock()
        work = Work(material, new.job, now_ms, new.known.settings, new.known.longest_run_ms)
        likely_ms = self._make(work)["likely_ms"]
        if likely_ms is not None:
            self._store.put_estimate(*lease, EstimateRow(new.job, now_ms, likely_ms))

    def _run(self) -> None:
        while not self._stopping.wait(EVERY_SECONDS):
            try:
                self.look()
            except (StoreError, Unavailable, TimeoutError) as error:
                log.warning("estimate_not_checked", error=str(error) or type(error).__name__)
            except Exception:
                log.exception("estimate_checks_broke")  # the next minute is tried


def _new(world: World, before: frozenset[Wait] | None) -> _New:
    waiting = [job for job in world.state.jobs.values() if job.phase in WAITING]
    waits = frozenset((job.id, job.run) for job in waiting)
    new = [] if before is None else [job for job in waiting if (job.id, job.run) not in before]
    if not new:
        return _New(waits, None, None)
    last = max(new, key=lambda job: (job.spec.submitted_ms, job.id))
    return _New(waits, last.id, known_of(world, last.quota))
