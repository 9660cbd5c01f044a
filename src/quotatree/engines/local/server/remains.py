"""What is left of a run whose supervisor was killed, and how does it end? By force, until nothing is found any more.

Main processes die with their supervisor. Their children are found by the mark in their environment, by the session of a
main process, and by the control group where there was one. What cleared its environment, left its session and had no
control group cannot be told from a stranger's process once the supervisor is gone.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Final

from quotatree.engines.local.files import journal
from quotatree.engines.local.host import cgroups, process_tree
from quotatree.engines.local.host.cgroups import Group
from quotatree.engines.local.host.environment import mark
from quotatree.engines.local.host.identity import Identity, boot_id, stat
from quotatree.engines.local.server import birth
from quotatree.engines.local.server.known import Key, KnownRun

log = logging.getLogger(__name__)

AGAIN_SECONDS: Final = 0.01
LONGEST_AGAIN_SECONDS: Final = 1.0
LOOKS: Final = 2
"""Looks in a row that must find nothing: in the moment of its exec a process shows no environment, and so no mark."""


class Clearer:
    """Clears runs, each in a thread of its own: a process that the kernel does not let go of must not hold up other runs.

    `without_directory` is called with a run that was cleared and cannot say so in its journal any more, because that was
    removed; `done` with its key after every try, successful or not.
    """

    def __init__(
        self, *, without_directory: Callable[[KnownRun], None], done: Callable[[set[Key]], None]
    ) -> None:
        self._without_directory = without_directory
        self._done = done
        self._clearing: set[Key] = set()
        self._lock = threading.Lock()

    def is_at(self, key: Key) -> bool:
        """Whether this run is being cleared."""
        return key in self._clearing

    def begin(self, engine: str, run: KnownRun, *, just_now: bool) -> None:
        """Clear a run, unless that has begun already. `just_now`: the supervisor was seen to die."""
        with self._lock:
            if run.key in self._clearing:
                return
            self._clearing.add(run.key)
        arguments = (engine, run, just_now)
        name = f"local-engine-{run.job}-{run.run}"
        threading.Thread(target=self._clear, args=arguments, name=name, daemon=True).start()

    def _clear(self, engine: str, run: KnownRun, just_now: bool) -> None:
        try:
            lock = birth.take_lock(run.directory)
            if lock is not None:
                try:
                    clear(engine, run, just_now=just_now)
                    journal.append(run.directory.journal, birth.end_of(run.directory), durable=True)
                finally:
                    os.close(lock)
            elif not os.path.exists(run.directory.path):
                self._clear_without_directory(engine, run, just_now)
        except Exception:
            log.exception("local engine: %s run %s could not be cleared; tried again", run.job, run.run)
        finally:
            with self._lock:
                self._clearing.discard(run.key)
        self._done({run.key})

    def _clear_without_directory(self, engine: str, run: KnownRun, just_now: bool) -> None:
        """Clear a run whose directory was removed, once its supervisor has noticed that and ended."""
        if run.supervisor is None or not run.supervisor.alive():
            clear(engine, run, just_now=just_now)
            self._without_directory(run)


def clear(engine: str, run: KnownRun, *, just_now: bool) -> None:
    """Kill what is left of a run; return when nothing is. A process that the kernel does not let go of is waited for.

    `just_now`: the supervisor was seen to die. Otherwise sessions are not searched: their ids may have been reused.
    """
    ours = cgroups.find(engine)
    groups = [Group(paths) for paths in run.groups.values() if paths]
    groups += ours.of_run(run.job, run.run)  # also those that the supervisor did not live to write down
    pause = AGAIN_SECONDS
    empty = 0
    while empty < LOOKS:
        found = kill_all(engine, run, just_now=just_now) + sum(group.kill() for group in groups)
        empty = 0 if found else empty + 1
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_AGAIN_SECONDS) if found else AGAIN_SECONDS
    for group in groups:
        group.remove()
    ours.tidy()


def kill_all(engine: str, run: KnownRun, *, just_now: bool) -> int:
    """Kill the processes found by mark and by session; return how many. They are stopped first, so that none forks."""
    known: dict[tuple[int, int], Identity] = {}
    sessions = _sessions(run) if just_now else []
    for _ in range(process_tree.STOPPING_ROUNDS):
        found = [*process_tree.marked(mark(engine, run.job, run.run)), *process_tree.in_sessions(sessions)]
        new = [one for one in found if (one.pid, one.started) not in known]
        if not new:
            break
        for process in new:
            known[process.pid, process.started] = process
            process.send(signal.SIGSTOP)
    for process in known.values():
        process.send(signal.SIGKILL)
    return len(known)


def _sessions(run: KnownRun) -> list[int]:
    """Sessions of the main processes, by pid, if of this boot and not reused: a session's members keep its id taken."""
    found = []
    for process in run.processes.values():
        now = stat(process.pid)
        if process.boot == boot_id() and (now is None or now.started == process.started):
            found.append(process.pid)
    return found
