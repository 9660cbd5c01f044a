"""A delivery goes to the address that was judged, and no receiver can hold it (E4). All receivers are on the loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quotatree.control.posting import NoAnswer, Posting
from quotatree.control.webhook_places import NotAllowed, WebhookPlaces, places_of

HERE = places_of(["127.0.0.1"])


class Receiver:
    """Answers each connection with the same bytes and keeps what it heard. `hold`: it does not close then."""

    def __init__(self, answer: bytes, *, hold: bool = False) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.heard: list[bytes] = []
        self._answer, self._hold = answer, hold
        self._held: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                one, _ = self._listening.accept()
            except OSError:
                return
            heard = b""
            while b"}" not in heard and (part := one.recv(65536)):
                heard += part
            self.heard.append(heard)
            one.sendall(self._answer)
            if self._hold:
                self._held.append(one)
            else:
                one.close()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        for one in self._held:
            one.close()


@contextmanager
def receiver(answer: bytes, *, hold: bool = False) -> Iterator[Receiver]:
    found = Receiver(answer, hold=hold)
    try:
        yield found
    finally:
        found.close()


def post(posting: Posting, port: int, host: str = "127.0.0.1", path: str = "/hook?a=b") -> int:
    return posting.post(f"http://{host}:{port}{path}", b'{"seq":1}', {"Quotatree-Event": "1"})


def test_a_delivery_is_a_post_and_its_status_is_returned():
    with receiver(b"HTTP/1.1 204 No Content\r\n\r\n", hold=True) as found:
        assert post(Posting(HERE), found.port) == 204
        head, _, body = found.heard[0].partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /hook?a=b HTTP/1.1"
    assert lines.count(b"Host: 127.0.0.1:%d" % found.port) == 1
    assert {b"Content-Length: 9", b"Quotatree-Event: 1"} <= set(lines)
    assert body == b'{"seq":1}'


@pytest.mark.parametrize(
    "answer", [b"+PONG\r\n", b"SSH-2.0-x\r\n", b"\x00" * 5000, b"HTTP/1.1 9999\r\n", b"HTTP/1.1 2"]
)
def test_a_receiver_that_does_not_speak_http_fails_without_what_it_said(answer: bytes):
    with receiver(answer) as found, pytest.raises(NoAnswer, match=r"does not speak HTTP$"):
        post(Posting(HERE), found.port)


def test_a_receiver_that_closes_at_once_fails():
    with receiver(b"") as found, pytest.raises(NoAnswer, match="closed without an answer"):
        post(Posting(HERE), found.port)


class Dripping:
    """A connection whose other end takes everything and answers one byte each second."""

    now = 0.0

    def recv(self, size: int) -> bytes:
        self.now += 1
        return b"x"

    def settimeout(self, seconds: float) -> None:
        assert seconds <= 10 - self.now

    def sendall(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_receiver_that_answers_byte_after_byte_has_no_more_time_than_another(
    monkeypatch: pytest.MonkeyPatch,
):
    dripping = Dripping()
    monkeypatch.setattr(socket, "create_connection", lambda *_: dripping)
    with pytest.raises(NoAnswer, match="longer than 10 s"):
        post(Posting(HERE, clock=lambda: dripping.now), 80)
    assert dripping.now == 10


def test_a_redirect_is_not_followed():
    with receiver(b"") as inside:
        moved = b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:%d/\r\n\r\n" % inside.port
        with receiver(moved) as found:
            assert post(Posting(HERE), found.port) == 307
        assert inside.heard == []


def test_nothing_is_sent_to_an_address_that_is_not_allowed():
    with receiver(b"HTTP/1.1 200 OK\r\n\r\n") as found:
        for host in ("127.0.0.1", "2130706433", "0x7f.1", "localhost"):
            with pytest.raises(NotAllowed):
                post(Posting(WebhookPlaces()), found.port, host)
        assert found.heard == []


def test_a_delivery_goes_to_the_address_that_was_judged_and_no_name_is_resolved_again():
    """DNS rebinding: the name has a public address when it is judged, and the loopback's when it is asked for again."""
    judged: list[str] = []

    def addresses(place: object) -> list[str]:
        judged.append(str(place))
        return ["127.0.0.1"]

    with receiver(b"HTTP/1.1 200 OK\r\n\r\n") as found:
        posting = Posting(WebhookPlaces(), addresses=addresses)
        assert post(posting, found.port, "no-such-name.invalid") == 200, (
            "its own resolving would have found nothing"
        )
        assert b"Host: no-such-name.invalid:%d\r\n" % found.port in found.heard[0]
        post(posting, found.port, "no-such-name.invalid")
    assert len(judged) == 2, "at each try"


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch):
    with receiver(b"HTTP/1.1 200 OK\r\n\r\n") as proxy, receiver(b"HTTP/1.1 202 OK\r\n\r\n") as found:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert post(Posting(HERE), found.port) == 202
        assert proxy.heard == []


def test_the_next_address_is_tried_where_one_takes_no_connection():
    with receiver(b"HTTP/1.1 200 OK\r\n\r\n") as found:
        posting = Posting(HERE, addresses=lambda _: ["127.0.0.2", "127.0.0.1"])
        assert post(posting, found.port, "two.invalid") == 200
