"""Which replica answers the next request? The ready one with the least under way.

Each replica has a key and a port, and is asked again and again whether it is well: by a request where a path was named,
else by opening a connection. A draining one gets nothing new, and is reported once its last request was answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from quotatree.engines.local.proxy.load import Load

HOST: Final = "127.0.0.1"
FIRST_CHECK_SECONDS: Final = 0.02  # doubles up to the interval: a quick start is seen quickly
FAILURES_TO_UNREADY: Final = 3  # one slow answer says nothing; a refused connection says all
HELD_REQUESTS: Final = 1000
CHECK_READ_BYTES: Final = 64 * 1024

Key = str
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Health:
    """How a replica is asked whether it is well. Without a path an opened connection is enough."""

    path: str = ""
    interval_seconds: float = 1.0
    timeout_seconds: float = 2.0


@dataclass(slots=True, eq=False)
class Backend:
    key: Key
    port: int
    ready: bool = False
    draining: bool = False
    active: int = 0
    chosen: int = 0  # number of its latest choice, among all choices
    trouble: str = ""  # what was last told to be wrong with it
    nudge: asyncio.Event = field(default_factory=asyncio.Event)
    watch: asyncio.Task[None] | None = None


class Backends:
    def __init__(self, health: Health, tell: Tell) -> None:
        self._health = health
        self._tell = tell
        self._all: dict[Key, Backend] = {}
        self._choices = 0
        self._hold_until = 0.0
        self._held: set[asyncio.Future[None]] = set()
        self.load = Load(time.monotonic)

    # -- what the supervisor says ------------------------------------------------------------------------------

    def add(self, key: Key, port: int) -> None:
        self.remove(key)
        backend = self._all[key] = Backend(key, port)
        backend.watch = asyncio.create_task(self._keep_asking(backend))

    def drain(self, key: Key) -> None:
        """Give this replica no new requests. If nothing is under way, or the key is unknown, it is told as drained at once."""
        backend = self._all.get(key)
        if backend is None:
            self._tell({"drained": key})
            return
        backend.ready = False
        backend.draining = True
        _stop(backend.watch)
        self._tell_if_drained(backend)

    def remove(self, key: Key) -> None:
        backend = self._all.pop(key, None)
        if backend is not None:
            backend.ready = False
            _stop(backend.watch)

    def hold(self, seconds: float) -> None:
        """For so many seconds, let requests wait for a replica that is about to come instead of turning them away."""
        self._hold_until = asyncio.get_running_loop().time() + seconds

    # -- what requests ask -------------------------------------------------------------------------------------

    def choose(self, tried: set[Key]) -> Backend | None:
        ready = [b for b in self._all.values() if b.ready and b.key not in tried]
        if not ready:
            return None
        best = min(ready, key=lambda b: (b.active, b.chosen))
        self._choices += 1
        best.chosen = self._choices
        return best

    async def soon(self) -> bool:
        """Wait until a replica is ready, at most while requests are held; return whether one is."""
        loop = asyncio.get_running_loop()
        left_seconds = self._hold_until - loop.time()
        if left_seconds <= 0 or len(self._held) >= HELD_REQUESTS:
            return False
        held: asyncio.Future[None] = loop.create_future()
        self._held.add(held)
        try:
            async with asyncio.timeout(left_seconds):
                await held
        except TimeoutError:
            return False
        finally:
            self._held.discard(held)
        return True

    @contextmanager
    def busy(self, backend: Backend) -> Iterator[None]:
        """Count one request as under way at this replica."""
        backend.active += 1
        try:
            yield
        finally:
            backend.active -= 1
            self._tell_if_drained(backend)

    def refused(self, backend: Backend) -> None:
        """Note that a replica refused a connection: it gets no request until a check finds it well."""
        self._set_ready(backend, False, "it refused a connection")
        backend.nudge.set()

    # -- health ------------------------------------------------------------------------------------------------

    async def _keep_asking(self, backend: Backend) -> None:
        failures = 0
        pause_seconds = FIRST_CHECK_SECONDS
        while True:
            backend.nudge.clear()
            trouble = await check(backend.port, self._health)
            if trouble is None:
                failures = 0
                backend.trouble = ""
                self._set_ready(backend, True)
            else:
                failures += 1
                if failures >= FAILURES_TO_UNREADY:
                    self._set_ready(backend, False, trouble)
                    self._tell_trouble(backend, trouble)
            if backend.ready:
                pause_seconds = self._health.interval_seconds
            else:
                pause_seconds = min(
                    max(pause_seconds, FIRST_CHECK_SECONDS) * 2, self._health.interval_seconds
                )
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_seconds):
                    await backend.nudge.wait()
                    pause_seconds = 0.0

    def _tell_trouble(self, backend: Backend, trouble: str) -> None:
        """Tell what is wrong with a replica that was not ready before either, once for each trouble."""
        if trouble != backend.trouble and not backend.draining and self._all.get(backend.key) is backend:
            backend.trouble = trouble
            self._tell({"unready": backend.key, "why": trouble})

    def _set_ready(self, backend: Backend, ready: bool, why: str = "") -> None:
        if backend.ready == ready or backend.draining or self._all.get(backend.key) is not backend:
            return
        backend.ready = ready
        backend.trouble = why
        self._tell({"ready": backend.key} if ready else {"unready": backend.key, "why": why})
        if ready:
            for held in self._held:
                if not held.done():
                    held.set_result(None)

    def _tell_if_drained(self, backend: Backend) -> None:
        if backend.draining and not backend.active and self._all.get(backend.key) is backend:
            self._tell({"drained": backend.key})


async def check(port: int, health: Health) -> str | None:
    """What is wrong with the replica at this port, or None if it is well."""
    try:
        async with asyncio.timeout(health.timeout_seconds):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                return await _asked(reader, writer, port, health.path) if health.path else None
            finally:
                writer.close()
    except TimeoutError:
        return f"it did not answer within {health.timeout_seconds:g} seconds"
    except OSError as error:
        return f"it cannot be reached: {error.strerror or error}"
    except ValueError:  # a line without end
        return "it answered with something that is not HTTP"


async def _asked(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, path: str
) -> str | None:
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nUser-Agent: quotatree-health\r\n"
        "Connection: close\r\n\r\n".encode()
    )
    words = (await reader.readline()).split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        return "it answered with something that is not HTTP"
    # Read the whole answer before closing: many servers log an error when a client hangs up early.
    left = CHECK_READ_BYTES
    while left > 0 and (part := await reader.read(left)):
        left -= len(part)
    status = int(words[1])
    return None if 200 <= status < 400 else f"{path} answered {status}"


def _stop(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
