"""The real command as processes: a server, and whatever talks to it."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from quotatree.cli import main
from quotatree.client import Client
from quotatree.client.errors import ClientError

COMMAND = [sys.executable, "-m", "quotatree"]


class Process:
    def __init__(
        self,
        data: Path,
        *words: str,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] = COMMAND,
    ) -> None:
        self.data = data
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        scheme = "https" if "--tls-cert" in words else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.log = data.parent / "log"
        command = [*program, "serve", "--data", str(data), "--log-file", str(self.log)]
        command += ["--engine", "timer"] if "--engine" not in words else []
        self.process = subprocess.Popen(
            [*command, "--listen", f"127.0.0.1:{self.port}", *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "NO_COLOR": "1", **(env or {})},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if line.startswith("listening"):
                break
        else:
            raise AssertionError(self.said)

    @property
    def token(self) -> str:
        found = re.search(r"qt_\S+", self.said)
        assert found is not None, self.said
        return found[0]

    def client(self, token: str) -> Client:
        client = Client(self.url, token)
        end = time.monotonic() + 60
        while True:
            try:
                client.health()
                return client
            except ClientError:
                assert time.monotonic() < end
                time.sleep(0.05)

    def env(self, home: Path, token: str | None = None) -> dict[str, str]:
        """For commands that talk to it; without a token they have to log in."""
        found = {"XDG_CONFIG_HOME": str(home / "config"), "QUOTATREE_URL": self.url}
        return found if token is None else {**found, "QUOTATREE_TOKEN": token}

    @staticmethod
    def command(*words: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Another command as a process of its own, to its end; for one of another version."""
        return subprocess.run(
            [*COMMAND, *words], env={**os.environ, "NO_COLOR": "1", **env}, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip

    def end(self, number: int = signal.SIGTERM) -> str:
        self.process.send_signal(number)
        return self.process.communicate(timeout=60)[0]


class Command:
    """Any other command, while it runs: what it prints, line by line, with a deadline."""

    def __init__(self, *words: str, env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1", **env},
        )  # fmt: skip
        self.said = b""

    def until(self, pattern: str, seconds: float = 60) -> re.Match[str]:
        """Reads on until it has said so."""
        found = self.says(pattern, seconds)
        assert found is not None, f"no {pattern!r} in {self.said.decode(errors='replace')}"
        return found

    def says(self, pattern: str, seconds: float) -> re.Match[str] | None:
        """Reads on until it has said so, at most so long."""
        assert self.process.stdout is not None
        end = time.monotonic() + seconds
        while (found := re.search(pattern, self.said.decode(errors="replace"))) is None:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not piece:
                break
            self.said += piece
        return found

    def end(self, number: int | None = None) -> int:
        """Waits for it, or sends it a signal first. Returns its exit status."""
        if number is not None:
            self.process.send_signal(number)
        self.said += self.process.communicate(timeout=60)[0]
        return self.process.returncode

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def run(
    *words: str, status: int = 0, env: Mapping[str, str | None] | None = None, stdin: str | None = None
) -> Result:
    """A command in this process, where it is not the process that a story is about."""
    result = CliRunner().invoke(main, words, env=env, input=stdin)
    assert result.exit_code == status, result.output
    return result
