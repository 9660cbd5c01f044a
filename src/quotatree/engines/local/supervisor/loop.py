"""What happens next in a supervisor? One thread that waits for files, signals and moments, and calls who asked for them."""

from __future__ import annotations

import heapq
import os
import select
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

now = time.monotonic


class Timer:
    """A call that is made once, at the moment `at` of the monotonic clock, unless it is cancelled."""

    __slots__ = ("_call", "at")

    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at = at
        self._call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self._call = None

    def fire(self) -> None:
        if self._call is not None:
            call, self._call = self._call, None
            call()

    @property
    def pending(self) -> bool:
        return self._call is not None

    def __lt__(self, other: Timer) -> bool:
        return self.at < other.at


class Loop:
    def __init__(self) -> None:
        self._poll = select.epoll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._timers: list[Timer] = []
        self._signals: dict[int, Callable[[], None]] = {}
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        self.watch(self._wake_read, self._signalled)

    def watch(self, fd: int, ready: Callable[[], None]) -> None:
        """Call `ready` whenever `fd` can be read, or its other end is closed."""
        self._readers[fd] = ready
        self._poll.register(fd, select.EPOLLIN)

    def unwatch(self, fd: int) -> None:
        if self._readers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def on_signal(self, signum: int, call: Callable[[], None]) -> None:
        self._signals[signum] = call
        signal.signal(signum, _noted)

    def at(self, moment: float, call: Callable[[], None]) -> Timer:
        timer = Timer(moment, call)
        heapq.heappush(self._timers, timer)
        return timer

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        return self.at(now() + seconds, call)

    def turn(self) -> None:
        """Wait until a file, a signal or a timer is due, and make the calls that were asked for."""
        for fd, _ in self._poll.poll(self._patience()):
            ready = self._readers.get(fd)
            if ready is not None:
                ready()
        moment = now()
        while self._timers and self._timers[0].at <= moment:
            heapq.heappop(self._timers).fire()

    def close(self) -> None:
        """Close the loop in a forked child that makes its own: signals of the child must not wake its parent."""
        signal.set_wakeup_fd(-1)
        self._poll.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _patience(self) -> float:
        while self._timers and not self._timers[0].pending:
            heapq.heappop(self._timers)
        return max(0.0, self._timers[0].at - now()) if self._timers else -1

    def _signalled(self) -> None:
        try:
            raised = set(os.read(self._wake_read, 4096))
        except BlockingIOError:
            return
        for signum in sorted(raised):
            call = self._signals.get(signum)
            if call is not None:
                call()


def _noted(_signum: int, _frame: object) -> None:
    """Do nothing: the loop learns of signals by its wake-up pipe, for which Python needs a handler to exist."""
