"""What waits for the loop: commands, questions and reports of the engine. Any thread puts, only the loop's thread takes."""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from quotatree.control.batch import Call
from quotatree.control.commands.values import Answer, Command
from quotatree.control.errors import Unavailable
from quotatree.control.world import World
from quotatree.core import QuotaTreeError
from quotatree.engines.base import Report


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A question that is answered between two batches."""

    query: Callable[[World, int], Any]
    future: Future[Any]


class Inbox:
    """A queue, and what was taken from it and waits to be worked off: `calls`, `asks` and `reports`."""

    def __init__(self) -> None:
        self._arrived: queue.SimpleQueue[Call | Ask | Report | None] = queue.SimpleQueue()
        self.calls: list[Call] = []
        self.asks: list[Ask] = []
        self.reports: list[Report] = []

    def put(self, item: Call | Ask | Report) -> None:
        self._arrived.put(item)

    def wake(self) -> None:
        """End a pause of the loop without giving it anything."""
        self._arrived.put(None)

    def size(self) -> int:
        """Return how much has arrived and was not taken yet."""
        return self._arrived.qsize()

    def take(self, seconds: float) -> None:
        """Take all that has arrived, waiting up to `seconds` for the first."""
        try:
            item = self._arrived.get(timeout=seconds) if seconds > 0 else self._arrived.get_nowait()
            while True:
                if isinstance(item, Call):
                    self.calls.append(item)
                elif isinstance(item, Ask):
                    self.asks.append(item)
                elif item is not None:
                    self.reports.append(item)
                item = self._arrived.get_nowait()
        except queue.Empty:
            return

    def refuse(self, why: str, keep: Callable[[Command], bool] = lambda _: False) -> None:
        """Answer every waiting call that is not kept and has no answer yet with Unavailable; nothing of it was done."""
        kept = [call for call in self.calls if keep(call.command)]
        for call in self.calls:
            if call not in kept:
                settle(call.future, Unavailable(why))
        self.calls = kept

    def answer_asks(self, world: World | None, now_ms: int, why_not: str) -> None:
        """Answer every waiting question from this world; without one, with Unavailable."""
        asks, self.asks = self.asks, []
        for ask in asks:
            if not ask.future.set_running_or_notify_cancel():
                continue
            if world is None:
                ask.future.set_exception(Unavailable(why_not))
                continue
            try:
                ask.future.set_result(ask.query(world, now_ms))
            except Exception as error:
                ask.future.set_exception(error)


def settle(future: Future[Answer], answer: Answer | QuotaTreeError) -> None:
    if future.done() or not future.set_running_or_notify_cancel():
        return  # answered already, or cancelled by a client that is gone: the command is not taken back for that
    if isinstance(answer, Answer):
        future.set_result(answer)
    else:
        future.set_exception(answer)
