"""A timer engine that prints and answers, for tests of what is read from an engine: the log of every run is in memory."""

from __future__ import annotations

import dataclasses
import threading

from quotatree.core.model.job import JobId, JobSpec
from quotatree.engines.base import Capabilities, Endpoint, LogPiece, Program, RestartOrder, StartOrder
from quotatree.engines.timer import TimerEngine

OURS = frozenset({"command", "secrets"})
TOKEN = "notebook-token"


class TalkingTimer(TimerEngine):
    """Jobs are timers that may have a command and secrets. Every replica says hello; the rest is up to the test."""

    def __init__(self, *, most_bytes: int = 32) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._logs: dict[tuple[str, int, int], bytearray] = {}
        self._cut: dict[tuple[str, int, int], int] = {}
        self._over: set[tuple[str, int]] = set()
        self.most_bytes = most_bytes
        """At a time, so that answers have to be put together."""
        self.restarted: list[RestartOrder] = []
        self.started: list[StartOrder] = []

    @property
    def capabilities(self) -> Capabilities:
        return dataclasses.replace(super().capabilities, logs=True, endpoints=True)

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        return super().refuses(job, {name: value for name, value in program.items() if name not in OURS})

    def start(self, order: StartOrder) -> None:
        self.started.append(order)
        for replica in order.replicas:
            with self._lock:
                self._logs.setdefault((order.job, order.run, replica.replica), bytearray(b"hello\n"))
        super().start(order)

    def prints(self, job: str, data: bytes, run: int = 1, replica: int = 0) -> None:
        with self._lock:
            self._logs[job, run, replica] += data

    def throws_away(self, job: str, before: int, run: int = 1, replica: int = 0) -> None:
        with self._lock:
            self._cut[job, run, replica] = before

    def closes(self, job: str, run: int = 1) -> None:
        with self._lock:
            self._over.add((job, run))

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        with self._lock:
            whole = self._logs.get((job, run, replica))
            if whole is None:
                return None
            wanted = len(whole) + offset if offset < 0 else offset
            start = min(max(wanted, self._cut.get((job, run, replica), 0)), len(whole))
            data = bytes(whole[start : start + min(limit, self.most_bytes)])
            return LogPiece(start, data, len(whole), (job, run) in self._over)

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        return Endpoint(f"http://127.0.0.1:1/{job}", TOKEN, 1)

    def restart(self, order: RestartOrder) -> None:
        self.restarted.append(order)
