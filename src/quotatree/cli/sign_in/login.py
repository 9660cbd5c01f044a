"""`quotatree login`, `logout`, `whoami`, `console`: logins, who you are there, and the way to the
browser.
"""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli import contexts
from quotatree.cli.contexts import Context
from quotatree.cli.output import (
    EXIT_BAD_INPUT,
    EXIT_NO_RIGHTS,
    EXIT_NOT_FOUND,
    echo_json,
    echo_lines,
    fail,
    output_option,
)
from quotatree.cli.remote import Remote, errors_exit, remote_options
from quotatree.cli.safe_text import one_line

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t


@click.command()
@click.argument("url", required=False)
@click.option("--name", default=contexts.DEFAULT_NAME, show_default=True, help="Remember it under this name.")
@click.option(
    "--token-file", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE",
    help="Use the token in this file; - is stdin.",
)  # fmt: skip
@click.option("--user", metavar="NAME", help="Log in as this user, with a password that is asked for.")
@click.option("--oidc", is_flag=True, help="Log in with the identity provider, in a browser.")
@click.option("--kubernetes", is_flag=True, help="Log in as the user of your kubeconfig.")
@click.option(
    "--kubeconfig", type=click.Path(path_type=Path), metavar="FILE", help="With --kubernetes: this file."
)
@click.option("--kube-context", metavar="NAME", help="With --kubernetes: this context of it.")
@click.option("--lasts", default="30d", show_default=True, metavar="TIME", help="With --user: for how long.")
@click.option("--workspace", default="", metavar="NAME", help="Submit jobs in this workspace from now on.")
@click.option("--quota", default="", metavar="NAME", help="Submit jobs to this quota from now on.")
def login(
    url: str | None,
    name: str,
    token_file: Path | None,
    user: str | None,
    oidc: bool,
    kubernetes: bool,
    kubeconfig: Path | None,
    kube_context: str | None,
    lasts: str,
    workspace: str,
    quota: str,
) -> None:
    """Log in to the server at URL and remember it. Without an option, a token is asked for.

    The login also remembers where your jobs go, if you say it with --workspace and --quota.
    """
    from quotatree.client import Client

    if sum((token_file is not None, user is not None, oidc, kubernetes)) > 1:
        fail("only one of --token-file, --user, --oidc and --kubernetes", EXIT_BAD_INPUT)
    try:
        target = contexts.server_url(url)
    except contexts.BadContext as error:
        fail(str(error), EXIT_BAD_INPUT)
    with errors_exit():
        with Client(target) as stranger:
            if user is not None:
                token = _by_password(stranger, user, lasts)
            elif oidc:
                token = _by_device(stranger)
            elif kubernetes:
                token = _by_cluster(stranger, kubeconfig, kube_context)
            else:
                token = _given(token_file)
        with Client(target, token) as client:
            who = client.whoami()
    info = who["token"]
    made_here = info is not None and (user is not None or oidc or kubernetes)
    context = Context(
        target, token, who["user"]["name"], info["id"] if made_here and info else "", workspace, quota
    )
    contexts.save(contexts.load().with_context(name, context))
    echo_lines([f"logged in to {target} as {who['user']['name']}"])


def _by_password(client: Client, user: str, lasts: str) -> str:
    password = click.prompt("Password", hide_input=True, err=True)
    wanted: t.TokenIn = {"name": f"login on {socket.gethostname()}"[:100], "lasts": lasts}
    return client.logins.by_password(user, password, wanted)["token"]


def _by_cluster(client: Client, kubeconfig: Path | None, context: str | None) -> str:
    from quotatree.engines.kubernetes.client import bearer_token
    from quotatree.engines.kubernetes.errors import NoClient

    try:
        shown = bearer_token(kubeconfig, context)
    except NoClient as error:
        fail(str(error), EXIT_BAD_INPUT)
    return client.logins.by_cluster(shown)["token"]


def _by_device(client: Client) -> str:
    from quotatree.client.errors import Pending

    begun = client.logins.begin_device()
    where = begun["verification_uri_complete"] or begun["verification_uri"]
    click.echo(one_line(f"open {where} and enter {begun['user_code']}"), err=True)
    while True:
        try:
            return client.logins.finish_device(begun["handle"])["token"]
        except Pending:
            if time.time() * 1000 >= begun["expires_ms"]:
                fail("the login was not confirmed in time; run the command again", EXIT_NO_RIGHTS)
            time.sleep(begun["interval_ms"] / 1000)


def _given(token_file: Path | None) -> str:
    if token_file is None:
        return str(click.prompt("Token", hide_input=True, err=True)).strip()
    if str(token_file) == "-":
        return sys.stdin.read().strip()
    try:
        return contexts.read_token(token_file)
    except contexts.BadContext as error:
        fail(str(error), EXIT_BAD_INPUT)


@click.command()
@click.option("--name", metavar="NAME", help="Forget this login; without it, the current one.")
def logout(name: str | None) -> None:
    """Forget a login; a token that `login` made is revoked."""
    forget(name or contexts.load().current)


def forget(name: str) -> None:
    """Forget the login of this name, and revoke its token if `login` made it. If there is none, the
    command ends.
    """
    from quotatree.client import Client
    from quotatree.client.errors import ClientError

    known = contexts.load()
    context = known.known.get(name)
    if context is None:
        fail(f"not logged in as {name}", EXIT_NOT_FOUND)
    if context.token_id:
        try:
            with Client(context.url, context.token) as client:
                client.tokens.revoke(context.token_id)
        except ClientError as error:
            click.echo(one_line(f"warning: token {context.token_id} was not revoked: {error}"), err=True)
    contexts.save(known.without(name))
    click.echo(f"logged out of {context.url}")


@click.command()
@output_option
@remote_options
def whoami(output: str, remote: Remote) -> None:
    """Show your user name and your roles on the server."""
    with remote.client() as client:
        who = client.whoami()
    if output == "json":
        echo_json(who)
        return
    echo_lines(_who_lines(who, remote.target().url))


@click.command()
@remote_options
def console(remote: Remote) -> None:
    """Print an address that opens the console in a browser, signed in: once, within 15 minutes."""
    with remote.client() as client:
        path = client.logins.link()["path"]
    echo_lines([remote.target().url.rstrip("/") + path])


def _who_lines(who: t.WhoAmI, url: str) -> list[str]:
    admin = ", platform admin" if who["user"]["platform_admin"] else ""
    lines = [f"{who['user']['name']} on {url}{admin}"]
    lines += [f"  {one['workspace']}: {', '.join(one['roles'])}" for one in who["workspaces"]]
    lines += [f"  quota admin of {quota}" for quota in who["quota_admin_of"]]
    token: Any = who["token"]
    if token is not None and token["read_only"]:
        lines.append("  this token may only read")
    return lines
