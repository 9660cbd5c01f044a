"""`doctor` finds the twenty commonest faults, each made here, and says of each what to do; where there are none, it finds none."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from quotatree.cli.run.doctor import installation, stored
from quotatree.cli.run.doctor.stored import file_system_of
from quotatree.store import Store
from tests.cli.process import run
from tests.store.old import bring_up_to_date, fill

NOWHERE = "http://127.0.0.1:1"
HEALTHY = {"mode": "ready", "writable": True, "since_ms": 0, "waiting": 0}
ME = {"user": {"id": "u", "name": "ann"}}


class Fault(NamedTuple):
    """Environment and options with which doctor is started on a machine that has this fault, and how it must end."""

    env: dict[str, str | None] = {}  # noqa: RUF012 - nobody changes it
    words: tuple[str, ...] = ()
    bad: bool = True


Made = Callable[[Path, pytest.MonkeyPatch], Iterator[Fault]]
FAULTS: dict[str, tuple[str, str, Made]] = {}
"""By what is wrong: the check that must find it, words of what it must say to do, and what makes the fault."""


def fault(what: str, check: str, do: str) -> Callable[[Made], Made]:
    def noted(made: Made) -> Made:
        FAULTS[what] = (check, do, made)
        return made

    return noted


def checks(status: int | None, env: dict[str, str | None], *words: str) -> dict[str, dict[str, str]]:
    answer = run("doctor", "-o", "json", *words, env=env, status=1 if status is None else status)
    return {one["check"]: one for one in json.loads(answer.stdout)["checks"]}


@contextmanager
def answering(answers: dict[str, tuple[int, Any]], date: str | None = None) -> Iterator[str]:
    """The address of a server that answers each path with a status and JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.get(self.path, (404, {}))
            sent = json.dumps(body).encode()
            self.send_response_only(status)
            self.send_header("Date", date or self.date_time_string())
            self.send_header(
                "Content-Type", "application/json" if status < 400 else "application/problem+json"
            )
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def url(address: str, **more: str) -> Fault:
    return Fault({"QUOTATREE_URL": address, "QUOTATREE_TOKEN": "qt_x", **more})


# -- the installation -------------------------------------------------------------------------------------------------


@fault("the server's packages are not installed", "packages", "pipx install --force 'quotatree[server]'")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    patch.setattr("quotatree.cli.extras.SERVER", ("no_such_package",))
    yield Fault(bad=False)


@fault("the console was never built", "console", "make console")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    patch.setattr(installation, "CONSOLE", where / "console_files" / "index.html")
    yield Fault(bad=False)


@fault("there is no login", "logins", "quotatree login")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    yield Fault(bad=False)


@fault("the saved logins are no logins", "logins", "remove it and log in again")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    saved(where).write_text("{")
    yield Fault()


@fault("the saved logins can be read by others", "logins", "chmod 600")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    file = saved(where)
    file.write_text(LOGINS)
    file.chmod(0o644)
    yield Fault()


LOGINS = json.dumps({"current": "here", "contexts": {"here": {"url": NOWHERE, "token": "qt_x"}}})


def saved(where: Path) -> Path:
    from quotatree.cli import contexts

    file = contexts.config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(0o600)
    return file


# -- the server -------------------------------------------------------------------------------------------------------


@fault("no server runs", "server", "quotatree serve")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    yield url(NOWHERE)


@fault("another program answers", "server", "another program or a proxy")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    with answering({"/readyz": (200, ["hello"])}) as address:
        yield url(address)


@fault("the server does not write", "server", "look into its log")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    unwritable = {**HEALTHY, "mode": "read-only", "writable": False}
    with answering({"/readyz": (503, unwritable), "/api/v1/whoami": (200, ME)}) as address:
        yield url(address)


@fault("the clocks are apart", "clock", "NTP")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    answers = {"/readyz": (200, HEALTHY), "/api/v1/whoami": (200, ME)}
    with answering(answers, date="Thu, 01 Jan 2026 00:00:00 GMT") as address:
        yield url(address)._replace(bad=False)


@fault("the token is not known any more", "token", "log in again")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    problem = {"type": "about:blank", "title": "Unauthorized", "status": 401, "detail": "no such token"}
    with answering({"/readyz": (200, HEALTHY), "/api/v1/whoami": (401, problem)}) as address:
        yield url(address)


# -- the settings -----------------------------------------------------------------------------------------------------


@fault("a setting is misspelt", "settings", "lists all settings")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    (where / "quotatree.toml").write_text('listn = "127.0.0.1:7070"\n')
    yield Fault(words=("--config", str(where / "quotatree.toml")))


@fault("another program has the port", "listen", "another port")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield Fault({"QUOTATREE_LISTEN": f"127.0.0.1:{taken.getsockname()[1]}"}, bad=False)


@fault("tokens would go over the network in the clear", "listen", "tls_cert")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    yield Fault({"QUOTATREE_LISTEN": "0.0.0.0:0"}, bad=False)


@fault("the certificate has ended", "certificate", "a new one")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    certificate, key = where / "cert.pem", where / "key.pem"
    ended(certificate, key)
    yield Fault({"QUOTATREE_TLS_CERT": str(certificate), "QUOTATREE_TLS_KEY": str(key)})


@fault("the data directory is a file", "directory", "another one with --data")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    (where / "file").touch()
    yield Fault({"QUOTATREE_DATA": str(where / "file" / "data")})


def ended(certificate: Path, key: Path) -> None:
    """Write a certificate that was good for a day, long ago."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, private.public_key(), 1, begun, begun + timedelta(days=1))
    certificate.write_bytes(made.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key.write_bytes(private.private_bytes(*plain))


# -- the machine ------------------------------------------------------------------------------------------------------


@fault("the user of the jobs does not exist", "run as", "--run-as USER")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    yield Fault({"QUOTATREE_ENGINE": "local", "QUOTATREE_RUN_AS": "no-such-user"}, bad=False)


@fault("the cluster's address is not known", "cluster", "--kubeconfig")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    yield Fault(
        {"QUOTATREE_ENGINE": "kubernetes", "KUBECONFIG": str(where / "no-such-file"), "HOME": str(where)}
    )


# -- the data ---------------------------------------------------------------------------------------------------------


@fault("the database is not where it was named", "data", "name the directory")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    yield Fault(words=("--database", str(where / "nowhere.db")))


@fault("PostgreSQL does not answer", "data", "start the database")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    yield Fault(words=("--database", "postgresql://me@127.0.0.1:1/quotatree"))


@fault("the disk is nearly full", "disk", "make room")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    database(where / "quotatree.db")
    patch.setattr(stored, "LITTLE_SPACE_GIB", shutil.disk_usage(where).total / 2**30)
    yield Fault(words=("--data", str(where)))


@fault("the database is of a newer version", "data", "install that version")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    database(where / "quotatree.db")
    with sqlite3.connect(where / "quotatree.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    yield Fault(words=("--data", str(where)))


@fault("the file is no database", "data", "")
def _(where: Path, patch: pytest.MonkeyPatch) -> Iterator[Fault]:
    (where / "quotatree.db").write_text("This is a letter. " * 1000)
    yield Fault(words=("--data", str(where)))


def database(file: Path) -> None:
    store = Store.open(str(file))
    store.migrate()
    store.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """The environment of somebody who has nothing yet, on a machine where a server could run."""
    for name in [name for name in os.environ if name.startswith("QUOTATREE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return {"QUOTATREE_URL": NOWHERE, "QUOTATREE_ENGINE": "timer", "QUOTATREE_LISTEN": "127.0.0.1:0"}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_found_and_doctor_says_what_to_do(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: dict[str, str | None]
):
    check, do, made = FAULTS[what]
    making = made(tmp_path, monkeypatch)
    with answering({"/readyz": (200, HEALTHY), "/api/v1/whoami": (200, ME)}) as healthy:
        known = {**home, "QUOTATREE_URL": healthy, "QUOTATREE_TOKEN": "qt_x"}
        wrong = next(making)
        found = checks(1 if wrong.bad else 0, {**known, **wrong.env}, *wrong.words)
        next(making, None)
    assert found[check]["state"] == ("bad" if wrong.bad else "warning")
    assert do in found[check]["do"]
    assert found[check]["do"], "each finding says what to do"
    others = {name for name, one in found.items() if one["state"] == "bad"} - {check}
    assert others == set(), "nothing else is called a fault"


def test_there_are_twenty():
    assert len(FAULTS) >= 20


def test_where_nothing_is_wrong_nothing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: dict[str, str | None]
):
    database(tmp_path / "quotatree.db")
    console = tmp_path / "index.html"
    console.touch()
    monkeypatch.setattr(installation, "CONSOLE", console)
    saved(tmp_path).write_text(LOGINS)
    with answering({"/readyz": (200, HEALTHY), "/api/v1/whoami": (200, ME)}) as healthy:
        known = {**home, "QUOTATREE_URL": healthy, "QUOTATREE_TOKEN": "qt_x"}
        found = checks(0, known, "--data", str(tmp_path))
    assert [one for one in found.values() if one["state"] != "ok"] == []
    assert {"server", "clock", "token", "settings", "listen", "directory", "data", "disk"} <= set(found)


def test_few_open_files_are_told():
    command = ["sh", "-c", f"ulimit -n 512; exec {sys.executable} -m quotatree doctor -o json"]
    env = {**os.environ, "QUOTATREE_ENGINE": "local", "QUOTATREE_URL": NOWHERE}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    (files,) = [one for one in json.loads(done.stdout)["checks"] if one["check"] == "files"]
    assert files["state"] == "warning"
    assert "LimitNOFILE" in files["do"]


def test_the_file_system_is_that_of_the_longest_mount_above(tmp_path: Path):
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/a / ext4 rw 0 0\nserver:/x /srv/with\\040blank nfs4 rw 0 0\n/dev/b /srv xfs rw 0 0\n"
    )
    assert file_system_of(Path("/srv/with blank/quotatree.db"), mounts) == "nfs4"
    assert file_system_of(Path("/srv/other.db"), mounts) == "xfs"
    assert file_system_of(Path("/home/a.db"), mounts) == "ext4"
    assert file_system_of(Path("/home/a.db"), tmp_path / "none") == ""


def test_doctor_looks_at_the_machine_if_jobs_are_to_run_on_it(tmp_path: Path):
    env: dict[str, str | None] = {
        "XDG_CONFIG_HOME": str(tmp_path), "QUOTATREE_URL": NOWHERE, "QUOTATREE_DATA": str(tmp_path / "d"),
        "QUOTATREE_RUN_AS": "no-such-user", "QUOTATREE_CGROUPS": "false",
    }  # fmt: skip
    found = checks(1, env)
    assert found["gpus"]["state"] in ("ok", "warning")
    assert "no user no-such-user" in found["run as"]["detail"]
    assert (found["limits"]["state"], found["limits"]["detail"]) == (
        "warning",
        "switched off by the setting cgroups",
    )
    assert "gpus" not in run("doctor", env={**env, "QUOTATREE_ENGINE": "timer"}, status=1).stdout


def data_and_books(directory: Path, status: int) -> dict[str, dict[str, str]]:
    """What it says of a database that is there; there is no server."""
    env: dict[str, str | None] = {
        "XDG_CONFIG_HOME": str(directory), "QUOTATREE_URL": NOWHERE, "QUOTATREE_ENGINE": "timer"
    }  # fmt: skip
    found = checks(status, env, "--data", str(directory))
    return {name: one for name, one in found.items() if name in ("data", "books")}


def test_doctor_finds_books_that_an_overlap_of_two_versions_ruined(tmp_path: Path):
    """It said `data ok` of a store with which no server could lead."""
    fill("ruined_by_overlap", f"sqlite:///{tmp_path}/quotatree.db", tmp_path)
    bring_up_to_date(f"sqlite:///{tmp_path}/quotatree.db")
    found = data_and_books(tmp_path, 1)
    assert found["data"]["state"] == "ok"
    assert found["books"]["state"] == "bad"
    assert "4 run(s) whose open stretches" in found["books"]["detail"]
    assert "the next start mends it" in found["books"]["do"]
    run("migrate", "--data", str(tmp_path))
    assert list(data_and_books(tmp_path, 1)) == ["data"]


def test_doctor_says_who_brings_tables_of_an_older_version_up_to_date(tmp_path: Path):
    fill("of_b97389c", f"sqlite:///{tmp_path}/quotatree.db", tmp_path)
    found = data_and_books(tmp_path, 1)["data"]
    assert found["state"] == "warning"
    assert "revision 0002" in found["detail"]
    assert "quotatree serve" in found["do"]
