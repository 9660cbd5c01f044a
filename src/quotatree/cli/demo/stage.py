"""The stage of the demo: a server in a new directory, and a client for each user who acts."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from quotatree.cli.demo import cast as cast
from quotatree.client import Client
from quotatree.client.errors import ClientError
from quotatree.engines.local.server.clearing import end_everything
from quotatree.server.engine_choice import LOCAL_DIRECTORY

START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 15.0
ADMIN: Final = "admin"
_TOKEN: Final = re.compile(r"^ {2}(\S+)$", re.MULTILINE)


class StageFailed(Exception):
    pass


class Stage:
    """A server in a new directory, with a client for each user; `admin` divides the cluster."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.url = f"http://127.0.0.1:{_free_port()}"
        self.tokens: dict[str, Path] = {}
        self._clients: dict[str, Client] = {}
        self._server: subprocess.Popen[bytes] | None = None

    def client(self, user: str) -> Client:
        if user not in self._clients:
            self._clients[user] = Client(self.url, self.tokens[user].read_text().strip())
        return self._clients[user]

    def open(self) -> None:
        """Start the server, and divide the cluster."""
        self._start_server()
        admin = self.client(ADMIN)
        for quota in cast.QUOTAS:
            admin.quotas.create(quota)  # type: ignore[arg-type]  # a literal of the cast, checked by the server
        for workspace, (user, quota_id) in cast.TEAMS.items():
            admin.users.create({"name": user})
            admin.workspaces.create({"id": workspace, "owners": [user]})
            admin.workspaces.bind(workspace, quota_id)
            self._keep_token(user, admin.tokens.create({"name": "demo", "user": user})["token"])

    def server_log(self) -> str:
        with suppress(OSError):
            return (self.directory / "server.log").read_text(errors="replace")[-2000:]
        return ""

    def close(self) -> None:
        """End all jobs, then the server, and remove everything, including what a server that died
        has left.
        """
        with suppress(ClientError):
            self._end_jobs()
        for client in self._clients.values():
            client.close()
        server = self._server
        if server is not None and server.poll() is None:
            server.terminate()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        end_everything(self.directory / "data" / LOCAL_DIRECTORY)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start_server(self) -> None:
        printed = self.directory / "server.out"
        command = [
            sys.executable, "-m", "quotatree", "serve", "--engine", "local", "--nodes", cast.NODES,
            "--data", str(self.directory / "data"), "--listen", self.url.removeprefix("http://"),
            "--run-as", pwd.getpwuid(os.getuid()).pw_name, "--log-file", str(self.directory / "server.log"),
        ]  # fmt: skip
        with os.fdopen(os.open(printed, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as out:
            self._server = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._server.poll() is None:
            text = printed.read_text()
            token = _TOKEN.search(text)
            if token is not None and "listening on" in text and self._answers(token[1]):
                self._keep_token(ADMIN, token[1])
                printed.unlink()  # it was shown once, as a token should be
                return
            time.sleep(0.05)
        raise StageFailed(f"the server did not start:\n{printed.read_text()}{self.server_log()}")

    def _answers(self, token: str) -> bool:
        try:
            with Client(self.url, token) as client:
                client.whoami()
        except ClientError:
            return False
        return True

    def _keep_token(self, user: str, token: str) -> None:
        path = self.directory / f"{user}.token"
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(token + "\n")
        self.tokens[user] = path

    def _end_jobs(self) -> None:
        if ADMIN not in self.tokens:
            return
        admin = self.client(ADMIN)
        for job in list(admin.jobs.list(active=True)):
            with suppress(ClientError):
                admin.jobs.cancel(job["id"])
        until = time.monotonic() + STOP_SECONDS
        while time.monotonic() < until and any(job["places"] for job in admin.jobs.list()):
            time.sleep(0.1)


@contextmanager
def stage(directory: Path) -> Iterator[Stage]:
    """A stage that is closed however its use ends; meanwhile Ctrl-C is ignored, so that nothing is
    left behind.
    """
    try:
        directory.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise StageFailed(f"{directory}: {error.strerror}") from None
    opened = Stage(directory)
    try:
        yield opened
    finally:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            opened.close()
        finally:
            signal.signal(signal.SIGINT, before)


def own_directory() -> Path:
    base = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("TMPDIR") or "/tmp"
    return Path(base) / f"quotatree-demo-{os.getpid()}-{secrets.token_hex(3)}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
