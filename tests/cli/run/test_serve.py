"""`serve` as a process of its own: first start, options, settings."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from quotatree.cli import main
from quotatree.store import Store
from tests.cli.conftest import Serving
from tests.cli.process import Process, run


def test_first_start_stop_restart_kill(tmp_path: Path, started: list[Process]):
    """A token once; a second server is kept away; SIGTERM ends in order; after kill -9 the next one leads at once (A7)."""
    data = tmp_path / "data"
    first = Process(data, "--nodes", "2x8")
    started.append(first)
    token = first.token
    assert f"{first.url}/login#link=" in first.said
    for line in (
        f"  address    {first.url}",
        "  engine     timer, 2 node(s) with 16 GPU",
        "  isolation  no program runs: jobs are timers",
        f"  store      sqlite:///{data}/quotatree.db",
        "  leader     yes",
        f"  log        {tmp_path / 'log'}",
    ):
        assert f"{line}\n" in first.said
    with first.client(token) as client:
        assert [node["name"] for node in client.nodes.list()] == ["node-0", "node-1"]
        client.quotas.create({"id": "q", "draws": {"default": {"gpus": 16}}})
        client.workspaces.create({"id": "w", "owners": ["admin"]})
        client.workspaces.bind("w", "q")
        job = client.jobs.submit({"workspace": "w", "quota": "q", "groups": [{"gpus": 8}]})["id"]
    assert "a server works on this data already" in run("serve", "--data", str(data), status=6).stderr
    assert "stopped" in first.end()
    assert first.process.returncode == 0

    second = Process(data, "--nodes", "9x8")
    started.append(second)
    assert "qt_" not in second.said
    assert "#link=" not in second.said
    with second.client(token) as client:
        assert len(client.nodes.list()) == 2
        assert client.jobs.get(job)["phase"] == "Running"
    second.end(signal.SIGKILL)

    third = Process(data)
    started.append(third)
    assert "  leader     yes\n" in third.said, "the dead server's lease was waited for"
    with third.client(token) as client:
        assert client.jobs.get(job)["run"] == 1
        assert client.health()["writable"]


def test_a_server_that_has_to_wait_for_the_lease_makes_the_admin_and_the_nodes_when_it_leads(
    tmp_path: Path, started: list[Process]
):
    """As one that dies right after it has taken the lease of an empty store leaves it to the next."""
    path = str(tmp_path / "shared.db")
    store = Store.open(path)
    store.migrate()
    epoch = store.take_lease("another", time.time_ns() // 1_000_000, 3_600_000)
    assert epoch is not None
    server = Process(
        tmp_path / "data", "--database", path, "--nodes", "2x8", env={"QUOTATREE_LOOP_LEASE": "2s"}
    )
    started.append(server)
    assert "qt_" not in server.said
    assert "no, stands by: another leads" in server.said
    store.release_lease("another", epoch)
    store.close()
    assert server.process.stdout is not None
    patience = threading.Timer(60, server.process.kill)
    patience.start()
    for line in server.process.stdout:
        server.said += line
        if "/login#link=" in line:
            break
    patience.cancel()
    with server.client(server.token) as client:
        until = time.monotonic() + 60
        while len(client.nodes.list()) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--listen", "7070"), "must be HOST:PORT"),
        (("--nodes", "many"), "such as 16x8"),
        (("--nodes", "0x8"), "1 to 10000 nodes"),
        (("--database", "mysql://x/y"), "allowed are sqlite"),
        (
            ("--listen", "no-such-host.invalid:7070", "--engine", "timer"),
            "--listen no-such-host.invalid:7070",
        ),
        (("--log-file", "/proc/no/log"), "/proc/no/log: No such file"),
        (("--data", "/proc/no"), "/proc/no: No such file"),
    ],
)
def test_bad_options(tmp_path: Path, words, said):
    result = CliRunner().invoke(main, ["serve", "--data", str(tmp_path / "d"), *words])
    assert result.exit_code in (1, 2)
    assert said in result.stderr


def test_a_port_that_is_taken_is_told_before_anything_begins(tmp_path: Path):
    """No token is shown by a server that does not run; the next start shows it."""
    words = ("serve", "--engine", "timer", "--data", str(tmp_path / "d"), "--listen")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run(*words, where, status=1)
    assert "another program listens there already" in result.stderr
    assert "choose another port with --listen" in result.stderr
    assert result.stdout == ""


def test_settings_from_the_file_in_the_data_directory(tmp_path: Path):
    file = tmp_path / "quotatree.toml"
    file.write_text('listen = "nowhere"\n')
    assert "listen nowhere" in run("serve", "--data", str(tmp_path), status=2).stderr
    other = tmp_path / "other.toml"
    other.write_text("nonsense = 1\n")
    assert "nonsense" in run("serve", "--data", str(tmp_path), "--config", str(other), status=2).stderr
    env: dict[str, str | None] = {"QUOTATREE_LISTEN": "elsewhere"}
    assert "listen elsewhere" in run("serve", "--data", str(tmp_path), env=env, status=2).stderr
    missing = ("--listen", "127.0.0.1:0", "--tls-cert", str(tmp_path / "cert"))
    assert "no such file" in run("serve", "--data", str(tmp_path), *missing, status=2).stderr


def log_in_from(url: str, claimed: str) -> int:
    """The status of a login with a wrong password by a client that claims to come from this address."""
    request = Request(
        f"{url}/api/v1/session",
        json.dumps({"user": "ghost", "password": "wrong"}).encode(),
        {"Content-Type": "application/json", "X-Forwarded-For": claimed},
    )
    try:
        with urlopen(request) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def test_an_address_that_a_client_claims_is_not_believed(serving: Serving):
    """Or one address would guess as many: each that it claimed had five tries at once."""
    assert 429 in [log_in_from(serving.url, f"10.0.0.{number}") for number in range(14)]


def test_a_proxy_that_is_named_is_believed_and_those_before_it_are_not(
    tmp_path: Path, started: list[Process]
):
    """A proxy writes the address of its client behind what the client claimed."""
    server = Process(tmp_path / "data", env={"QUOTATREE_TRUSTED_PROXIES": "127.0.0.1"})
    started.append(server)
    assert {log_in_from(server.url, f"10.0.0.{number}") for number in range(14)} == {401}
    assert 429 in [log_in_from(server.url, f"10.0.1.{number}, 192.0.2.7") for number in range(14)]


def test_deliveries_go_where_the_option_says(tmp_path: Path, started: list[Process]):
    """E4: without it, no delivery goes to the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as receiving:
        receiving.settimeout(60)
        url = f"http://127.0.0.1:{receiving.getsockname()[1]}/"
        server = Process(tmp_path / "data", "--nodes", "1x8", "--webhook-networks", "10.1.0.0/16,127.0.0.1")
        started.append(server)
        with server.client(server.token) as client:
            client.webhooks.create(
                {"id": "here", "url": url, "secret": "a-secret-of-16-letters", "kinds": []}
            )
            client.quotas.create({"id": "q", "draws": {"default": {"gpus": 8}}})
        came, _ = receiving.accept()
        with came:
            assert came.recv(4).startswith(b"POST")
    bad = run(
        "serve", "--data", str(tmp_path / "other"), "--webhook-networks", "10.1.0.0/33", status=2
    ).stderr
    assert "--webhook-networks" in bad


def test_a_head_without_an_end_is_not_listened_to(serving: Serving):
    """Connections are guarded by what tests/server/test_patient_protocol.py tests."""
    host, port = serving.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 60) as talking:
        talking.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        with pytest.raises(OSError, match=r"reset|[Bb]roken pipe"):
            talking.sendall(b"X: %s\r\n" % (b"y" * 65_000) * 1000)


def test_nodes_of_several_models_make_a_pool_each(tmp_path: Path, started: list[Process]):
    """R4: as the help of --nodes says."""
    server = Process(tmp_path / "data", "--nodes", "4x8:H100,2x4:L20")
    started.append(server)
    with server.client(server.token) as client:
        assert [(pool["name"], pool["nodes"], pool["gpus"]) for pool in client.pools.list()] == [
            ("H100", 4, 32), ("L20", 2, 8),
        ]  # fmt: skip
