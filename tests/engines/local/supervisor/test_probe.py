"""What is no answer to a probe is none, and breaks nothing."""

from __future__ import annotations

import socket

import pytest

from quotatree.engines.local.supervisor.probe import Probe
from tests.engines.local.proxy_process import eventually


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 " + b"2" * 5_000 + b" OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"\xff\x00" * 9_000 + b"\r\n",
        b"",
    ],
    ids=["endless status", "short status", "no status", "no text", "nothing"],
)
def test_what_is_no_answer_is_none_and_breaks_nothing(answer: bytes):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        probe = Probe(listening.getsockname()[1], "/health", timeout_seconds=20)
        assert not probe.look()  # it connects, and perhaps asks
        connection, _ = listening.accept()
        with connection:
            assert not probe.look()
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            looks: list[bool] = []

            def over() -> bool:
                looks.append(probe.look())
                return probe._socket is None

            eventually(over)
            assert not any(looks)
    probe.close()
