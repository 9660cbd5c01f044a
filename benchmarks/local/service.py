"""What do the clients of a service notice of its proxy, of replicas that are taken, and of a rolling restart?

`python -m benchmarks.local.service`. Real processes under the local engine: replicas that take some milliseconds for an
answer, and clients that ask without pause over kept connections, half of them by POST, which nobody may repeat. Dropped
is every request that was not answered with 200 and the right body. Exits with 1 if any was.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter, sleep

from benchmarks.measure import Table, ms
from quotatree.core import JobId, Module, Shape
from quotatree.engines.base import Confirmed, Left, ReplicaOrder, Report, RestartOrder, StartOrder, StopOrder
from quotatree.engines.local.server.engine import LocalEngine

REPLICAS = 4
CLIENTS = 32
WORK_SECONDS = 0.005
TIMES = 5
STEADY_SECONDS = 3.0
DEADLINE_SECONDS = 60.0
BODY = b"x" * 1000
JOB = JobId("benchmark-service")

REPLICA = f"""
import asyncio, os, sys
work_seconds = float(sys.argv[1])

async def serve(reader, writer):
    try:
        while head := await reader.readuntil(b"\\r\\n\\r\\n"):
            body = await reader.readexactly({len(BODY)}) if head.startswith(b"POST") else b""
            if work_seconds:
                await asyncio.sleep(work_seconds)
            text = str(len(body)).encode()
            writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%b" % (len(text), text))
            await writer.drain()
            if b"Connection: close" in head:
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["QUOTATREE_PORT"]), backlog=512)
    await server.serve_forever()

asyncio.run(main())
"""


@dataclass
class Seen:
    """What the clients saw during one stretch of time."""

    took_ms: list[float] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def row(self) -> tuple[str, ...]:
        ordered = sorted(self.took_ms)
        at = lambda share: ms(ordered[min(len(ordered) - 1, int(len(ordered) * share))])  # noqa: E731
        return (
            f"{len(ordered):,}", str(len(self.dropped)), f"{len(ordered) / self.seconds:,.0f}",
            at(0.5), at(0.99), ms(ordered[-1]),
        )  # fmt: skip


def service() -> list[Table]:
    with tempfile.TemporaryDirectory() as directory, _Service(Path(directory)) as running:
        return [_under_load(running), _added(running)]


def _under_load(running: _Service) -> Table:
    table = Table(
        f"A service of {REPLICAS} replicas, {WORK_SECONDS * 1000:g} ms of work, {CLIENTS} clients without pause",
        ("meanwhile", "requests", "dropped", "requests/s", "p50 ms", "p99 ms", "longest ms"),
        note="Half of the requests are POST. Clients, proxy and replicas share the machine.",
    )
    running.scale_to(REPLICAS)
    stories: list[tuple[str, Callable[[], None]]] = [
        ("nothing", lambda: sleep(STEADY_SECONDS)),
        (f"surplus evicted and given back, {TIMES} times", lambda: _surplus(running)),
        (f"rolling restart, {TIMES} times", lambda: _restarts(running)),
        (f"rolling restart of only one replica, {TIMES} times", lambda: _restarts(running, alone=True)),
    ]
    for name, story in stories:
        seen = _load(running.port, CLIENTS, story)
        table.add(name, *seen.row())
        running.dropped += len(seen.dropped)
        for what in sorted(set(seen.dropped)):
            print(f"dropped: {name}: {what} ({seen.dropped.count(what)})", file=sys.stderr)
    return table


def _surplus(running: _Service) -> None:
    for _ in range(TIMES):
        running.scale_to(1)
        running.scale_to(REPLICAS)


def _restarts(running: _Service, *, alone: bool = False) -> None:
    running.scale_to(1 if alone else REPLICAS)
    for _ in range(TIMES):
        running.restart()


def _added(running: _Service) -> Table:
    """Compare one replica that answers at once, asked directly and through the proxy."""
    table = Table(
        "What the proxy adds",
        ("asked", "clients", "requests", "dropped", "requests/s", "p50 ms", "p99 ms", "longest ms"),
    )
    with _Service(running.directory / "quick", work_seconds=0.0) as quick:
        quick.scale_to(1)
        for clients in (1, CLIENTS):
            for name, port in (("the replica", quick.replica_port()), ("the proxy", quick.port)):
                seen = _load(port, clients, lambda: sleep(STEADY_SECONDS))
                table.add(name, clients, *seen.row())
    return table


class _Service:
    """A service under an engine of its own."""

    def __init__(self, directory: Path, work_seconds: float = WORK_SECONDS) -> None:
        self.directory = directory
        self.dropped = 0
        self._program = {
            "command": [sys.executable, "-c", REPLICA, str(work_seconds)],
            "health": {"interval_seconds": 0.2},
        }
        directory.mkdir(exist_ok=True)
        self._engine = LocalEngine(directory / "engine", run_as=pwd.getpwuid(os.geteuid()).pw_name)
        self._up: set[int] = set()
        self._restarts = 0
        self._changed = threading.Condition()

    def __enter__(self) -> _Service:
        self._engine.open(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.stop(StopOrder(JOB, 1, 1_000))
        self._until(lambda: not self._up)
        self._engine.close()

    @property
    def port(self) -> int:
        found = self._engine.endpoint(JOB, 1)
        assert found is not None
        return int(found.address.rstrip("/").rpartition(":")[2])

    def replica_port(self) -> int:
        lines = (self.directory / "engine" / "jobs" / JOB / "runs" / "1" / "journal").read_text().splitlines()
        started = [line for line in lines if '"is":"started"' in line]
        return int(started[-1].partition('"port":')[2].partition(",")[0])

    def scale_to(self, count: int) -> None:
        more = [n for n in range(count) if n not in self._up]
        if more:
            orders = tuple(ReplicaOrder(n, "here", (), Shape(0, 0, 0)) for n in more)
            self._engine.start(StartOrder(JOB, 1, Module.EAS, orders, self._program, 10_000))
        fewer = tuple(n for n in self._up if n >= count)
        if fewer:
            self._engine.stop(StopOrder(JOB, 1, 10_000, fewer))
        self._until(lambda: self._up == set(range(count)))
        self._until(lambda: self._ready() == count)

    def restart(self) -> None:
        self._restarts += 1
        before = self._readiness()
        self._engine.restart(RestartOrder(JOB, 1, f"restart-{self._restarts}"))
        self._until(lambda: self._readiness() == before + len(self._up))

    def _ready(self) -> int:
        found = self._engine.endpoint(JOB, 1)
        return 0 if found is None else found.ready

    def _readiness(self) -> int:
        """How often a replica has become ready so far."""
        text = (self.directory / "engine" / "jobs" / JOB / "runs" / "1" / "journal").read_text()
        return text.count('"is":"ready"')

    def _hear(self, report: Report) -> None:
        if isinstance(report, Confirmed):
            self._up |= set(report.replicas)
        elif isinstance(report, Left):
            self._up -= set(report.replicas)

    def _until(self, condition: Callable[[], bool]) -> None:
        until = monotonic() + DEADLINE_SECONDS
        while not condition():
            if monotonic() > until:
                raise TimeoutError("the service did not do what it was told")
            sleep(0.01)


def _load(port: int, clients: int, story: Callable[[], None]) -> Seen:
    """Let clients send requests for as long as `story` runs, and return what they saw."""
    seen = Seen()
    ended = threading.Event()

    async def ask() -> None:
        await asyncio.gather(*(_client(port, number, seen, ended) for number in range(clients)))

    thread = threading.Thread(target=lambda: asyncio.run(ask()))
    started = perf_counter()
    thread.start()
    try:
        story()
    finally:
        ended.set()
        thread.join()
    seen.seconds = perf_counter() - started
    return seen


async def _client(port: int, number: int, seen: Seen, ended: threading.Event) -> None:
    get = b"GET / HTTP/1.1\r\nHost: benchmark\r\n\r\n"
    post = b"POST / HTTP/1.1\r\nHost: benchmark\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
    request, right = (post, str(len(BODY)).encode()) if number % 2 else (get, b"0")
    writer: asyncio.StreamWriter | None = None
    while not ended.is_set():
        began = perf_counter()
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            if not head.startswith(b"HTTP/1.1 200") or body != right:
                seen.dropped.append(head.split(b"\r\n")[0].decode())
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            seen.dropped.append(type(error).__name__)
            if writer is not None:
                writer.close()
            writer = None
        seen.took_ms.append((perf_counter() - began) * 1000)
    if writer is not None:
        writer.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, _Service(Path(place)) as one:
        for printed in (_under_load(one), _added(one)):
            print(printed.text(), end="\n\n", flush=True)
        sys.exit(1 if one.dropped else 0)
