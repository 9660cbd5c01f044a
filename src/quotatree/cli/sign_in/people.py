"""Which users may come in, and with which tokens: `create` and `delete token`, `create user`, and `user` for what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quotatree.cli.older import hidden
from quotatree.cli.output import echo_lines
from quotatree.cli.remote import TAKEN, Remote, bare, hinted, remote_options
from quotatree.cli.safe_text import one_line
from quotatree.cli.words import moment

if TYPE_CHECKING:
    from quotatree.client import types as t


@click.group()
def token() -> None:
    """Another word for `create token` and `delete token`. `get tokens` lists yours."""


@click.command()
@click.argument("name")
@click.option(
    "--lasts", metavar="TIME", help="Until it expires, such as 90d; without it, until it is revoked."
)
@click.option("--read-only", is_flag=True, help="It opens nothing that changes something.")
@click.option("--user", metavar="NAME", help="For this user (platform admins).")
@remote_options
def create_token(name: str, lasts: str | None, read_only: bool, user: str | None, remote: Remote) -> None:
    """Make a token called NAME and print it, this once. Nothing but the token goes to stdout."""
    wanted: t.TokenIn = {"name": name, "lasts": lasts, "read_only": read_only, "user": user}
    with remote.client() as client:
        made = client.tokens.create(wanted)
    until = "" if made["expires_ms"] is None else f", until {moment(made['expires_ms'])} UTC"
    click.echo(one_line(f"token {made['id']}{until}; it is shown once:"), err=True)
    echo_lines([made["token"]])


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@remote_options
def delete_token(ids: tuple[str, ...], remote: Remote) -> None:
    """Revoke tokens: from now on they open nothing."""
    with remote.client() as client:
        for name in (bare(one, "token") for one in ids):
            client.tokens.revoke(name)
            click.echo(f"token/{name} revoked")


token.add_command(create_token, "create")
token.add_command(delete_token, "revoke")


@click.group()
def user() -> None:
    """Set passwords of users, shut them out and let them in. `create user` makes them, `get users` lists them."""


@click.command()
@click.argument("name")
@click.option("--display", default="", metavar="TEXT", help="What people call them.")
@click.option("--email", default="", metavar="ADDRESS", help="Their e-mail address.")
@click.option("--admin", is_flag=True, help="A platform admin.")
@click.option(
    "--password", "ask", is_flag=True, help="Ask for a password; without it, they sign in by token or OIDC."
)
@click.option("--if-not-exists", is_flag=True, help="If it is there already, leave it as it is.")
@remote_options
def create_user(
    name: str, display: str, email: str, admin: bool, ask: bool, if_not_exists: bool, remote: Remote
) -> None:
    """Make the user NAME."""
    wanted: t.UserIn = {"name": name, "display": display, "email": email, "platform_admin": admin}
    with remote.client() as client:
        if if_not_exists and name in {one["name"] for one in client.users.list()}:
            click.echo(f"user/{name} is there already")
            return
        if ask:
            wanted["password"] = _password()
        with hinted(TAKEN, "--if-not-exists leaves it as it is"):
            client.users.create(wanted)
    click.echo(f"user/{name} created")


user.add_command(hidden(create_user), "create")


@user.command()
@click.argument("name")
@remote_options
def password(name: str, remote: Remote) -> None:
    """Set the password of NAME; it is asked for. Their sessions end."""
    said = _password()
    with remote.client() as client:
        client.users.set_password(name, said)
    click.echo(f"password of {name} set")


@user.command()
@click.argument("name")
@remote_options
def disable(name: str, remote: Remote) -> None:
    """Shut NAME out: their tokens and sessions open nothing."""
    with remote.client() as client:
        client.users.update(name, {"disabled": True})
    click.echo(f"user/{name} disabled")


@user.command()
@click.argument("name")
@remote_options
def enable(name: str, remote: Remote) -> None:
    """Let NAME in again."""
    with remote.client() as client:
        client.users.update(name, {"disabled": False})
    click.echo(f"user/{name} enabled")


def _password() -> str:
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
