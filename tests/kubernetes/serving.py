"""How does QuotaTree itself run in a story? As `quotatree serve --engine kubernetes` in a process of its own, which may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from quotatree.client import Client
from quotatree.client.errors import ClientError
from tests.kubernetes.processes import free_ports, until

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 20.0
# Asks the kernel to kill it with its parent, then becomes Python with the arguments: a killed story leaves no server behind.
MORTAL = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
TOKEN_BEGINS = "qt_"


class Server:
    """One server on one store. Several of them may share a PostgreSQL database: then one leads and the others stand by."""

    def __init__(
        self,
        home: Path,
        kubeconfig: Path,
        *,
        database: str | None = None,
        options: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        self.home = home
        self.kubeconfig = kubeconfig
        home.mkdir(parents=True, exist_ok=True)
        self._port = free_ports(1)[0]
        self._output = home / "output"
        self._token: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._client: Client | None = None
        self._environment = {
            "QUOTATREE_LOOP_LEASE": "2s",
            "QUOTATREE_KUBERNETES_LOST_SECONDS": "10",
            **(environment or {}),
        }
        if database is not None:
            self._environment["QUOTATREE_DATABASE"] = database
        self._command = [sys.executable, "-ISc", MORTAL, "-m", "quotatree", "serve", "--engine", "kubernetes"]
        self._command += ["--kubeconfig", str(kubeconfig), "--data", str(home / "data")]
        self._command += ["--listen", f"127.0.0.1:{self._port}", *options]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def client(self) -> Client:
        """A client with the rights of the admin of the first start."""
        if self._client is None:
            self._client = Client(self.url, self.token)
        return self._client

    @property
    def token(self) -> str:
        """The token that the first start printed."""
        if self._token is None:
            words = self.output().split()
            self._token = next(word for word in words if word.startswith(TOKEN_BEGINS))
        return self._token

    def knows(self, token: str) -> None:
        """Use the token of the server that first wrote this store."""
        self._token = token

    def start(self, *, wait: bool = True, environment: dict[str, str] | None = None) -> None:
        """Start it; returns when it listens and, unless another one leads, can write. `environment`: what is new in it."""
        self._environment |= environment or {}
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=ROOT,
                env={**os.environ, "PYTHONPATH": path, **self._environment},
            )  # fmt: skip
        if wait:
            until(self.writable, "the server leads")

    def writable(self) -> bool:
        """Whether it leads and can write. Raises with what it said if it has ended."""
        return bool(self.health().get("writable"))

    def listens(self) -> bool:
        return "mode" in self.health()

    def health(self) -> dict[str, Any]:
        """What it says of itself; nothing while it does not answer."""
        assert self.alive, f"the server ended:\n{self.output()[-3000:]}"
        try:
            with Client(self.url) as client:
                return dict(client.health())
        except ClientError:
            return {}

    def kill(self) -> None:
        """kill -9."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def output(self) -> str:
        return self._output.read_text(errors="replace") if self._output.exists() else ""

    def _end(self, how: signal.Signals) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
