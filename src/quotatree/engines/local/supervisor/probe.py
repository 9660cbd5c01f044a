"""Does a notebook answer yet? Asked step by step, so that its supervisor never waits for it."""

from __future__ import annotations

import errno
import select
import socket

from quotatree.engines.local.supervisor.address import HOST
from quotatree.engines.local.supervisor.loop import now

STATUS_DIGITS = 3


class Probe:
    """Asks one question at a time. Without a path, an opened connection is answer enough."""

    def __init__(self, port: int, path: str, timeout_seconds: float) -> None:
        self._port = port
        self._path = path
        self._timeout_seconds = timeout_seconds
        self._socket: socket.socket | None = None
        self._asked_at = 0.0
        self._sent = False
        self._answer = b""

    def look(self) -> bool:
        """Go on asking, without waiting; True once the notebook answered well. Called again and again."""
        try:
            return self._step()
        except OSError:
            self.close()
            return False

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _step(self) -> bool:
        if self._socket is not None and now() - self._asked_at > self._timeout_seconds:
            self.close()
        if self._socket is None:
            self._connect()
        assert self._socket is not None
        if not self._sent:
            if not _may(self._socket, select.POLLOUT):
                return False
            code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, "cannot be reached")
            if not self._path:
                self.close()
                return True
            self._ask()
        return self._read()

    def _connect(self) -> None:
        self._socket = socket.socket()
        self._socket.setblocking(False)
        self._asked_at = now()
        self._sent = False
        self._answer = b""
        code = self._socket.connect_ex((HOST, self._port))
        if code not in (0, errno.EINPROGRESS):
            raise OSError(code, "cannot be reached")

    def _ask(self) -> None:
        assert self._socket is not None
        self._socket.sendall(
            f"GET {self._path} HTTP/1.1\r\nHost: {HOST}:{self._port}\r\nUser-Agent: quotatree-health\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        self._sent = True

    def _read(self) -> bool:
        assert self._socket is not None
        if not _may(self._socket, select.POLLIN):
            return False
        part = self._socket.recv(4096)
        self._answer += part
        words = self._answer.split(b"\r\n", 1)[0].split()
        if part and (len(words) < 2 or b"\r\n" not in self._answer):
            return False
        self.close()
        return (
            len(words) >= 2
            and words[0].startswith(b"HTTP/1.")
            and words[1].isdigit()
            and len(words[1]) == STATUS_DIGITS
            and 200 <= int(words[1]) < 400
        )


def _may(sock: socket.socket, what: int) -> bool:
    poll = select.poll()
    poll.register(sock, what)
    return bool(poll.poll(0))
