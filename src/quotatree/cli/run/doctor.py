"""`quotatree doctor`: is everything as it should be, and if not, what is to be done?"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from quotatree import __version__
from quotatree.cli import contexts
from quotatree.cli.output import EXIT_FAILED, echo_json, echo_table, output_option
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.run.data import data_options, database_of, default_directory, server_settings

if TYPE_CHECKING:
    from quotatree.engines.local.server.premises import Premises
    from quotatree.store import Store

LITTLE_SPACE_GIB = 1.0


class Finding(NamedTuple):
    """The result of one check. `state` is ok, warning or bad."""

    check: str
    state: str
    detail: str


@click.command()
@data_options
@output_option
@remote_options
def doctor(data: Path | None, database: str | None, config: Path | None, output: str, remote: Remote) -> None:
    """Check the configuration, the server, and the data if there is some here. Exit 1 if something
    is bad.
    """
    findings = [
        Finding("version", "ok", f"quotatree {__version__}, Python {sys.version.split()[0]}"),
        *_logins(),
        *_server(remote),
        *_machine(data, database, config),
        *_data(data, database_of(data, database, config), named=bool(data or database or config)),
    ]
    if output == "json":
        echo_json({"schema": "quotatree.doctor/1", "checks": [one._asdict() for one in findings]})
    else:
        echo_table(("CHECK", "STATE", "DETAIL"), findings)
    if any(one.state == "bad" for one in findings):
        raise SystemExit(EXIT_FAILED)


def _logins() -> Iterator[Finding]:
    path = contexts.config_file()
    try:
        known = contexts.load()
    except contexts.BadContext as error:
        yield Finding("logins", "bad", str(error))
        return
    if not known.known:
        yield Finding("logins", "warning", "none yet: quotatree login URL")
    elif stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield Finding("logins", "bad", f"{path} can be read by others: chmod 600 {path}")
    else:
        yield Finding("logins", "ok", f"{', '.join(sorted(known.known))}; current: {known.current}")


def _server(remote: Remote) -> Iterator[Finding]:
    from quotatree.client import Client
    from quotatree.client.errors import ApiError, ClientError

    target = remote.target()
    with Client(target.url, target.token, timeout_seconds=5.0, sleep=lambda _: None) as client:
        try:
            health = client.health()
        except ClientError as error:
            yield Finding("server", "bad", str(error))
            return
        state = "ok" if health["writable"] else "bad"
        yield Finding(
            "server", state, f"{target.url}: {health['mode']}, {health['waiting']} request(s) waiting"
        )
        if target.token is None:
            yield Finding("token", "warning", "none for this server: quotatree login")
            return
        try:
            yield Finding("token", "ok", f"of {client.whoami()['user']['name']}")
        except ApiError as error:
            yield Finding("token", "bad", str(error))


def _machine(data: Path | None, database: str | None, config: Path | None) -> Iterator[Finding]:
    """Check whether a server here could run jobs, if the settings want the local engine."""
    settings = server_settings(data, database, config)
    if settings.engine != "local":
        return
    if not sys.platform.startswith("linux"):
        yield Finding("engine", "warning", "local runs on Linux only: serve --engine timer")
        return
    from quotatree.engines.local.host.devices import discover
    from quotatree.engines.local.server.premises import Premises
    from quotatree.server.engine_choice import LOCAL_DIRECTORY

    node = discover()
    if node is None:
        yield Finding("gpus", "warning", "none found: serve --nodes 1x8 declares eight virtual ones")
    else:
        yield Finding("gpus", "ok", f"{node.gpus} x {node.model}")
    assert settings.data is not None
    yield from _users(Premises(settings.data / LOCAL_DIRECTORY, settings.run_as, settings.users))
    notice = _limits_notice() if settings.cgroups else "switched off by the setting cgroups"
    yield Finding("limits", "warning" if notice else "ok", notice or "CPU and memory, by cgroups")


def _users(premises: Premises) -> Iterator[Finding]:
    """Check as whom jobs run, whether workspaces are kept apart, and whether such a user can run
    Python.
    """
    from quotatree.engines.local.server.python_check import why_no_python

    if premises.refusal is not None:
        yield Finding("run as", "warning", premises.refusal)
        return
    apart = premises.users.shared_by_all or premises.not_apart
    user = premises.users.sample()
    yield Finding("run as", "ok", "a separate user for each workspace" if premises.users.apart else user.name)
    yield Finding(
        "workspaces", "warning" if apart else "ok", apart or "kept apart: users, processes, files, IPC"
    )
    trouble = why_no_python(user)
    yield Finding("python", "warning" if trouble else "ok", trouble or f"{user.name} can run it")


def _limits_notice() -> str:
    """What to say about limits that cannot be kept here, "" if all can. It is tried out: a kernel
    may offer and not permit.
    """
    from quotatree.engines.local.host import cgroups

    groups = cgroups.find(f"doctor-{os.getpid()}")
    group, notice = groups.make("try", {"cpu_milli": 1000, "memory_mib": 64})
    if group is not None:
        group.remove()
    groups.tidy()
    return notice


def _data(data: Path | None, url: str, *, named: bool) -> Iterator[Finding]:
    """Check the database. Most machines have none, and that is bad only if one was `named`."""
    directory = data or default_directory()
    if "://" not in url and not os.path.exists(url):
        yield Finding("data", "bad" if named else "ok", f"{url}: no database here")
        return
    from quotatree.store import Store
    from quotatree.store.errors import StoreError

    try:
        store = Store.open(url)
        try:
            yield from _tables(store)
        finally:
            store.close()
    except StoreError as error:
        yield Finding("data", "bad", str(error))
    if os.path.exists(directory):
        free = shutil.disk_usage(directory).free / 2**30
        yield Finding(
            "disk", "ok" if free > LITTLE_SPACE_GIB else "bad", f"{free:.1f} GiB free at {directory}"
        )


def _tables(store: Store) -> Iterator[Finding]:
    """Check whether the tables are those of this version, and whether the use that they tell fits
    the runs.
    """
    from quotatree.store.form import Form

    found = store.tables()
    if found.form is Form.OLDER:
        yield Finding(
            "data",
            "warning",
            f"{store.url}: tables of an older version (revision {found.revision}); `quotatree serve` brings them up to date",
        )
        return
    store.check()
    yield Finding("data", "ok", store.url)
    faults = store.faults_in_books()
    if faults:
        how = (
            "the next start mends it"
            if faults.open_runs
            else "`quotatree migrate` mends it while no server leads"
        )
        yield Finding("books", "bad", f"{faults}; {how}")
