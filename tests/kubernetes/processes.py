"""How does a part of the control plane live and die? As a process that cannot outlive the one that started it.

Its standard input is a pipe of which only we hold the other end: it ends when that closes, however we die.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE_SECONDS = 60.0
STOP_SECONDS = 5.0
TICKS = os.sysconf("SC_CLK_TCK")


class Part:
    """One server: its command, its log, and the process that runs it now, if any."""

    def __init__(self, name: str, command: list[str], log: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.command = command
        self.log = log
        self._environment = {**os.environ, **environment, "QUOTATREE_STOP_AT_EOF": "1"}
        self._process: subprocess.Popen[bytes] | None = None
        self._spent_seconds = 0.0

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} does not run"
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        assert not self.alive, f"{self.name} runs already"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=self._environment,
                cwd=self.log.parent, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """kill -9: what a crash or a lost machine looks like."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and kill it if it does not: with open watches an API server takes its time."""
        self._end(signal.SIGTERM)

    def cpu_seconds(self) -> float:
        """Processor time it has used, over all its lives."""
        return self._spent_seconds + (_cpu_seconds(self.pid) if self.alive else 0.0)

    def memory_mib(self) -> int:
        """Resident memory now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def tail(self, lines: int = 15) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            self._spent_seconds += _cpu_seconds(process.pid)
            process.send_signal(how)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        assert process.stdin is not None
        process.stdin.close()


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on now, all different."""
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def until(
    asked: Callable[[], Found], what: str, seconds: float = PATIENCE_SECONDS, every_seconds: float = 0.05
) -> Found:
    """First true answer of `asked`; after so many seconds without one, a failure that says what was waited for."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        answer = asked()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds:.0f} s still not: {what} (last answer: {answer!r})")
        pause.wait(every_seconds)


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS
