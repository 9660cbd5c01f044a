"""Does a service stay there whatever its replicas do, and lose no request when they are taken (issue 5, EAS; P12, P14)?"""

from __future__ import annotations

import http.client
import os
import pwd
import random
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from quotatree.core.model.job import JobId, Shape
from quotatree.core.model.policy import Module
from quotatree.engines.base import (
    Confirmed,
    Left,
    ReplicaOrder,
    Report,
    RestartOrder,
    StartOrder,
    StopOrder,
    Unready,
)
from quotatree.engines.local.files import journal
from quotatree.engines.local.host import process_tree
from quotatree.engines.local.host.identity import stat
from quotatree.engines.local.server import known
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.engines.local.supervisor import service
from tests.engines.local.proxy_process import eventually
from tests.engines.local.serving import SERVER, Run

Serve = Callable[..., Run]
SICK_CODE = (
    "import http.server, os, sys\n"
    "class Sick(http.server.BaseHTTPRequestHandler):\n"
    "    def do_GET(self):\n"
    "        self.send_response(200 if os.path.exists(sys.argv[1]) else 500); self.end_headers()\n"
    "    def log_message(self, *words): pass\n"
    "http.server.ThreadingHTTPServer(('127.0.0.1', int(os.environ['QUOTATREE_PORT'])), Sick).serve_forever()"
)
SICK = [sys.executable, "-c", SICK_CODE]
"""A service that is well once a file is there."""
JOB = JobId("a")
RUN_AS = "root" if os.geteuid() == 0 else None


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    made: list[Run] = []

    def begin(**more: Any) -> Run:
        made.append(Run(tmp_path, "EAS", **more))
        return made[-1]

    yield begin
    for run in made:
        run.end()


class Load:
    """Clients that ask without pause, half by GET and half by POST; what they got is counted."""

    def __init__(self, run: Run, clients: int = 8) -> None:
        self.answers: Counter[int | str] = Counter()
        self.replicas: Counter[bytes] = Counter()
        self._run = run
        self._on = True
        self._threads = [threading.Thread(target=self._client, args=(n,)) for n in range(clients)]

    def __enter__(self) -> Load:
        self._run.port  # noqa: B018 — known before the clients ask
        for thread in self._threads:
            thread.start()
        self.some_more()
        return self

    def __exit__(self, *_: object) -> None:
        self._on = False
        for thread in self._threads:
            thread.join()

    def some_more(self, count: int = 50) -> None:
        before = self.answers.total()
        eventually(lambda: self.answers.total() >= before + count)

    def _client(self, number: int) -> None:
        port = self._run.port
        while self._on:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            try:
                for _ in range(20):
                    if number % 2:
                        connection.request("GET", "/slow?0.01")
                    else:
                        connection.request("POST", "/slow?0.01", b"x" * 1000)
                    response = connection.getresponse()
                    body = response.read()
                    self.answers[response.status] += 1
                    self.replicas[response.getheader("X-Replica", "").encode()] += 1
                    assert response.status != 200 or number % 2 or body == b"1000"
            except OSError as error:
                self.answers[type(error).__name__] += 1
            finally:
                connection.close()


def test_a_replica_is_confirmed_when_it_answers_and_not_before(serve: Serve):
    run = serve(env={"START_SECONDS": "0.4"})
    started = run.wait("started")
    run.confirmed(0)
    assert run.lines("confirmed")[0]["at_ms"] - started["at_ms"] >= 400
    assert run.ask() == (200, b"0")


def test_the_address_is_the_same_in_every_run_of_the_job(serve: Serve):
    first = serve().confirmed(0)
    port = first.port
    first.stop()
    assert first.over() == {"is": "over"}
    second = serve(run=2).confirmed(0)
    assert second.port == port
    assert oct(os.stat(second.dir.job.service_file).st_mode & 0o777) == "0o600"


def test_replicas_that_come_later_share_the_load(serve: Serve):
    run = serve().confirmed(0)
    run.start([1, 2])
    run.confirmed(0, 1, 2)
    assert {run.ask()[1] for _ in range(9)} == {b"0", b"1", b"2"}


def test_surplus_replicas_leave_under_load_without_a_dropped_request(serve: Serve):
    run = serve(replicas=4).confirmed(0, 1, 2, 3)
    with Load(run) as load:
        run.stop([2, 3])
        eventually(lambda: sorted(n for line in run.lines("left") for n in line["replicas"]) == [2, 3])
        load.some_more()
    assert set(load.answers) == {200}
    assert set(load.replicas) == {b"0", b"1", b"2", b"3"}
    assert not process_tree.marked(f"{run.engine_id}:a:1:3")


def test_a_rolling_restart_under_load_replaces_every_process_and_drops_nothing(serve: Serve):
    run = serve(replicas=2).confirmed(0, 1)
    before = {n: run.pid(n) for n in (0, 1)}
    with Load(run) as load:
        run.order(do="restart", key="k1")
        run.order(do="restart", key="k1")  # sent twice, it happens once
        run.wait("ready", count=4)
        load.some_more()
    assert set(load.answers) == {200}
    assert all(run.pid(n) != before[n] for n in (0, 1))
    assert len(run.lines("restarting")) == 2
    # One after the other: the second turn came when the first new process was healthy.
    turns = [(e["is"], e["replica"]) for e in run.journal if e["is"] in ("ready", "restarting")]
    assert turns[2:] == [("restarting", 0), ("ready", 0), ("restarting", 1), ("ready", 1)]


def test_requests_wait_while_the_only_replica_is_restarted(serve: Serve):
    run = serve(env={"START_SECONDS": "0.3"}).confirmed(0)
    with Load(run) as load:
        run.order(do="restart", key="k1")
        run.wait("ready", count=2)
        load.some_more()
    assert set(load.answers) == {200}


def test_a_stopped_service_answers_what_it_has_before_it_goes(serve: Serve):
    run = serve().confirmed(0)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(run.ask, "/slow?1")
        eventually(lambda: _has_begun(run))
        run.stop()
        run.wait("unready")
        assert run.ask()[0] == 503
        assert slow.result() == (200, b"0")
    assert run.over() == {"is": "over"}


def _has_begun(run: Run) -> bool:
    """Whether the slow request has reached the replica. A connection says nothing: probes make some too."""
    logs = Path(run.dir.replica_logs(0)).glob("*.log")
    return any(b"slow" in log.read_bytes() for log in logs)


def test_what_is_not_answered_within_the_grace_is_cut_off(serve: Serve):
    run = serve().confirmed(0)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(run.ask, "/slow?600")  # longer than anybody waits here
        eventually(lambda: _has_begun(run))
        run.stop(grace_ms=600_000)
        run.wait("unready")
        run.stop(grace_ms=500)  # a shorter one shortens it
        assert run.over() == {"is": "over"}
        assert slow.result()[0] == 502  # and its client is told


def test_a_replica_that_crashes_is_started_again_ever_later(serve: Serve):
    run = serve(replicas=2, backoff_seconds=0.1).confirmed(0, 1)
    for life in (1, 2):
        os.kill(run.pid(0), signal.SIGKILL)
        run.wait("unready", count=life, replica=0)
        assert {run.ask()[1] for _ in range(4)} == {b"1"}  # the other one goes on
        run.wait("ready", count=life + 1, replica=0)
    again = run.lines("restarting", replica=0)
    assert [line["in_seconds"] for line in again] == [0.1, 0.2]
    assert again[0]["detail"] == "replica 0 was killed by signal KILL"
    assert len(run.lines("ready", replica=1)) == 1


def test_crashes_are_forgotten_after_a_healthy_minute():
    assert [service.backoff_seconds(n, 1.0) for n in (1, 2, 3, 7, 100)] == [1, 2, 4, 60, 60]
    member = service.Member({"replica": 0})
    member.failures = 5
    service._forgive(member)
    assert member.failures == 0


def test_a_service_that_never_becomes_healthy_fails_and_says_why(serve: Serve):
    run = serve(command="exit 3", backoff_seconds=0.01)
    assert run.over() == {
        "is": "exited",
        "outcome": "failed",
        "detail": "replica 0 exited with code 3; the service was never healthy in 6 starts",
    }


def test_a_command_that_does_not_exist_fails_at_once(serve: Serve):
    run = serve(command=["no-such-command"])
    assert run.over()["detail"] == "replica 0 command not found: no-such-command"


@pytest.mark.parametrize("field", ["port", "service_port"])
def test_a_named_port_that_is_taken_fails_the_run_and_says_so(serve: Serve, field):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = serve(**{field: port}).over()
    assert ended["outcome"] == "failed"
    assert ended["detail"] == (
        f"port {port} is taken by another program; name another {field}, or none to have one chosen"
    )


def test_a_kept_port_that_somebody_took_meanwhile_is_replaced_and_said(serve: Serve):
    first = serve().confirmed(0)
    port = first.port
    first.stop()
    first.over()
    with socket.create_server(("127.0.0.1", port)):
        second = serve(run=2).confirmed(0)
    assert second.port != port
    assert f"port {port} is taken by another program" in second.wait("notice")["text"]


def test_a_killed_proxy_is_started_again_at_the_same_port(serve: Serve):
    run = serve(replicas=2).confirmed(0, 1)
    port = run.port
    first = run.proxy_pid()
    os.kill(first, signal.SIGKILL)
    assert run.ask()[0] == 200  # waits in the open port
    assert run.port == port
    assert run.proxy_pid() != first
    assert len(run.lines("started")) == 2  # the replicas did not notice


def test_a_killed_supervisor_leaves_neither_proxy_nor_replica(serve: Serve):
    run = serve().confirmed(0)
    pids = [run.proxy_pid(), run.pid(0)]
    run.process.kill()
    run.process.wait()
    eventually(lambda: all(_gone(pid) for pid in pids))


def _gone(pid: int) -> bool:
    known = stat(pid)
    return known is None or known.gone


def test_a_service_that_runs_too_long_ends(serve: Serve):
    run = serve(max_seconds=0.5)
    assert run.over() == {"is": "exited", "outcome": "failed", "detail": "ran longer than 0.5 s"}


def test_a_port_may_stand_in_the_command(serve: Serve):
    run = serve(command=["sh", "-c", f"QUOTATREE_PORT={{port}} exec {' '.join(SERVER)}"]).confirmed(0)
    assert run.ask() == (200, b"0")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run jobs as somebody else")
def test_replicas_and_proxy_run_as_the_jobs_user(engine_directory: Path):
    nobody = pwd.getpwnam("nobody")
    server = "import os, http.server as h; h.test(h.SimpleHTTPRequestHandler, port=int(os.environ['QUOTATREE_PORT']), bind='127.0.0.1')"
    run = Run(engine_directory, "EAS", user="nobody", command=["/usr/bin/env", "python3", "-c", server])
    try:
        os.chmod(run.dir.job.path, 0o711)
        run.confirmed(0)
        assert run.ask()[0] == 200
        assert {os.stat(f"/proc/{pid}").st_uid for pid in (run.pid(0), run.proxy_pid())} == {nobody.pw_uid}
    finally:
        run.end()


def test_the_engine_tells_where_a_service_answers_and_passes_orders_on(tmp_path: Path):
    """The whole way (A7): engine, supervisor, proxy, replica, and a second engine that takes over."""
    reports: list[Report] = []
    engine = LocalEngine(tmp_path / "engine", run_as=RUN_AS, limits=False)
    engine.open(reports.append)
    orders = tuple(ReplicaOrder(n, "here", (), Shape(0, 0, 0)) for n in (0, 1))
    engine.start(StartOrder(JOB, 1, Module.EAS, orders, {"command": SERVER}, 5000))
    eventually(lambda: (found := engine.endpoint(JOB, 1)) is not None and found.ready == 2)
    assert {n for r in reports if isinstance(r, Confirmed) for n in r.replicas} == {0, 1}
    address = engine.endpoint(JOB, 1)
    engine.close()  # nobody but the server is gone
    engine = LocalEngine(tmp_path / "engine", run_as=RUN_AS, limits=False)
    engine.open(reports.append)
    try:
        again = engine.endpoint(JOB, 1)
        assert again is not None
        assert address is not None
        assert again[:3] == address[:3]
        eventually(lambda: (found := engine.endpoint(JOB, 1)) is not None and found.in_flight is not None)
        told = Path(engine._directory.run(JOB, 1).journal)
        engine.restart(RestartOrder(JOB, 1, "k"))
        eventually(lambda: told.read_text().count('"is":"ready"') == 4)
    finally:
        engine.stop(StopOrder(JOB, 1, 5000))
        eventually(lambda: {n for r in reports if isinstance(r, Left) for n in r.replicas} == {0, 1})
        eventually(lambda: engine.endpoint(JOB, 1) is None)
        engine.close()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_in_whatever_order_it_serves_again_and_leaves_nothing(serve: Serve, seed: int):
    chance = random.Random(seed)
    run = serve(replicas=3, backoff_seconds=0.02, grace_ms=1000).confirmed(0, 1, 2)
    wanted = {0, 1, 2}
    for step in range(25):
        what = chance.choice(["kill", "kill", "proxy", "restart", "more", "fewer", "ask"])
        number = chance.randrange(3)
        if what == "kill":
            with suppress(ProcessLookupError):
                os.kill(run.pid(number), signal.SIGKILL)
        elif what == "proxy" and step % 8 == 0:  # one that dies all the time is given up, and rightly
            with suppress(ProcessLookupError):
                os.kill(run.proxy_pid(), signal.SIGKILL)
        elif what == "restart":
            run.order(do="restart", key=f"k{step}")
        elif what == "more" and number not in wanted and gone(run, number):
            wanted.add(number)
            run.start([number])
        elif what == "fewer" and len(wanted) > 1 and number in wanted:
            wanted.discard(number)
            run.stop([number], grace_ms=chance.choice([0, 200, 5000]))
        else:
            run.ask()
        assert run.process.poll() is None
    eventually(lambda: ready(run) == wanted)
    answers = {run.ask() for _ in range(3 * len(wanted))}  # one may be in the middle of its restart
    assert answers <= {(200, str(number).encode()) for number in wanted}
    run.stop()
    assert run.over() == {"is": "over"}


def gone(run: Run, number: int) -> bool:
    """As the engine does: it is ordered again only when it is known to have left as often as it was ordered."""
    orders = [e for e in journal.read(run.dir.orders)[0] if e["do"] == "start"]
    ordered = sum(one["replica"] == number for e in orders for one in e["replicas"])
    return sum(number in line["replicas"] for line in run.lines("left")) == ordered


def ready(run: Run) -> set[int]:
    found: set[int] = set()
    for line in run.journal:
        if line["is"] == "ready":
            found.add(line["replica"])
        elif line["is"] == "unready":
            found.discard(line["replica"])
    return found


def test_the_engine_tells_how_many_requests_are_in_flight_and_forgets_it_when_nobody_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """P16: from the proxy through the supervisor and the wake fifo; each figure has a number of its own."""
    engine = LocalEngine(tmp_path / "engine", run_as=RUN_AS, limits=False)
    engine.open(lambda report: None)
    order = (ReplicaOrder(0, "here", (), Shape(0, 0, 0)),)
    engine.start(StartOrder(JOB, 1, Module.EAS, order, {"command": SERVER}, 5000))
    try:
        eventually(lambda: (found := engine.endpoint(JOB, 1)) is not None and found.ready == 1)
        found = engine.endpoint(JOB, 1)
        assert found is not None
        port = int(found.address.rstrip("/").rpartition(":")[2])

        def ask() -> int:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                connection.request("GET", "/slow?6")
                return connection.getresponse().status
            finally:
                connection.close()

        def in_flight() -> float:
            at = engine.endpoint(JOB, 1)
            return -1 if at is None or at.in_flight is None else at.in_flight.milli / 1000

        with ThreadPoolExecutor(3) as clients:
            asked = [clients.submit(ask) for _ in range(3)]
            eventually(lambda: 2.9 <= in_flight() <= 3.1)
            assert {one.result() for one in asked} == {200}
        eventually(lambda: in_flight() == 0)
        monkeypatch.setattr(known, "LOAD_LASTS_SECONDS", 0.0)
        assert in_flight() == -1
    finally:
        engine.stop(StopOrder(JOB, 1, 5000))
        eventually(lambda: engine.endpoint(JOB, 1) is None)
        engine.close()


def test_a_replica_that_does_not_get_ready_is_told_with_the_reason_until_it_is(tmp_path: Path):
    """Its service runs and answers 503; who looks after it is told since when, and what its health check says."""
    engine = LocalEngine(tmp_path / "engine", run_as=RUN_AS, limits=False)
    engine.open(lambda report: None)
    well = tmp_path / "well"
    order = (ReplicaOrder(0, "here", (), Shape(0, 0, 0)),)
    program = {
        "command": [*SICK, str(well)],
        "health": {"path": "/health", "interval_seconds": 0.05, "timeout_seconds": 1},
    }

    def unready() -> tuple[Unready, ...]:
        at = engine.endpoint(JOB, 1)
        return () if at is None else at.unready

    engine.start(StartOrder(JOB, 1, Module.EAS, order, program, 1000))
    try:
        eventually(lambda: any("/health answered 500" in one.why for one in unready()))
        (before,) = unready()
        engine.close()
        engine = LocalEngine(tmp_path / "engine", run_as=RUN_AS, limits=False)
        engine.open(lambda report: None)
        assert unready() == (before,), "the journal tells it to the next server"
        started = next(
            line for line in journal.read(engine._directory.run(JOB, 1).journal)[0] if line["is"] == "started"
        )
        assert (before.replica, before.since_ms) == (0, started["at_ms"])
        well.touch()
        eventually(lambda: (found := engine.endpoint(JOB, 1)) is not None and found.ready == 1)
        assert unready() == ()
    finally:
        engine.stop(StopOrder(JOB, 1, 1000))
        eventually(lambda: engine.endpoint(JOB, 1) is None)
        engine.close()
