"""A real `quotatree serve` for a benchmark: in a process of its own, on an empty store, and what it costs.

Processor time and memory are read from /proc, so this runs on Linux.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.request import urlopen

START_LINES: Final = 20
STOP_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Served:
    url: str
    token: str
    pid: int
    directory: Path
    database: str | None

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def peak_mib(self) -> float:
        """The most resident memory the server ever had."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0

    def metrics(self) -> dict[str, float]:
        """The server's own metrics, by name with labels."""
        with urlopen(f"{self.url}/metrics") as answer:  # our own loopback address
            lines = answer.read().decode().splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}


def cpu_seconds(pid: int | str) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(database: str | None = None) -> Iterator[Served]:
    """Run a server on an empty store: the given database, or SQLite in a new directory if it is None."""
    with tempfile.TemporaryDirectory(prefix="quotatree-bench-") as scratch:
        port = _free_port()
        words = [
            "serve",
            "--engine",
            "timer",
            "--data",
            scratch,
            "--listen",
            f"127.0.0.1:{port}",
            "--log-file",
            f"{scratch}/log",
        ]
        env = dict(os.environ)
        if database is not None:
            env["QUOTATREE_DATABASE"] = database  # not on the command line: it may hold a password
        process = subprocess.Popen(
            [sys.executable, "-m", "quotatree", *words], env=env, stdout=subprocess.PIPE, text=True
        )
        try:
            token = _token(process)
            yield Served(f"http://127.0.0.1:{port}", token, process.pid, Path(scratch), database)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _token(process: subprocess.Popen[str]) -> str:
    """The admin's token, which the first start prints. Returns when the server is about to listen."""
    assert process.stdout is not None
    token = None
    for _ in range(START_LINES):
        line = process.stdout.readline()
        if not line:
            break
        if line.strip().startswith("qt_"):
            token = line.strip()
        if line.startswith("listening"):
            if token is None:
                raise SystemExit("the store is not empty: name a new database")
            return token
    raise SystemExit("quotatree serve did not start")
