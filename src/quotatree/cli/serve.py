"""`quotatree serve`: the control loop, the store, an engine and the API in one process, until told to stop."""

from __future__ import annotations

from pathlib import Path

import click

from quotatree.cli.data import data_options, database_url, default_directory, opened_store
from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_UNAVAILABLE, fail


@click.command()
@data_options
@click.option(
    "--listen", default="127.0.0.1:7070", show_default=True, metavar="HOST:PORT", help="Where to listen."
)
@click.option(
    "--engine",
    type=click.Choice(["timer"]),
    default="timer",
    show_default=True,
    help="What runs jobs. timer: a job is a timer.",
)
@click.option(
    "--nodes", metavar="NxGPUS", help="At the first start, join that many virtual nodes, such as 16x8."
)
@click.option(
    "--tls-cert", type=click.Path(path_type=Path, exists=True), metavar="FILE",
    help="Speak https with this certificate.",
)  # fmt: skip
@click.option(
    "--tls-key", type=click.Path(path_type=Path, exists=True), metavar="FILE", help="The certificate's key."
)
@click.option("--https", is_flag=True, help="Browsers come by https, through a proxy: cookies may say so.")
@click.option(
    "--oidc", type=click.Path(path_type=Path, exists=True), metavar="FILE",
    help="Let people log in with the identity provider in this TOML file.",
)  # fmt: skip
@click.option("--log-file", type=click.Path(path_type=Path), metavar="FILE", help="Log there, not to stderr.")
def serve(
    data: Path | None,
    database: str | None,
    listen: str,
    engine: str,
    nodes: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    https: bool,
    oidc: Path | None,
    log_file: Path | None,
) -> None:
    """Run the server. The first start prints an admin token, once."""
    del engine  # there is one so far, and click has checked the name
    from quotatree.cli.server import AlreadyServing, Server, read_oidc, virtual_nodes
    from quotatree.control import logs
    from quotatree.core.errors import Refused

    host, port = _address(listen)
    directory = data or default_directory()
    try:
        joined = () if nodes is None else virtual_nodes(nodes)
        people = None if oidc is None else read_oidc(oidc)
    except (Refused, ValueError) as error:
        fail(str(error), EXIT_BAD_INPUT)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    logs.configure(None if log_file is None else log_file.open("a", encoding="utf-8"))
    if host not in ("127.0.0.1", "localhost", "::1") and tls_cert is None and not https:
        click.echo(
            f"warning: {host} may be reached from elsewhere, and without TLS tokens can be read on the way",
            err=True,
        )
    with opened_store(data, database) as store:
        store.migrate()
        try:
            server = Server(
                store, directory, own_file=database is None, oidc=people, https=https or tls_cert is not None
            )
        except AlreadyServing as error:
            fail(str(error), EXIT_UNAVAILABLE)
        try:
            server.start()
            first = server.furnish(joined)
            if first is not None:
                click.echo(
                    f"first start: this token of user {first.user} is shown once, keep it:\n\n  {first.token}\n"
                )
            if server.stands_by:
                click.echo("another server leads; this one stands by until that one is gone", err=True)
            click.echo(
                f"listening on {listen}, data in {database_url(data, store.url if database else None)}"
            )
            server.run(host, port, tls_cert, tls_key)
        finally:
            server.stop()
    click.echo("stopped")


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        fail(f"--listen {text}: must be HOST:PORT, such as 127.0.0.1:7070", EXIT_BAD_INPUT)
    return host.strip("[]"), int(port)
