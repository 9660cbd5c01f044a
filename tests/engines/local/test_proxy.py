"""Does the proxy keep a service's address answering, and its requests whole, whatever its replicas do (issue 5, EAS)?"""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from quotatree.engines.local.proxy import forward
from quotatree.engines.local.proxy.backends import Backends, Health
from quotatree.engines.local.proxy.forward import Client
from quotatree.engines.local.proxy.load import Load
from quotatree.engines.local.proxy.wire import Wire
from tests.engines.local.backend import Replica
from tests.engines.local.proxy_process import Proxy, eventually


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    made = Proxy()
    yield made
    made.end()


@pytest.fixture
def pair(proxy: Proxy) -> Iterator[tuple[Replica, Replica]]:
    a, b = Replica("a"), Replica("b")
    proxy.add("a", a.port)
    proxy.add("b", b.port)
    yield a, b
    a.end()
    b.end()


@pytest.fixture
def one(proxy: Proxy) -> Iterator[Replica]:
    replica = Replica("a")
    proxy.add("a", replica.port)
    yield replica
    replica.end()


def ask(proxy: Proxy, path: str = "/", method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def raw(proxy: Proxy, request: bytes) -> bytes:
    """All that comes back until the proxy closes."""
    with proxy.connect() as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_without_a_replica_clients_are_told_to_try_again(proxy: Proxy):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    connection.request("GET", "/")
    response = connection.getresponse()
    assert (response.status, response.getheader("Retry-After")) == (503, "1")
    assert response.getheader("Content-Type") == "application/problem+json"
    assert json.loads(response.read())["code"] == "NoReplicaReady"
    connection.request("HEAD", "/")  # the same connection goes on, and HEAD gets no body
    assert connection.getresponse().read() == b""
    connection.close()


def test_requests_are_shared_out_evenly_among_replicas_that_are_ready(proxy: Proxy, pair):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    answers = []
    for _ in range(10):  # over one connection of the client
        connection.request("GET", "/")
        answers.append(connection.getresponse().read())
    connection.close()
    assert sorted(answers) == [b"a"] * 5 + [b"b"] * 5


def test_the_less_busy_replica_is_chosen(proxy: Proxy, pair):
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(ask, proxy, "/slow")
        busy = eventually(lambda: next((r for r in pair if r.reached.acquire(blocking=False)), None))
        idle = next(r for r in pair if r is not busy)
        assert {ask(proxy)[1] for _ in range(4)} == {idle.name.encode()}
        busy.let_go.set()
        assert slow.result() == (200, busy.name.encode())


def test_a_replica_is_ready_only_while_its_health_path_says_so(one):
    proxy = Proxy(path="/health")
    try:
        one.well = False
        proxy.say(add="a", port=one.port)
        eventually(lambda: sum(path == "/health" for _, path, _ in one.heads) >= 3)
        assert ask(proxy)[0] == 503
        one.well = True
        proxy.hear(ready="a")
        assert ask(proxy) == (200, b"a")
        one.well = False
        assert proxy.hear(unready="a")["why"] == "/health answered 500"
        assert ask(proxy)[0] == 503
    finally:
        proxy.end()


def test_the_replica_sees_the_request_without_what_was_meant_for_the_proxy(proxy: Proxy, one):
    raw(
        proxy,
        b"GET /x?y=1 HTTP/1.1\r\nHost: svc.example\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\n"
        b"X-Kept: 2\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n",
    )
    _, path, headers = one.heads[-1]
    assert path == "/x?y=1"
    assert headers == {
        "Host": "svc.example", "X-Kept": "2", "Connection": "close", "X-Forwarded-For": "10.0.0.1, 127.0.0.1",
    }  # fmt: skip


def test_a_large_answer_goes_no_faster_than_its_client_takes_it(proxy: Proxy, one):
    with proxy.connect() as slow:
        slow.sendall(b"GET /stream?64 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        first = slow.recv(1024)
        assert first.startswith(b"HTTP/1.1 200")
        given = -1
        while given != one.given:  # until nothing moves any more
            given = one.given
            threading.Event().wait(0.2)
        assert given < 32 << 20  # what the kernel and the proxy hold, not the whole
        assert ask(proxy) == (200, b"a")  # and others are served meanwhile
        rest = sum(len(part) for part in iter(lambda: slow.recv(1 << 20), b""))
    assert len(first) + rest > 64 << 20
    assert resident_mib(proxy) < 60


def resident_mib(proxy: Proxy) -> int:
    with open(f"/proc/{proxy.process.pid}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))


@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_arrives_whole_and_is_not_kept_in_memory(proxy: Proxy, one, chunked):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    parts = (b"y" * 65536 for _ in range(16 * 64))
    headers = {} if chunked else {"Content-Length": str(64 << 20)}
    connection.request("POST", "/", parts, headers, encode_chunked=chunked)
    assert connection.getresponse().read() == str(64 << 20).encode()
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"a"
    connection.close()
    assert resident_mib(proxy) < 60


def test_a_body_awaited_by_100_continue_is_sent_once_the_replica_asks_for_it(proxy: Proxy, one):
    with proxy.connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        assert client.recv(1024).startswith(b"HTTP/1.1 100")
        client.sendall(b"abc")
        assert client.recv(1024).startswith(b"HTTP/1.1 200")


def test_an_answer_before_the_body_was_read_reaches_the_client(proxy: Proxy, one):
    with proxy.connect() as client:
        client.sendall(b"POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc")
        assert b" 413 " in client.recv(1024)


def test_after_an_upgrade_bytes_go_both_ways(proxy: Proxy, one):
    with proxy.connect() as client:
        client.sendall(
            b"GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly"
        )
        got = b""
        while not got.endswith(b"EARLY"):
            got += client.recv(1024)
        assert got.startswith(b"HTTP/1.1 101")
        client.sendall(b"later")
        assert client.recv(1024) == b"LATER"
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1024) == b""


def test_a_replica_that_nobody_listens_at_costs_no_request_whatever_its_method(proxy: Proxy, pair):
    gone, _ = pair
    gone.shutdown()
    gone.server_close()
    answers = [ask(proxy, method="POST", body=b"abc") for _ in range(6)]
    assert answers == [(200, b"3")] * 6
    assert proxy.hear(unready=gone.name)


def test_what_may_have_been_done_is_not_done_again(proxy: Proxy, pair):
    assert ask(proxy, "/dies", "POST", b"abc")[0] == 502
    assert sum(len(r.heads) for r in pair) == 1


def test_a_request_that_may_be_repeated_is_tried_on_each_replica_once(proxy: Proxy, pair):
    assert ask(proxy, "/dies")[0] == 502
    assert [len(r.heads) for r in pair] == [1, 1]


def test_an_answer_that_breaks_off_in_the_middle_is_seen_to_be_broken(proxy: Proxy):
    with socket.create_server(("127.0.0.1", 0)) as server:
        proxy.add("a", server.getsockname()[1])
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(raw, proxy, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            while True:
                replica, _ = server.accept()
                if replica.recv(1024):  # not one of the connections that ask for its health
                    break
                replica.close()
            replica.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            replica.close()
            with suppress(ConnectionResetError):  # seen even more clearly
                assert answer.result().endswith(b"\r\n\r\nabc")


def test_a_draining_replica_gets_nothing_new_and_finishes_what_it_has(proxy: Proxy, pair):
    a, b = pair
    with ThreadPoolExecutor(8) as pool:
        slow = [pool.submit(ask, proxy, "/slow") for _ in range(2)]
        for replica in (a, b):
            assert replica.reached.acquire(timeout=20)
        proxy.say(drain="a")
        proxy.say(drain="nobody")
        proxy.hear(drained="nobody")  # so the first was heard too
        slow += [pool.submit(ask, proxy, "/slow") for _ in range(3)]
        for _ in range(3):
            assert b.reached.acquire(timeout=20)  # although it has more to do than the other
        b.let_go.set()
        assert {"drained": "a"} not in proxy.told
        a.let_go.set()
        proxy.hear(drained="a")
        assert sorted(s.result()[1] for s in slow) == [b"a", b"b", b"b", b"b", b"b"]


def test_requests_wait_for_a_replica_that_is_announced(proxy: Proxy):
    proxy.say(hold=20)
    proxy.say(drain="nobody")
    proxy.hear(drained="nobody")  # so the hold was heard
    replica = Replica("a")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, proxy)
        with proxy.connect():
            proxy.add("a", replica.port)
        assert waiting.result() == (200, b"a")
    replica.end()


def test_a_client_that_hangs_up_frees_its_replica(proxy: Proxy, one):
    client = proxy.connect()
    client.sendall(b"GET /slow?600 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert one.reached.acquire(timeout=20)
    proxy.say(drain="a")
    client.close()
    proxy.hear(drained="a")  # although the replica has not answered


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),  # without Host
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 300_000, b"431"),
        (b"CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n", b"501"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", b"400"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", b"501"),
    ],
)
def test_what_is_no_proper_request_is_refused_and_reaches_no_replica(proxy: Proxy, one, request_, status):
    answer = raw(proxy, request_)
    assert answer.split()[1] == status
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] == int(status)
    assert one.heads == []


def test_a_client_that_dribbles_its_head_is_sent_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(forward, "HEAD_SECONDS", 0.05)

    async def story() -> bytes:
        backends = Backends(Health(), lambda _: None)
        tasks = []
        server = await asyncio.get_running_loop().create_server(
            lambda: Wire(lambda wire: tasks.append(asyncio.create_task(Client(wire, backends).serve()))), "127.0.0.1", 0
        )  # fmt: skip
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"GET / HTTP/1.1\r\nHost:")
            answer = await reader.read()
            writer.close()
            await asyncio.gather(*tasks)
            return answer

    assert asyncio.run(story()).startswith(b"HTTP/1.1 408")


def test_two_lengths_leave_no_second_request_behind(proxy: Proxy, one):
    smuggled = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n"
    raw(proxy, head % len(smuggled) + smuggled)
    assert "/smuggled" not in [path for _, path, _ in one.heads]
    assert all("Content-Length" not in headers for _, _, headers in one.heads)


def test_an_old_client_is_answered_without_chunks(proxy: Proxy):
    with socket.create_server(("127.0.0.1", 0)) as server:
        proxy.add("a", server.getsockname()[1])
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(raw, proxy, b"GET / HTTP/1.0\r\n\r\n")
            while not (replica := server.accept()[0]).recv(1024):
                replica.close()
            replica.sendall(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n"
            )
            assert answer.result().endswith(b"\r\n\r\nabc")
            replica.close()


def test_connections_wait_while_a_killed_proxy_is_started_again(proxy: Proxy, one):
    proxy.process.kill()
    proxy.process.wait()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, proxy)  # the port is still open: nobody is refused
        for pipe in (proxy.process.stdin, proxy.process.stdout):
            assert pipe is not None
            pipe.close()
        proxy.start()
        proxy.say(hold=20)
        proxy.add("a", one.port)
        assert waiting.result() == (200, b"a")


def test_the_proxy_ends_when_its_supervisor_does():
    proxy = Proxy()
    proxy.end()  # closes its input
    assert proxy.process.returncode == 0


def test_what_is_wrong_with_a_replica_that_never_was_ready_is_told_once(proxy: Proxy, one: Replica):
    with socket.socket() as nobody:  # bound, and nobody listens
        nobody.bind(("127.0.0.1", 0))
        proxy.say(add="b", port=nobody.getsockname()[1])
        told = proxy.hear(unready="b")
        assert "cannot be reached" in told["why"]
        proxy.add("c", one.port)  # while it is asked many times more
    assert [said for said in proxy.told if said.get("unready") == "b"] == [told]


# -- requests in flight (P16) ----------------------------------------------------------------------------------------


def test_the_load_is_an_average_over_the_time_since_it_was_last_asked_for():
    now = 100.0
    load = Load(lambda: now)
    with load.one():
        now += 3.0
        with load.one():
            now += 1.0
    now += 1.0
    assert load.take() == (1000, 5000), "three seconds of one, one of two, one of none"
    now += 2.0
    assert load.take() == (0, 2000)


def test_the_load_of_a_moment_is_what_is_in_flight_then():
    load = Load(lambda: 7.0)
    with load.one():
        assert load.take() == (1000, 0)


def test_requests_are_in_flight_from_their_head_to_their_answer_and_so_are_those_that_wait():
    proxy = Proxy(load_seconds=0.1)
    replica = Replica("a")
    try:
        proxy.hear_load(0, 0)
        proxy.say(hold=20)
        with ThreadPoolExecutor(5) as clients:
            asked = [clients.submit(ask, proxy, "/slow") for _ in range(5)]
            proxy.hear_load(4.9, 5.1)  # nobody is there to answer them
            proxy.add("a", replica.port)
            for _ in range(5):
                assert replica.reached.acquire(timeout=20)
            proxy.hear_load(4.9, 5.1)
            replica.let_go.set()
            assert {one.result()[0] for one in asked} == {200}
        proxy.hear_load(0, 0)
    finally:
        proxy.end()
        replica.end()


def test_a_client_that_went_away_and_one_that_only_stays_connected_are_not_in_flight(one: Replica):
    proxy = Proxy(load_seconds=0.1)
    try:
        proxy.add("a", one.port)
        kept = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
        kept.request("GET", "/")
        assert kept.getresponse().read()
        gone = proxy.connect()
        gone.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        proxy.hear_load(0.9, 1.1)
        gone.close()
        proxy.hear_load(0, 0)
        kept.close()
    finally:
        proxy.end()


def test_a_supervisor_that_does_not_ask_for_the_load_hears_none(proxy: Proxy, one: Replica):
    proxy.add("b", one.port)
    assert not any("load" in told for told in proxy.told)
