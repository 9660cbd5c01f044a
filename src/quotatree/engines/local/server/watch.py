"""How does the engine notice that something happened? A supervisor wakes it, or dies, or a second has passed.

Supervisors write into a named pipe after every line of their journal; what gets lost there is found by the sweep. Those of
services also write how many requests are in flight (`load JOB RUN THOUSANDTHS MILLISECONDS`), which nothing else keeps.
"""

from __future__ import annotations

import logging
import os
import select
import stat
import threading
import time
from collections.abc import Callable
from typing import Final

from quotatree.core import JobId
from quotatree.engines.local.files.layout import LOAD
from quotatree.engines.local.server.known import Key

log = logging.getLogger(__name__)

SWEEP_SECONDS: Final = 1.0
READ_BYTES: Final = 65_536


class Watch:
    """A thread that calls `woken` with runs that may have news, `load` with requests in flight and over how long, `ended` with a run whose supervisor is gone, and `sweep`
    every SWEEP_SECONDS.
    """

    def __init__(
        self,
        fifo: str,
        *,
        woken: Callable[[set[Key]], None],
        load: Callable[[Key, int, int], None],
        ended: Callable[[Key], None],
        sweep: Callable[[], None],
    ) -> None:
        self._woken = woken
        self._load = load
        self._ended = ended
        self._sweep = sweep
        self._poll = select.epoll()
        self._fifo = _open_fifo(fifo)
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll.register(self._fifo, select.EPOLLIN)
        self._poll.register(self._bell, select.EPOLLIN)
        self._runs: dict[int, Key] = {}  # by pidfd
        self._torn = b""
        self._closing = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="local-engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def supervise(self, pidfd: int, key: Key) -> None:
        """Watch for the end of a supervisor; callable from any thread. The watch owns, and will close, `pidfd`."""
        with self._lock:
            self._runs[pidfd] = key
            self._poll.register(pidfd, select.EPOLLIN)

    def close(self) -> None:
        self._closing = True
        os.eventfd_write(self._bell, 1)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        self._poll.close()
        for fd in (self._fifo, self._bell, *self._runs):
            os.close(fd)

    def _run(self) -> None:
        next_sweep = time.monotonic() + SWEEP_SECONDS
        while not self._closing:
            for fd, _ in self._poll.poll(max(0.0, next_sweep - time.monotonic())):
                try:
                    self._happened(fd)
                except Exception:
                    log.exception(
                        "local engine: what happened could not be dealt with; the next sweep looks again"
                    )
            if time.monotonic() >= next_sweep and not self._closing:
                try:
                    self._sweep()
                except Exception:
                    log.exception("local engine: a sweep broke; the next one looks again")
                next_sweep = time.monotonic() + SWEEP_SECONDS

    def _happened(self, fd: int) -> None:
        if fd == self._fifo:
            self._woken(self._read_fifo())
        elif fd != self._bell:
            with self._lock:
                key = self._runs.pop(fd)
                self._poll.unregister(fd)
            os.close(fd)
            self._ended(key)

    def _read_fifo(self) -> set[Key]:
        try:
            data = self._torn + os.read(self._fifo, READ_BYTES)
        except BlockingIOError:
            return set()
        *lines, self._torn = data.split(b"\n")
        keys = set()
        for line in lines:
            words = line.decode(errors="replace").split(" ")
            if len(words) == 5 and words[0] == LOAD and _are_numbers(words[2:]):
                run, in_flight_milli, span_ms = map(int, words[2:])
                self._load((JobId(words[1]), run), in_flight_milli, span_ms)
            elif _are_numbers(words[-1:]):
                keys.add((JobId(" ".join(words[:-1])), int(words[-1])))
        return keys


def _open_fifo(path: str) -> int:
    """Open for both ends, so that it never seems closed while no supervisor has it open."""
    try:
        os.mkfifo(path, 0o600)
    except FileExistsError:
        if not stat.S_ISFIFO(os.lstat(path).st_mode):
            raise
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def _are_numbers(words: list[str]) -> bool:
    return all(word.isascii() and word.isdecimal() for word in words)
