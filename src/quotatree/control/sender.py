"""How do orders reach an engine that fails now and then? In order for each job, again and again; they are idempotent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import structlog

from quotatree.control.metrics import Metrics
from quotatree.control.turn import Order
from quotatree.core import JobId
from quotatree.engines.base import Engine, StartOrder, StopOrder

log = structlog.get_logger(__name__)

RESEND_MS: Final = 1_000


class Sender:
    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self._engine = engine
        self._metrics = metrics
        self._unsent: dict[JobId, list[Order]] = {}
        self.resend_at_ms: int | None = None

    def send(self, orders: Iterable[Order], now_ms: int) -> None:
        """Send orders to the engine. Later orders for a job wait behind one that could not be sent."""
        for order in orders:
            waiting = self._unsent.get(order.job)
            if waiting is not None:
                waiting.append(order)
            elif not self._sent(order):
                self._unsent[order.job] = [order]
                self.resend_at_ms = now_ms + RESEND_MS

    def resend(self, now_ms: int) -> None:
        if self.resend_at_ms is None or now_ms < self.resend_at_ms:
            return
        for job, orders in list(self._unsent.items()):
            while orders and self._sent(orders[0]):
                del orders[0]
            if not orders:
                del self._unsent[job]
        self.resend_at_ms = now_ms + RESEND_MS if self._unsent else None

    def acknowledge(self, runs: Iterable[tuple[JobId, int]]) -> None:
        """Tell the engine that the ends of these runs are stored; if that fails, it reports them again after a restart."""
        for job, run in runs:
            try:
                self._engine.forget(job, run)
            except Exception:
                log.exception("engine_forget_failed", job=job, run=run)

    def forget(self) -> None:
        """Drop unsent orders: the world is loaded anew, and recovery gives every order again that is still needed."""
        self._unsent.clear()
        self.resend_at_ms = None

    def _sent(self, order: Order) -> bool:
        try:
            if isinstance(order, StartOrder):
                self._engine.start(order)
            elif isinstance(order, StopOrder):
                self._engine.stop(order)
            else:
                self._engine.restart(order)
        except Exception:
            log.exception("engine_order_failed", job=order.job, run=order.run)
            self._metrics.order_failures.inc()
            return False
        return True
