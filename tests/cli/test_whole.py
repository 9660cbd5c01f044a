"""The real command against a real server: other databases, TLS, a login by an identity provider, and live streams."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from joserfc.jwk import RSAKey

from tests.cli.conftest import TREE, until
from tests.cli.process import COMMAND, Command, Process
from tests.cli.process import run as run_here
from tests.oidc_provider import CLIENT, SECRET, OidcProvider
from tests.store import postgres


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    running: list[Command] = []
    yield running
    for one in running:
        one.kill()


def run(*words: str, env: dict[str, str], status: int = 0, stdin: str = "") -> str:
    done = subprocess.run(
        [*COMMAND, *words], env={**os.environ, **env}, capture_output=True, text=True, timeout=60, check=False,
        input=stdin,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_serve_on_postgresql(tmp_path: Path, started: list[Process], postgres_home: str):
    """What was acknowledged is in the database when the server is killed, and the next one finds it there."""
    url = postgres.create(postgres_home, "served")
    soon = {"QUOTATREE_LOOP_LEASE": "1s"}
    server = Process(tmp_path / "data", "--database", url, "--nodes", "2x8", env=soon)
    started.append(server)
    token = server.token
    server.client(token).close()
    env = server.env(tmp_path, token)
    run_here("apply", "-y", "-f", "-", env=env, stdin=TREE)
    words = ("submit", "--workspace", "vision", "--quota", "vision", "--gpus", "1", "-o", "name")
    job = run_here(*words, env=env).stdout.strip().removeprefix("job/")
    server.end(signal.SIGKILL)
    again = Process(tmp_path / "data", "--database", url, env=soon)
    started.append(again)
    assert not (tmp_path / "data" / "quotatree.db").exists()
    with again.client(token) as client:
        until(lambda: client.health()["writable"])  # the dead server's lease must run out first
        assert client.jobs.get(job)["owner"] == "admin"


def test_a_standby_answers_questions_and_says_where_to_write(
    tmp_path: Path, started: list[Process], postgres_home: str
):
    """With the command line: lists and explanations come from the standby, a change is told who leads."""
    url = postgres.create(postgres_home, "stood_by")
    leader = Process(tmp_path / "leader", "--database", url, "--nodes", "2x8")
    started.append(leader)
    token = leader.token
    leader.client(token).close()
    run_here("apply", "-y", "-f", "-", env=leader.env(tmp_path, token), stdin=TREE)
    words = ("submit", "--workspace", "vision", "--quota", "vision", "--gpus", "1", "--name", "train")
    run_here(*words, env=leader.env(tmp_path, token))
    standby = Process(tmp_path / "standby", "--database", url)
    started.append(standby)
    assert f"  leader     no, stands by: {leader.url} (" in standby.said
    env = standby.env(tmp_path, token)
    until(lambda: "train" in run_here("get", "jobs", env=env).stdout)  # a copy is taken now and then
    assert "train" in run("get", "jobs", env=env)
    assert "vision" in run("tree", env=env)
    assert "name " in run("describe", "job", "train", env=env)
    assert "this would be decided" in run("preview", "--scale", "vision=4", env=env)
    refused = subprocess.run(
        [*COMMAND, "cancel", "train"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (refused.returncode, f"write to {leader.url} (" in refused.stderr) == (6, True), refused.stderr


def test_serve_with_tls(tmp_path: Path, started: list[Process]):
    """The command line believes a certificate that its own trust store has, and no other."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=quotatree",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    server = Process(tmp_path / "data", "--tls-cert", str(cert), "--tls-key", str(key))
    started.append(server)
    env = server.env(tmp_path, server.token)
    trusting = {**env, "SSL_CERT_FILE": str(cert)}
    assert f"admin on {server.url}" in run("whoami", env=trusting)
    stranger = subprocess.run(
        [*COMMAND, "whoami"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (stranger.returncode, "CERTIFICATE_VERIFY_FAILED" in stranger.stderr) == (6, True)
    plain = {**env, "QUOTATREE_URL": server.url.replace("https", "http")}
    assert "qt_" not in run("whoami", env=plain, status=6)


def test_login_by_an_identity_provider(tmp_path: Path, started: list[Process], commands: list[Command]):
    """The device flow, as its user sees it: a code, a browser, and then he is somebody; logout revokes what was made."""
    key = RSAKey.generate_key(2048, {"kid": "one"})
    with OidcProvider(key, int(time.time())) as provider:
        provider.login("u-7", preferred_username="nia", name="Nia")
        settings = {
            "QUOTATREE_OIDC_ISSUER": provider.issuer,
            "QUOTATREE_OIDC_CLIENT_ID": CLIENT,
            "QUOTATREE_OIDC_CLIENT_SECRET": SECRET,
            "QUOTATREE_OIDC_REDIRECT_URI": "http://localhost:1/api/v1/oidc/callback",
        }
        server = Process(tmp_path / "data", env=settings)
        started.append(server)
        server.client(server.token).close()
        env = server.env(tmp_path)
        login = Command("login", server.url, "--oidc", env=env)
        commands.append(login)
        code = login.until(r"and enter (\S+)")[1]
        provider.answer_device(code)
        assert login.end() == 0, login.said
        assert b"as nia" in login.said
        assert run("whoami", env=env).startswith(f"nia on {server.url}")
        run("logout", env=env)
        run("whoami", env=env, status=4)

        refused = Command("login", server.url, "--oidc", env=env)
        commands.append(refused)
        provider.answer_device(refused.until(r"and enter (\S+)")[1], "denied")
        assert refused.end() == 4, refused.said
    assert SECRET not in (tmp_path / "log").read_text()


def test_watching_live(tmp_path: Path, started: list[Process], commands: list[Command]):
    """`get -w` and `events -w` on a stream that really runs: they show what others do, survive the server, end by Ctrl-C."""
    server = Process(tmp_path / "data", "--nodes", "2x8")
    started.append(server)
    token = server.token
    server.client(token).close()
    env = server.env(tmp_path, token)
    run_here("apply", "-y", "-f", "-", env=env, stdin=TREE)
    watch = Command("get", "jobs", "-w", env=env)
    events = Command(
        "events", "-w", "--kind", "job.started", "--kind", "job.cancelled", "-o", "json", env=env
    )
    commands.extend((watch, events))
    watch.until("^ID")
    words = ("submit", "--workspace", "vision", "--quota", "vision", "--gpus", "1", "-o", "name")
    jobs = [run_here(*words, env=env).stdout.strip().removeprefix("job/")]
    while events.says(r"job\.started", seconds=8) is None:  # it tells what happens once it is connected
        jobs.append(run_here(*words, env=env).stdout.strip().removeprefix("job/"))
        assert len(jobs) < 8, "all of them have started, and it has told of none"
    job = jobs[0]
    watch.until(rf"{job} .* Running ")

    listen = f"127.0.0.1:{server.port}"
    server.end(signal.SIGKILL)
    again = Process(tmp_path / "data", "--listen", listen)
    started.append(again)
    again.url = server.url
    again.client(token).close()
    run_here("cancel", job, env=env)
    watch.until(rf"{job} .* Cancelled ")
    events.until(r"job\.cancelled")
    assert len(re.findall(rb'"kind": "job.started"', events.said)) <= len(jobs)
    assert (watch.end(signal.SIGINT), events.end(signal.SIGINT)) == (130, 130)


# -- clients that do not behave --------------------------------------------------------------------------------------

HURRIED = (
    "from quotatree.server.patient_protocol import PatientProtocol; PatientProtocol.header_seconds = 1.0; "
    "from quotatree.cli import main; main()"
)
HALF_A_LOGIN = (
    b"POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n"
    b'{"user": "admin", "pass'
)


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server that gives the head of a request one second instead of twenty; its tests leave it running."""
    found = hurry(tmp_path_factory.mktemp("hurried"))
    yield found
    found.end()


def hurry(directory: Path) -> Process:
    found = Process(directory / "data", program=[sys.executable, "-c", HURRIED])
    found.client(found.token).close()
    return found


def connect(server: Process, said: bytes = b"") -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    found.sendall(said)
    return found


def closes(connection: socket.socket) -> bytes:
    """What the server says until it closes; fails if it does not."""
    heard = b""
    try:
        while part := connection.recv(65536):
            heard += part
    except ConnectionResetError:
        pass
    finally:
        connection.close()
    return heard


def test_clients_that_break_off_in_a_request_leave_no_traceback(tmp_path: Path, started: list[Process]):
    server = hurry(tmp_path)
    started.append(server)
    for number in range(4):  # the pipe that it prints to has room for that many tracebacks
        gone = connect(server, HALF_A_LOGIN)
        if number % 2:  # half of them by a reset, as a client does that is killed
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()
    with server.client(server.token) as client:
        assert client.health()["mode"] == "ready"
    said = server.end() + server.log.read_text()
    assert "Traceback" not in said
    assert "request_failed" not in said


def test_a_head_that_trickles_or_never_comes_is_closed_and_who_behaves_is_served(hurried: Process):
    silent = connect(hurried)
    trickling = connect(hurried, b"GET /healthz HTTP/1.1\r\n")
    told = threading.Event()

    def trickle() -> None:
        with suppress(OSError):
            while not told.wait(0.1):
                trickling.sendall(b"X: y\r\n")

    sender = threading.Thread(target=trickle)
    sender.start()
    try:
        with hurried.client(hurried.token) as client:
            assert client.health()["mode"] == "ready"
        assert closes(silent) == b""
        assert closes(trickling) == b""
    finally:
        told.set()
        sender.join()
    whole = connect(hurried, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert closes(whole).startswith(b"HTTP/1.1 200")


def test_a_connection_is_kept_between_two_requests_and_its_next_head_may_not_trickle(hurried: Process):
    kept = http.client.HTTPConnection("127.0.0.1", hurried.port, timeout=30)
    for _ in range(2):
        kept.request("GET", "/healthz")
        answer = kept.getresponse()
        assert (answer.status, answer.read()[:1]) == (200, b"{")
    kept.sock.sendall(b"GET /heal")
    assert closes(kept.sock) == b""
