"""What-if runs on the server: one at a time, in a process of its own, bounded in time and number.

A run waits, plays its variants one after the other, and is then done, failed or cancelled. The newest runs are kept; those that are
done or failed in files too, so that they outlive the server. Whoever wants a result for longer keeps the answer.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final

import structlog

from quotatree.access.errors import NotFound
from quotatree.api.problems import ApiError
from quotatree.api.simulation_files import SimulationFiles
from quotatree.identity.secret import new_secret
from quotatree.sim.worker import Work

log = structlog.get_logger(__name__)
MOST_WAITING: Final = 5
MOST_KEPT: Final = 50
LONGEST_SECONDS: Final = 600
ID_LENGTH: Final = 12
COMMAND: Final = (sys.executable, "-c", "from quotatree.sim.worker import main; main()")


class State(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


def _new_id() -> str:
    return new_secret()[:ID_LENGTH].lower()


@dataclass(slots=True, eq=False)
class Run:
    """One what-if run. What changes while it plays is written by the thread that plays it, one field at a time."""

    user: str
    quota: str
    title: str
    variants: tuple[str, ...]
    from_ms: int
    before_ms: int
    work: Work | None
    created_ms: int
    jobs: int = 0
    skipped: tuple[str, ...] = ()
    id: str = field(default_factory=_new_id)
    state: State = State.WAITING
    started_ms: int | None = None
    ended_ms: int | None = None
    error: str | None = None
    progress: dict[str, Any] | None = None
    results: dict[int, dict[str, Any]] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """All that is told of a finished run, as JSON."""
        told = {name: getattr(self, name) for name in self.__slots__ if name not in {"work", "progress"}}
        return {**told, "state": self.state.value}

    @classmethod
    def of_fields(cls, fields: dict[str, Any]) -> Run:
        return cls(
            **{
                **fields,
                "work": None,
                "state": State(fields["state"]),
                "variants": tuple(fields["variants"]),
                "skipped": tuple(fields["skipped"]),
                "results": {int(place): result for place, result in fields["results"].items()},
            }
        )


class Simulations:
    """The runs of this server. Methods may be called from any thread."""

    def __init__(
        self,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        *,
        longest_seconds: float = LONGEST_SECONDS,
        command: Sequence[str] = COMMAND,
        directory: Path | None = None,
    ) -> None:
        self._clock = clock
        self._longest_seconds = longest_seconds
        self._command = tuple(command)
        self._lock = threading.Lock()
        self._files = SimulationFiles(directory)
        before = sorted(self._files.kept(Run.of_fields), key=lambda run: run.created_ms)
        self._runs: dict[str, Run] = {run.id: run for run in before}
        self._waiting: list[Run] = []
        self._thread: threading.Thread | None = None
        self._playing: tuple[Run, subprocess.Popen[bytes]] | None = None
        self._closed = False

    def add(self, run: Run) -> None:
        """Queue a run. Raises ApiError if too many wait already."""
        with self._lock:
            if len(self._waiting) >= MOST_WAITING or self._closed:
                text = f"{len(self._waiting)} simulations wait already; try again when one is done"
                raise ApiError("TooMany", text, {"Retry-After": "30"})
            self._runs[run.id] = run
            self._waiting.append(run)
            over = [old for old in self._runs.values() if old.ended_ms is not None]
            for old in over[: max(0, len(self._runs) - MOST_KEPT)]:
                del self._runs[old.id]
                self._files.forget(old.id)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work_off, name="simulations", daemon=True)
                self._thread.start()

    def run(self, run_id: str) -> Run:
        with self._lock:
            found = self._runs.get(run_id)
        if found is None:
            raise NotFound("simulation", run_id)
        return found

    def all(self) -> list[Run]:
        """All runs that are kept, newest first."""
        with self._lock:
            return list(self._runs.values())[::-1]

    def remove(self, run_id: str) -> None:
        """Forget a run; one that waits or plays is cancelled."""
        run = self.run(run_id)
        with self._lock:
            self._runs.pop(run_id, None)
            self._cancel(run)
            self._files.forget(run_id)

    def close(self) -> None:
        """Cancel what waits and plays, for good."""
        with self._lock:
            self._closed = True
            for run in list(self._runs.values()):
                self._cancel(run)
            thread = self._thread
        if thread is not None:
            thread.join()

    def _cancel(self, run: Run) -> None:
        """End a run that is not over. The lock is held."""
        if run.ended_ms is not None:
            return
        self._end(run, State.CANCELLED)
        if run in self._waiting:
            self._waiting.remove(run)
        if self._playing is not None and self._playing[0] is run:
            self._playing[1].kill()

    def _work_off(self) -> None:
        """Play what waits, one run after the other, until nothing does."""
        while True:
            with self._lock:
                if not self._waiting or self._closed:
                    self._thread = None
                    return
                run = self._waiting.pop(0)
                run.state, run.started_ms = State.RUNNING, self._clock()
                process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
                assert process.stdout is not None
                self._playing = run, process
            late = threading.Timer(self._longest_seconds, process.kill)
            late.start()
            try:
                self._play(run, process)
            except Exception:
                log.exception("simulation_broke", run=run.id)
                run.error = "internal error"
            finally:
                late.cancel()
                process.kill()
                process.wait()
                process.stdout.close()
                with self._lock:
                    self._playing = None
                    whole = len(run.results) == len(run.variants)
                    if run.ended_ms is None and not whole and run.error is None:
                        run.error = f"it took longer than {self._longest_seconds:g} s, or too much memory"
                    self._end(run, State.DONE if whole else State.FAILED)
                    if run.id in self._runs and run.state is not State.CANCELLED:
                        self._files.keep(run.id, run.fields())

    def _play(self, run: Run, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with (
            suppress(BrokenPipeError),
            process.stdin as source,
        ):  # broken: it was cancelled before it could read
            source.write(pickle.dumps(run.work))
        for line in process.stdout:
            said = json.loads(line)
            if "progress" in said:
                run.progress = said["progress"]
            elif "result" in said:
                run.results[said["result"].pop("variant")] = said["result"]
            else:
                run.error = f"{run.variants[said['error']['variant']]}: {said['error']['why']}"

    def _end(self, run: Run, state: State) -> None:
        """Note how a run ended, the first time that it does, and forget what it was to play. The lock is held."""
        run.work = None
        if run.ended_ms is None:
            run.state, run.ended_ms, run.progress = state, self._clock(), None
