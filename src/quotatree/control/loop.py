"""The one writer (A6): takes every waiting command, report and deadline, applies, plans, commits once, then acts.

    call(command) ─┐                                             ┌─> engine orders
    engine reports ┼─> step: apply, plan, gather ─> store.commit ┼─> futures answered
    deadlines ─────┘        (all can be taken back)              └─> finished jobs forgotten

Only the loop's thread touches the world; `call`, `ask` and the engine's reports just put things into its queue. While a
commit runs, what arrives is gathered for the next: the busier the server, the larger its batches.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

import structlog

from quotatree.control.audience import Audience, Published
from quotatree.control.batch import Call, Inputs
from quotatree.control.commands.values import Answer, CancelJob, Command, StopJob
from quotatree.control.committer import Committer
from quotatree.control.errors import Unavailable
from quotatree.control.health import Health, LoopSettings, Mode
from quotatree.control.inbox import Ask, Inbox, settle
from quotatree.control.load_world import runs_elsewhere, world_from
from quotatree.control.metrics import Metrics
from quotatree.control.onlooker import Onlooker
from quotatree.control.recovery import standing_orders
from quotatree.control.reports import lasting
from quotatree.control.reserve import NoReserve, Reserve
from quotatree.control.sender import Sender
from quotatree.control.store_port import LoopStore
from quotatree.control.world import World
from quotatree.control.writer import InDoubt, Writer
from quotatree.core import QuotaTreeError
from quotatree.engines.base import Engine, EngineUnavailable
from quotatree.store.errors import (
    DiskFull,
    LeaseLost,
    NewerTables,
    NotMigrated,
    StoreConflict,
    StoreUnavailable,
)
from quotatree.store.rows import EngineRow

__all__ = ["Controller", "Health", "LoopSettings", "Mode", "Published"]

T = TypeVar("T")
log = structlog.get_logger(__name__)
DEAF: Final = {Mode.STOPPED: "the server is stopping", Mode.MIGRATING: Mode.MIGRATING.value}
"""Modes in which the loop's thread hears nobody, for it ends or is busy for long; what it says instead."""
IN_DOUBT: Final = "the store went away in the middle: it is not known whether this was written; repeat it with its key, or look"


class Controller:
    def __init__(
        self,
        store: LoopStore,
        engine: Engine,
        holder: str,
        *,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        settings: LoopSettings | None = None,
        metrics: Metrics | None = None,
        reserve: Reserve | None = None,
        say: Callable[[str], None] = lambda line: None,
        overtaken: Callable[[], None] = lambda: None,
    ) -> None:
        """`say` is told, line by line, what is done to tables of an older version; `overtaken`, that a newer one leads."""
        self._reserve = reserve or NoReserve()
        self._gave = False  # a piece of the reserve, for the latest try on a full disk
        self.metrics = metrics or Metrics()
        self._store = store
        self._engine = engine
        self._clock = clock
        self._settings = settings or LoopSettings()
        self._writer = Writer(store, holder, self._settings.lease_ms)
        self._say = say
        self._tell_overtaken = overtaken
        self.overtaken = ""  # why this server ends: a newer version has taken over the store
        self._inbox = Inbox()
        self._world: World | None = None
        self._onlooker = Onlooker(store, self._settings.core)
        self._now_ms = 0
        self._retry_at_ms = 0
        self._retry_ms = 0
        self._engine_open = False
        self._sender = Sender(engine, self.metrics)
        self._audience = Audience()
        self._committer = Committer(store, engine, self._writer, self._sender, self._audience, self.metrics)
        self._stopping = False
        self.leader = ""  # who had the lease when this server last asked for it in vain
        self._health = Health(Mode.STARTING, clock(), "", 0)
        self._thread = threading.Thread(target=self._run, name="control-loop", daemon=True)

    # -- from any thread ---------------------------------------------------------------------------------------

    def call(self, command: Command) -> Future[Answer]:
        """Queue a command. Its future has the answer only after the commit that contains it."""
        future: Future[Answer] = Future()
        if self._health.mode in DEAF:
            future.set_exception(Unavailable(DEAF[self._health.mode]))
        elif self._inbox.size() >= self._settings.most_waiting:
            future.set_exception(Unavailable("too many requests wait already"))
        else:
            self._inbox.put(Call(command, future))
        return future

    def ask(self, query: Callable[[World, int], T]) -> Future[T]:
        """Queue a query, which the loop's thread runs between two batches. It must change nothing and be quick."""
        future: Future[T] = Future()
        if self._health.mode in DEAF:
            future.set_exception(Unavailable(DEAF[self._health.mode]))
        else:
            self._inbox.put(Ask(query, future))
        return future

    def listen(self, listener: Callable[[int], None]) -> Callable[[], None]:
        """After every commit with events, have the loop's thread call `listener` with the number of the last one.

        The listener must return at once. Returns a function that ends the calls.
        """
        return self._audience.listen(listener)

    @property
    def health(self) -> Health:
        return self._health

    @property
    def published(self) -> Published | None:
        """What is committed; None while no world is loaded: this server starts, has stopped, or has no copy yet."""
        return self._audience.published

    @property
    def lease(self) -> tuple[str, int] | None:
        """Holder and epoch of the lease under which this server leads; None while it does not."""
        return (self._writer.holder, self._writer.epoch) if self._health.mode is Mode.LEADING else None

    def start(self) -> None:
        """Start the loop in a thread of its own; it carries out commands as soon as the world is loaded."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what waits, end the thread and give the lease back. Jobs go on running."""
        self._stopping = True
        self._inbox.wake()
        if self._thread.ident is None:
            self._end()
        else:  # it ends everything itself, also where it broke, and once is enough
            self._thread.join()

    # -- the loop ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        # The world is large and lives long: a garbage collection every few hundred objects would cost half as much again.
        gc.set_threshold(50_000, 20, 100)
        try:
            while not self._stopping:
                self.step()
                self._inbox.take(self._pause_seconds())
            self.step()
        except Exception as error:
            log.exception("loop_broke")
            said = (
                str(error) if isinstance(error, QuotaTreeError) else f"internal error: {type(error).__name__}"
            )
            self._become(Mode.STOPPED, said)
        self._end()

    def step(self) -> None:
        """Work off the inbox until nothing waits. Tests call this with a clock of their own instead of `start`."""
        self._inbox.take(0)
        while self._turn():
            if not self._stopping:
                self._inbox.take(0)
        self._health = Health(
            self._health.mode, self._health.since_ms, self._health.detail, self._inbox.size()
        )

    def _turn(self) -> bool:
        """Keep the lease, commit one batch and run the waiting queries; return whether more calls or reports wait."""
        if self.overtaken:
            return False
        self._now_ms = max(self._now_ms, self._clock())
        try:
            if self._health.mode is Mode.DISK_FULL and self._only_stops():
                self._gave = self._reserve.give()
                self._work(everything=False)
                more = bool(self._inbox.calls)
            elif self._ready():
                self._work()
                self._become(Mode.LEADING)
                self._retry_ms = 0
                more = bool(self._inbox.calls or self._inbox.reports)
            else:
                more = False
        except DiskFull as error:
            more = self._disk_is_full(error)
        except StoreUnavailable as error:
            more = False
            self._back_off()
            self.metrics.store_failures.inc()
            self._become(Mode.STORE_AWAY, str(error))
        except EngineUnavailable as error:
            more = False
            self._back_off()
            self._become(Mode.STARTING, f"the engine is unavailable: {error}")
        except NewerTables as error:
            more = False
            self._give_up(error)
        except (StoreConflict, NotMigrated) as error:
            more = False
            self._stand_by(error)
        if not more:
            self._refuse_calls()
        self._answer_asks()
        return more

    def _ready(self) -> bool:
        """Whether this server leads, with a store that answers and a lease that holds; begins to lead if it can."""
        if self._now_ms < self._retry_at_ms:
            return False
        if self._world is None:
            self._inbox.reports = lasting(self._inbox.reports)
            return self._lead()
        if self._health.mode in (Mode.STORE_AWAY, Mode.DISK_FULL):
            if self._writer.is_behind(self._world.counters):
                # A commit was written although its answer got lost, so memory is behind the store: load it anew.
                self._world = None
                return self._lead()
            self._writer.prove(self._world.counters, self._now_ms)
        self._writer.keep(self._now_ms)
        return True

    def _lead(self) -> bool:
        if not self._writer.take(self._now_ms):
            self.leader = self._store.lease_holder()
            self._retry_at_ms = self._now_ms + self._settings.lease_ms // 3
            if self._writer.waits_for_older:
                self._become(Mode.WAITS_FOR_OLDER, f"{self.leader or 'another server'} leads")
            else:
                self._become(Mode.STANDBY)
                self._look_on()
            return False
        self._prepare_store()
        if not self._engine_open:
            self._engine.open(self._inbox.put)
            self._engine_open = True
        loaded = self._store.load(self._settings.core)
        elsewhere = runs_elsewhere(loaded, self._engine.place)
        if elsewhere and not self._settings.abandon_runs:
            self._give_way(elsewhere)
            return False
        world = world_from(loaded)
        self._sender.forget()
        self._engine.recall(standing_orders(world))
        mine = EngineRow(*self._engine.place)
        inputs = Inputs(observed=self._engine.observe(), engine=None if loaded.engine == mine else mine)
        self._committer.commit(world, inputs, self._now_ms)
        self._world = world
        self._onlooker.forget()
        self._become(Mode.LEADING)
        self._retry_ms = 0
        log.info("leading", holder=self._writer.holder, epoch=self._writer.epoch, jobs=len(world.state.jobs))
        return True

    def _prepare_store(self) -> None:
        """Bring the tables up to date, and mend what a server of an older version may have left in the books."""
        if self._writer.waits_for_older:
            self._become(Mode.MIGRATING)
            self._inbox.take(0)
            self._refuse_calls()
            self._answer_asks()
            self._writer.upgrade(self._clock, self._tell)
            self._now_ms = max(self._now_ms, self._clock())
        try:
            mended = self._writer.mend()
        except LeaseLost:
            raise
        except StoreConflict:
            log.exception("books_not_mended")  # sums of use stay wrong; nothing else rests on them
            return
        if mended:
            self.metrics.books_mended.inc(len(mended.open_runs) + len(mended.runs_without_use))
            log.warning("books_mended", what=str(mended))

    def _tell(self, line: str) -> None:
        log.info("upgrade", said=line)
        self._say(line)

    def _look_on(self) -> None:
        """Take a copy of what the leader has committed, from which questions are answered here."""
        if self._onlooker.look():
            copy = self._onlooker.copy
            assert copy is not None
            self._audience.show(copy)
            self._audience.tell(copy.counters.event)

    def _work(self, *, everything: bool = True) -> None:
        """Commit one batch of what waits. Not `everything`: only the calls, which need least room."""
        world = self._world
        assert world is not None
        self._sender.resend(self._now_ms)
        most = self._settings.most_in_batch
        inputs = Inputs(self._inbox.calls[:most])
        if everything:
            inputs = Inputs(
                self._inbox.calls[:most], self._inbox.reports[:most], world.deadlines.take_due(self._now_ms)
            )
        wakeup_ms = self._committer.wakeup_ms
        woken = wakeup_ms is not None and wakeup_ms <= self._now_ms
        if not inputs and not woken:
            return
        try:
            self._committer.recall(world, inputs.calls, self._now_ms)
            self._committer.commit(world, inputs, self._now_ms)
        except (StoreUnavailable, StoreConflict) as error:
            for deadline in inputs.deadlines:
                world.deadlines.add(deadline)
            if isinstance(error, InDoubt):
                for call in inputs.calls:
                    settle(call.future, Unavailable(IN_DOUBT))
            raise
        del self._inbox.calls[: len(inputs.calls)]
        del self._inbox.reports[: len(inputs.reports)]

    # -- when things go wrong ------------------------------------------------------------------------------------

    def _back_off(self) -> None:
        """Set the time of the next try; the pause doubles each time, up to `longest_retry_ms`."""
        settings = self._settings
        self._retry_ms = min(max(self._retry_ms * 2, settings.first_retry_ms), settings.longest_retry_ms)
        self._retry_at_ms = self._now_ms + self._retry_ms

    def _disk_is_full(self, error: DiskFull) -> bool:
        """Become read only but for stops; return whether a stop waits that can be tried with a piece of the reserve."""
        tried_with_reserve = self._health.mode is Mode.DISK_FULL and bool(self._inbox.calls)
        self._back_off()
        self.metrics.store_failures.inc()
        if self._health.mode is not Mode.DISK_FULL:
            self._reserve.name_culprit(str(error))
        self._become(Mode.DISK_FULL, " ".join([str(error), *self._largest()]))
        return self._only_stops() and (not tried_with_reserve or self._gave)

    def _largest(self) -> list[str]:
        return [f"(the largest job is {self._reserve.largest})"] if self._reserve.largest else []

    def _only_stops(self) -> bool:
        """Refuse every waiting call that does not stop a job; return whether one is left. The disk is full."""
        self._inbox.refuse(
            self._health.mode.value, keep=lambda command: isinstance(command, CancelJob | StopJob)
        )
        return bool(self._inbox.calls) and self._world is not None

    def _stand_by(self, error: StoreConflict | NotMigrated) -> None:
        """Drop the world, which is no longer what is stored; it is loaded anew when this server leads again."""
        log.error("store_conflict", lease_lost=isinstance(error, LeaseLost), error=str(error))
        self._world = None
        self._audience.clear()
        self.metrics.stands_by()
        self._retry_at_ms = self._now_ms + self._settings.lease_ms // 3
        self._become(Mode.STANDBY, str(error))

    def _give_up(self, error: NewerTables) -> None:
        """End: a newer version has the store, and nothing that this one could write would be right."""
        self.overtaken = str(error)
        log.error("overtaken", error=self.overtaken)
        self._world = None
        self._audience.clear()
        self._stopping = True
        self._become(Mode.STOPPED, self.overtaken)
        self._tell_overtaken()

    def _give_way(self, why: str) -> None:
        """Release the lease, so that the server whose engine has the open runs can take it at once."""
        if self._health.mode is not Mode.ELSEWHERE:
            log.error("runs_elsewhere", error=why)
        self._writer.release()
        self._retry_at_ms = self._now_ms + self._settings.lease_ms // 3
        self._become(Mode.ELSEWHERE, why)

    def _refuse_calls(self) -> None:
        """Answer every call that has no answer yet with Unavailable, a standby with who leads; nothing of it was done."""
        why = self._health.mode.value
        if self._health.mode in (Mode.STANDBY, Mode.WAITS_FOR_OLDER) and self.leader:
            why += f"; write to {self.leader}"
        self._inbox.refuse(why)

    def _answer_asks(self) -> None:
        world = self._onlooker.copy if self._world is None else self._world
        self._inbox.answer_asks(world, self._now_ms, self._health.mode.value)

    # -- waiting -------------------------------------------------------------------------------------------------

    def _pause_seconds(self) -> float:
        if self._world is None or self._now_ms < self._retry_at_ms:
            times = [self._retry_at_ms]
        else:
            times = [self._writer.renew_at_ms]
            others = (self._committer.wakeup_ms, self._world.deadlines.next_ms(), self._sender.resend_at_ms)
            times += [time_ms for time_ms in others if time_ms is not None]
        return max(0.0, (min(times) - self._clock()) / 1000)

    def _become(self, mode: Mode, detail: str = "") -> None:
        if mode is not self._health.mode or detail != self._health.detail:
            log.info("mode", mode=mode.value, detail=detail)
            self._health = Health(mode, self._now_ms, detail, self._inbox.size())

    def _end(self) -> None:
        if self._health.mode is not Mode.STOPPED:
            self._become(Mode.STOPPED)
        self._inbox.take(0)
        self._refuse_calls()
        self._world = None
        self._audience.clear()
        self._onlooker.forget()
        self._answer_asks()
        self._engine.close()
        try:
            self._writer.release()
        except (StoreUnavailable, StoreConflict):
            log.warning("lease_not_released")
