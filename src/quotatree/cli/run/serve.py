"""`quotatree serve`: the control loop, the store, an engine and the API in one process, until told
to stop.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_UNAVAILABLE, fail
from quotatree.cli.run.data import DATABASE_FILE, data_options, opened_store, server_settings
from quotatree.cli.run.start_lines import start_lines

if TYPE_CHECKING:
    from quotatree.identity.first_start import FirstStart

LOOPBACK = ("127.0.0.1", "localhost", "::1")
WAITING = 2048
"""How many connections may wait to be accepted; the kernel may allow fewer."""


@click.command()
@data_options
@click.option("--listen", metavar="HOST:PORT", help="Where to listen. Without it, 127.0.0.1:7070.")
@click.option(
    "--engine",
    type=click.Choice(["local", "timer", "kubernetes"]),
    help="What runs jobs. Without it, local: real processes on this machine. kubernetes: pods of a cluster. "
    "timer: a job is a timer.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the cluster is. Without it, the cluster this server runs in, else your own kubeconfig.",
)
@click.option("--context", metavar="NAME", help="The context of that file. Without it, its current one.")
@click.option(
    "--nodes",
    metavar="NxGPUS[:MODEL]",
    help="Virtual nodes, such as 16x8 or 4x8:H100,2x4:L20 (each model is a pool then). Without it, this machine with the GPUs it has.",
)
@click.option("--run-as", metavar="USER", help="The user that jobs run as; needed if the server is root.")
@click.option(
    "--user-range",
    metavar="FIRST-LAST",
    help="Give each workspace a separate unix user, by number, and keep their jobs apart; for root.",
)
@click.option(
    "--tls-cert", type=click.Path(path_type=Path), metavar="FILE", help="Speak https with this certificate."
)
@click.option("--tls-key", type=click.Path(path_type=Path), metavar="FILE", help="The certificate's key.")
@click.option("--https", is_flag=True, default=None, help="Browsers come by https, through a proxy.")
@click.option("--log-file", type=click.Path(path_type=Path), metavar="FILE", help="Log there, not to stderr.")
@click.option(
    "--webhook-networks",
    metavar="LIST",
    help="Where webhooks may go besides public addresses: networks and hosts, such as 10.1.0.0/16,chat.internal.",
)
@click.option(
    "--abandon-runs",
    is_flag=True,
    help="What ran under another engine is gone for good: queue its jobs again.",
)
def serve(
    data: Path | None,
    database: str | None,
    config: Path | None,
    abandon_runs: bool,
    user_range: str | None,
    webhook_networks: str | None,
    **options: Any,
) -> None:
    """Run the server. The first start prints an admin token, once, and a link that opens the
    console.

    Options win over variables, and these over the settings file.
    """
    from quotatree.api.settings import BadSettings, of_option
    from quotatree.control import logs
    from quotatree.core import Refused
    from quotatree.server.assembly import Server
    from quotatree.server.directory_lock import AlreadyServing
    from quotatree.server.engine_choice import NoEngine

    given = {name: value for name, value in options.items() if value is not None}
    there = {name: given.pop(name) for name in ("kubeconfig", "context") if name in given}
    settings = replace(server_settings(data, database, config), **given)
    settings = replace(settings, kubernetes=replace(settings.kubernetes, **there))
    settings = replace(settings, loop=replace(settings.loop, abandon_runs=abandon_runs))
    try:
        if user_range is not None:
            uids = of_option("users.range", user_range, "--user-range")
            settings = replace(settings, users=replace(settings.users, range=uids))
        if webhook_networks is not None:
            places = of_option("webhook_networks", webhook_networks.split(","), "--webhook-networks")
            settings = replace(settings, webhook_networks=places)
    except BadSettings as error:
        fail(str(error), EXIT_BAD_INPUT)
    assert settings.data is not None
    assert settings.database is not None
    host, port = _address(settings.listen)
    for file in (settings.tls_cert, settings.tls_key):
        if file is not None and not os.path.isfile(file):
            fail(f"{file}: there is no such file", EXIT_BAD_INPUT)
    try:
        # Jobs of the local engine work below it, as another user that must pass through. Private files in it have modes of
        # their own.
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o711 if settings.engine == "local" else 0o700)
        log_file = settings.log_file
        logs.configure(None if log_file is None else log_file.open("a", encoding="utf-8", buffering=1))
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", EXIT_BAD_INPUT)
    if host not in LOOPBACK and settings.tls_cert is None and not settings.https:
        click.echo(
            f"warning: {host} may be reached from elsewhere, and without TLS tokens can be read on the way",
            err=True,
        )
    with opened_store(settings.database) as store:
        store.tables()  # those of a newer version are refused before anything begins
        own_file = settings.database == str(settings.data / DATABASE_FILE)
        try:
            server = Server(store, settings, own_file=own_file, say=lambda line: click.echo(line, err=True))
        except AlreadyServing as error:
            fail(str(error), EXIT_UNAVAILABLE)
        except NoEngine as error:
            fail(str(error), EXIT_BAD_INPUT)
        except Refused as refused:
            fail(f"--nodes {refused.value}: {refused.message}", EXIT_BAD_INPUT)
        sockets: list[socket.socket] = []
        try:
            sockets = _bound(host, port)  # first: nothing is begun if the port is taken
            server.start()

            def show(first: FirstStart | None, said: list[str]) -> None:
                _show_furnished(first, said, lambda user: server.login_link(user, host, port))

            if server.controller.health.writable:
                show(*server.furnish())
            else:
                server.furnish_once_it_leads(show)
            for one in sockets:
                one.listen(WAITING)
            for line in start_lines(server, settings, store.url):
                click.echo(line)
            click.echo(f"listening on {settings.listen}, data in {store.url}")
            server.run(host, port, sockets)
        finally:
            for one in sockets:
                one.close()
            server.stop()
    if server.overtaken:
        why = server.overtaken[:1].upper() + server.overtaken[1:]
        fail(f"stopped: a newer version has taken over. {why}", EXIT_FAILED)
    click.echo("stopped")


def _show_furnished(first: FirstStart | None, said: Sequence[str], link: Callable[[str], str]) -> None:
    if first is not None:
        click.echo(
            f"first start: this token of user {first.user} is shown once, keep it:\n\n  {first.token}\n"
        )
        click.echo(
            f"this link opens the console as {first.user}, once, within 15 minutes:\n\n  {link(first.user)}\n"
        )
    for line in said:
        click.echo(f"notice: {line}", err=True)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        fail(f"listen {text}: must be HOST:PORT, such as 127.0.0.1:7070", EXIT_BAD_INPUT)
    return host.strip("[]"), int(port)


def _bound(host: str, port: int) -> list[socket.socket]:
    """A bound socket for each address of the host. If one cannot be bound, the command ends."""
    made: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((one[0], one[4]) for one in found):
            made.append(socket.socket(family, socket.SOCK_STREAM))
            made[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made[-1].bind(address)
    except OSError as error:
        for one in made:
            one.close()
        why = error.strerror
        if error.errno == errno.EADDRINUSE:
            why = "another program listens there already; end it, or choose another port with --listen"
        fail(f"--listen {host}:{port}: {why}", EXIT_FAILED)
    return made
