"""How does a batch become lasting? Applied, planned and committed, all of it or nothing; only then is anybody told (A6).

A batch that breaks, or that the store does not accept, is taken back and tried again input by input: what is wrong with
one input is answered to that one alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from quotatree.control.audience import Audience
from quotatree.control.batch import Call, Inputs, run_batch
from quotatree.control.batch_rows import finished_jobs, gather
from quotatree.control.commands.dispatch import forget_answers, recall
from quotatree.control.errors import Fault
from quotatree.control.inbox import settle
from quotatree.control.metrics import Metrics
from quotatree.control.sender import Sender
from quotatree.control.store_port import LoopStore
from quotatree.control.turn import Turn
from quotatree.control.world import World
from quotatree.control.writer import Writer
from quotatree.core import JobId, apply
from quotatree.core.events import JobForgotten
from quotatree.engines.base import Engine
from quotatree.store.errors import LeaseLost, StoreConflict

log = structlog.get_logger(__name__)
FAULT_PAUSE_MS: Final = 10_000


class Committer:
    """Commits batches with a `writer`; then a `sender` has their orders, callers their answers, the `audience` their events.

    `wakeup_ms`: when to plan again although nothing happens; None: not before something does.
    """

    def __init__(
        self,
        store: LoopStore,
        engine: Engine,
        writer: Writer,
        sender: Sender,
        audience: Audience,
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._engine = engine
        self._writer = writer
        self._sender = sender
        self._audience = audience
        self._metrics = metrics
        self.wakeup_ms: int | None = None

    def recall(self, world: World, calls: Sequence[Call], now_ms: int) -> None:
        """Drop old answers, then load those to the `calls` that memory does not have, in one query to the store."""
        forget_answers(world, now_ms)
        if world.has_all_answers:
            return
        keys = [(call.command.actor, call.command.key) for call in calls if call.command.key is not None]
        unknown = [key for key in keys if key not in world.answers]
        if unknown:
            recall(world, self._store.answers(unknown))

    def commit(self, world: World, inputs: Inputs, now_ms: int) -> None:
        """Apply, plan and commit one batch, all of it or nothing; one that breaks is tried again input by input."""
        state = world.state
        turn = Turn(world, self._engine, now_ms)
        state.begin(watch=True)
        try:
            outcome = run_batch(turn, inputs)
            finished = finished_jobs(turn)
            batch, counters = gather(turn, self._writer.holder, self._writer.epoch)
        except Exception:
            state.rollback()
            if inputs.observed is not None:
                raise
            log.exception("batch_broke", inputs=len(inputs))
            self._isolate(world, inputs, now_ms)
            return
        try:
            if turn.changed_anything():
                with self._metrics.commit_seconds.time():
                    self._writer.commit(batch)
                world.counters = counters
        except StoreConflict as error:
            state.rollback()
            if (
                inputs.observed is not None
                or isinstance(error, LeaseLost)
                or self._writer.is_behind(world.counters)
            ):
                raise
            log.error("batch_not_accepted", inputs=len(inputs), error=str(error))
            self._isolate(world, inputs, now_ms)
            return
        except BaseException:
            state.rollback()
            raise
        state.commit()
        self._audience.show(world)
        self._sender.send(turn.orders, now_ms)
        self._sender.acknowledge(turn.forgets)
        _forget_jobs(world, finished, now_ms)
        wakeup_ms = outcome.next_wakeup_ms
        self.wakeup_ms = None if wakeup_ms is None else max(wakeup_ms, now_ms + 1)
        for call, answer in outcome.answers:
            settle(call.future, answer)
        if turn.told:
            self._audience.tell(counters.event)
        self._metrics.count(turn, inputs, outcome)

    def _isolate(self, world: World, inputs: Inputs, now_ms: int) -> None:
        """Commit each input as a batch of its own; a single one that broke is answered with Fault."""
        if len(inputs) > 1:
            for one in inputs.one_by_one():
                self.commit(world, one, now_ms)
            return
        for call in inputs.calls:
            settle(call.future, Fault())
        self._metrics.faults.inc()
        self.wakeup_ms = now_ms + FAULT_PAUSE_MS


def _forget_jobs(world: World, finished: Sequence[JobId], now_ms: int) -> None:
    for job in finished:
        apply(world.state, JobForgotten(job), now_ms)
        del world.cards[job]
        world.demands.pop(job, None)
