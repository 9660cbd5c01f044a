"""How does a job run that does nothing but take time? For tests, benchmarks and trying policies out.

A run is a timer. Its program says how it behaves, in seconds:

    seconds            how long it runs; without it, until it is stopped
    outcome, detail    how it ends: succeeded (default) or failed
    starts_after       until the start is confirmed (0)
    leaves_after       until it is gone once told to stop (0), cut off by the grace period
    checkpoint_every   reports a checkpoint that often
    deaf               true: it never leaves, whatever the grace period says

With a file, every order is appended to it before anything else happens. Time goes on while nobody looks: whoever opens
the file again plays the orders back, at the times they were given, and finds what runs and what has ended since.
"""

from __future__ import annotations

import heapq
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from quotatree.core import JobId, JobSpec, Module
from quotatree.engines.base import (
    Capabilities,
    Checkpointed,
    Confirmed,
    Endpoint,
    Exited,
    Left,
    LogPiece,
    Observed,
    Outcome,
    Place,
    Program,
    Report,
    RestartOrder,
    Running,
    StartOrder,
    StopOrder,
    lacks,
)

SECONDS: Final = ("seconds", "starts_after", "leaves_after", "checkpoint_every")
FORGOTTEN_LINES_KEPT: Final = 100_000

Key = tuple[JobId, int]


@dataclass(slots=True)
class _Run:
    program: Program
    replicas: dict[int, int | None] = field(default_factory=dict)  # replica -> when it will be gone, or None
    exited: Exited | None = None


class TimerEngine:
    def __init__(
        self,
        path: Path | None = None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        *,
        threaded: bool = True,
    ) -> None:
        """`path`: file that keeps the orders; None keeps none. `clock` returns milliseconds. Without `threaded`, nothing
        happens until `run_due` is called.
        """
        self._clock = clock
        self._runs: dict[Key, _Run] = {}
        self._heap: list[tuple[int, int, Key, str, int]] = []
        self._pushed = 0
        self._told: list[Report] = []
        self._report: Callable[[Report], None] | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._log = _Log(path) if path is not None else None
        if self._log is not None:
            self._play_back(self._log)
        self._thread = threading.Thread(target=self._loop, name="timer-engine", daemon=True)
        self._threaded = threaded

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities("timer", frozenset(Module))

    @property
    def place(self) -> Place:
        """The same place for all timer engines: nothing real runs, so any server may begin the timers of another anew."""
        return Place("timer", "timers")

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        for name in SECONDS:
            value = program.get(name, 0)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
                return f"program.{name} = {value!r}: must be a number of seconds"
        if program.get("outcome", "succeeded") not in {o.value for o in Outcome}:
            return f"program.outcome = {program['outcome']!r}: must be succeeded or failed"
        unknown = sorted(set(program) - {*SECONDS, "outcome", "detail", "deaf"})
        if unknown:
            return f"program.{unknown[0]}: a timer knows no such field"
        return lacks(self.capabilities, job)

    def open(self, report: Callable[[Report], None]) -> None:
        with self._changed:
            self._due(self._clock())
            self._told.clear()
            self._report = report
            if self._threaded:
                self._thread.start()

    def start(self, order: StartOrder) -> None:
        with self._changed:
            now_ms = self._clock()
            self._due(now_ms)
            replicas = tuple(r.replica for r in order.replicas)
            new = self._new(order.job, order.run, replicas)
            if new:
                self._write(
                    now_ms, "start", order.job, order.run, replicas=new, program=dict(order.program),
                    places=[[r.node, r.devices] for r in order.replicas if r.replica in new],
                )  # fmt: skip
            self._start(now_ms, (order.job, order.run), replicas, order.program)
            self._changed.notify()
        self._tell()

    def stop(self, order: StopOrder) -> None:
        with self._changed:
            now_ms = self._clock()
            self._due(now_ms)
            self._write(
                now_ms, "stop", order.job, order.run, replicas=order.replicas, grace_ms=order.grace_ms
            )
            self._stop(now_ms, (order.job, order.run), order.replicas, order.grace_ms)
            self._changed.notify()
        self._tell()

    def restart(self, order: RestartOrder) -> None:
        """Do nothing: a restarted timer does not differ from one that went on."""

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        return None

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        return None

    def recall(self, orders: Sequence[StartOrder]) -> None:
        """Nothing is kept over an end of the process, and nothing is found that others wrote."""

    def observe(self) -> Observed:
        with self._changed:
            self._due(self._clock())
            return Observed(
                tuple(Running(*key, tuple(run.replicas)) for key, run in self._runs.items() if run.replicas),
                tuple(run.exited for run in self._runs.values() if run.exited is not None),
            )

    def forget(self, job: JobId, run: int) -> None:
        with self._changed:
            known = self._runs.get((job, run))
            if known is not None and not known.replicas:
                self._write(self._clock(), "forget", job, run)
                del self._runs[(job, run)]

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._report = None
            self._changed.notify()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        if self._log is not None:
            self._log.close()

    def run_due(self) -> int | None:
        """Carry out everything that is due; return when the next event is due, in ms, or None if there is none."""
        with self._changed:
            self._due(self._clock())
            next_ms = self._heap[0][0] if self._heap else None
        self._tell()
        return next_ms

    # -- what orders and time do -------------------------------------------------------------------------------

    def _new(self, job: JobId, run: int, replicas: tuple[int, ...]) -> tuple[int, ...]:
        known = self._runs.get((job, run))
        if known is None:
            return replicas
        return () if known.exited is not None else tuple(r for r in replicas if r not in known.replicas)

    def _start(self, now_ms: int, key: Key, replicas: tuple[int, ...], program: Program) -> None:
        run = self._runs.get(key)
        if run is None:
            run = self._runs[key] = _Run(program)
            if program.get("seconds") is not None:
                self._push(now_ms + _ms(program, "seconds"), key, "exit")
            if program.get("checkpoint_every"):
                self._push(now_ms + _ms(program, "checkpoint_every"), key, "checkpoint")
        if run.exited is not None:
            return
        for replica in replicas:
            run.replicas.setdefault(replica, None)
        delay_ms = _ms(program, "starts_after")
        if delay_ms:
            for replica in replicas:
                self._push(now_ms + delay_ms, key, "confirm", replica)
        else:
            self._told.append(Confirmed(*key, replicas))

    def _stop(self, now_ms: int, key: Key, replicas: tuple[int, ...] | None, grace_ms: int) -> None:
        run = self._runs.get(key)
        if run is None:
            return
        told = [r for r in (run.replicas if replicas is None else replicas) if r in run.replicas]
        if run.program.get("deaf"):
            return
        gone_ms = now_ms + min(_ms(run.program, "leaves_after"), grace_ms)
        for replica in told:
            before = run.replicas[replica]
            if before is None or gone_ms < before:
                run.replicas[replica] = gone_ms
                self._push(gone_ms, key, "leave", replica)
        self._due(now_ms)

    def _due(self, now_ms: int) -> None:
        while self._heap and self._heap[0][0] <= now_ms:
            at_ms, _, key, what, replica = heapq.heappop(self._heap)
            run = self._runs.get(key)
            if run is None or not run.replicas:
                continue
            if what == "exit":
                outcome = Outcome(run.program.get("outcome", "succeeded"))
                run.exited = Exited(*key, outcome, str(run.program.get("detail", "")))
                run.replicas.clear()
                self._told.append(run.exited)
            elif what == "leave" and run.replicas.get(replica) == at_ms:
                gone = tuple(r for r, gone_ms in run.replicas.items() if gone_ms == at_ms)
                for one in gone:
                    del run.replicas[one]
                self._told.append(Left(*key, gone))
            elif what == "confirm" and replica in run.replicas:
                self._told.append(Confirmed(*key, (replica,)))
            elif what == "checkpoint":
                self._told.append(Checkpointed(*key))
                self._push(at_ms + _ms(run.program, "checkpoint_every"), key, "checkpoint")

    def _push(self, at_ms: int, key: Key, what: str, replica: int = -1) -> None:
        self._pushed += 1
        heapq.heappush(self._heap, (at_ms, self._pushed, key, what, replica))

    # -- telling, waiting, remembering -------------------------------------------------------------------------

    def _tell(self) -> None:
        """Report what happened, without holding the lock: the listener may call back."""
        with self._changed:
            told, self._told, report = self._told, [], self._report
        if report is not None:
            for one in told:
                report(one)

    def _loop(self) -> None:
        while True:
            next_ms = self.run_due()
            with self._changed:
                if self._closed:
                    return
                if self._told or (self._heap and self._heap[0][0] != next_ms):
                    continue
                self._changed.wait(None if next_ms is None else max(0, next_ms - self._clock()) / 1000)

    def _write(self, now_ms: int, what: str, job: JobId, run: int, **more: Any) -> None:
        if self._log is not None:
            self._log.append({"at_ms": now_ms, "do": what, "job": job, "run": run, **more})

    def _play_back(self, log: _Log) -> None:
        lines = log.read()
        forgotten = 0
        for line in lines:
            self._due(line["at_ms"])
            key = (JobId(line["job"]), line["run"])
            if line["do"] == "start":
                self._start(line["at_ms"], key, tuple(line["replicas"]), line["program"])
            elif line["do"] == "stop":
                self._stop(line["at_ms"], key, line["replicas"], line["grace_ms"])
            else:
                forgotten += 1
                self._runs.pop(key, None)
        if forgotten > FORGOTTEN_LINES_KEPT:
            log.rewrite([line for line in lines if (JobId(line["job"]), line["run"]) in self._runs])


def _ms(program: Program, name: str) -> int:
    return round(float(program.get(name, 0)) * 1000)


class _Log:
    """A file of JSON lines, each written by one call: a killed process loses none of them (a crashed machine may)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self._file, b"\n")  # ends a line that a crash tore off

    def append(self, line: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def read(self) -> list[dict[str, Any]]:
        found = []
        for line in self._path.read_bytes().split(b"\n"):
            try:
                found.append(json.loads(line))
            except ValueError:  # empty, or torn off
                continue
        return found

    def rewrite(self, lines: list[dict[str, Any]]) -> None:
        fresh = self._path.with_suffix(".new")
        fresh.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        fresh.chmod(0o600)
        os.replace(fresh, self._path)
        os.close(self._file)
        self._file = os.open(self._path, os.O_RDWR | os.O_APPEND)

    def close(self) -> None:
        os.close(self._file)
