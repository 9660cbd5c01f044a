"""The proxy as a real process, and its supervisor played by the test."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

DEADLINE_SECONDS = 60.0
SOURCE = Path(__file__).parents[3] / "src"


class Proxy:
    def __init__(self, *, load_seconds: float | None = None, **health: Any) -> None:
        self._load_seconds = load_seconds
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port: int = self.listening.getsockname()[1]
        self._health = {"interval_seconds": 0.05, **health}
        self.told: list[dict[str, Any]] = []
        self._unread = b""
        self.process: subprocess.Popen[bytes]
        self.start()

    def start(self) -> None:
        fd = self.listening.fileno()
        said: dict[str, Any] = {"listen": fd, "health": self._health, "user": None}
        if self._load_seconds is not None:  # supervisors of older versions do not ask for it
            said["load_seconds"] = self._load_seconds
        options = json.dumps(said)
        # By the name under which supervisors of older versions know it: they outlive an upgrade.
        code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from quotatree.engines.local.proxy import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", code, options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[fd],
        )  # fmt: skip

    def say(self, **order: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, **expected: Any) -> dict[str, Any]:
        """Read on until this was told."""
        until = time.monotonic() + DEADLINE_SECONDS
        while (line := self._line(until)) is not None:
            self.told.append(json.loads(line))
            if expected.items() <= self.told[-1].items():
                return self.told[-1]
        raise AssertionError(f"the proxy did not say {expected}: {self.told}")

    def _line(self, until: float) -> bytes | None:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        while b"\n" not in self._unread:
            ready, _, _ = select.select([fd], [], [], max(0.0, until - time.monotonic()))
            if not ready or not (part := os.read(fd, 65536)):
                return None
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def hear_load(self, least: float, most: float) -> None:
        """Read on until so many requests are told to be in flight."""
        while not least * 1000 <= self.hear_any("load")["load"][0] <= most * 1000:
            pass

    def hear_any(self, what: str) -> dict[str, Any]:
        """Read on until something of this kind was told."""
        until = time.monotonic() + DEADLINE_SECONDS
        while (line := self._line(until)) is not None:
            self.told.append(json.loads(line))
            if what in self.told[-1]:
                return self.told[-1]
        raise AssertionError(f"the proxy told nothing of {what}: {self.told}")

    def add(self, key: str, port: int) -> None:
        self.say(add=key, port=port)
        self.hear(ready=key)

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait(DEADLINE_SECONDS)
        self.listening.close()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)


def eventually(condition: Any, seconds: float = DEADLINE_SECONDS) -> Any:
    """Poll until it holds; what it returned."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "did not happen in time"
        time.sleep(0.005)
    return found
