"""Who runs a job on a cluster: we, by pods of our own, or the controller of an object that somebody else made? By its program.

One engine to the outside. Both parts watch the same cluster and know each other's pods by their labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from quotatree.core import JobId, JobSpec
from quotatree.engines.base import (
    Capabilities,
    Endpoint,
    Engine,
    LogPiece,
    Observed,
    Place,
    Program,
    Report,
    RestartOrder,
    StartOrder,
    StopOrder,
    lacks,
)
from quotatree.engines.kubernetes.native import Native, is_adopted


class WithNative:
    def __init__(self, own: Engine, native: Native) -> None:
        self._own = own
        self._native = native

    def __getattr__(self, name: str) -> Any:
        """Whatever else the own engine has, such as notices."""
        return getattr(self._own, name)

    @property
    def capabilities(self) -> Capabilities:
        return self._own.capabilities

    @property
    def place(self) -> Place:
        return self._own.place

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        if not is_adopted(program):
            return self._own.refuses(job, program)
        return lacks(self.capabilities, job) or self._native.refuses(job, program)

    def open(self, report: Callable[[Report], None]) -> None:
        self._own.open(report)
        self._native.open(report)

    def start(self, order: StartOrder) -> None:
        (self._native if is_adopted(order.program) else self._own).start(order)

    def stop(self, order: StopOrder) -> None:
        (self._native if self._native.has(order.job) else self._own).stop(order)

    def restart(self, order: RestartOrder) -> None:
        self._own.restart(order)

    def observe(self) -> Observed:
        own, native = self._own.observe(), self._native.observe()
        return replace(own, running=(*own.running, *native.running), exits=(*own.exits, *native.exits))

    def forget(self, job: JobId, run: int) -> None:
        (self._native if self._native.has(job) else self._own).forget(job, run)

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        return None if self._native.has(job) else self._own.endpoint(job, run)

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        return None if self._native.has(job) else self._own.log(job, run, replica, offset, limit)

    def close(self) -> None:
        self._native.close()
        self._own.close()
