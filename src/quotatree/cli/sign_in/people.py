"""Which users may come in, and with which tokens: `create` and `delete token`, `create user`, and
`user` for what changes.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from typing import TYPE_CHECKING

import click

from quotatree.cli.change.changing import Manner, Step, Told, changes_option, make
from quotatree.cli.older import hidden
from quotatree.cli.output import EXIT_FAILED, EXIT_NOT_FOUND, fail
from quotatree.cli.remote import TAKEN, Remote, bare, hinted, remote_options
from quotatree.cli.words import moment

if TYPE_CHECKING:
    from quotatree.client import Client
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
@changes_option
@remote_options
def create_token(
    name: str, lasts: str | None, read_only: bool, user: str | None, manner: Manner, remote: Remote
) -> None:
    """Make a token called NAME and print it, this once. Nothing but the token goes to stdout."""
    wanted: t.TokenIn = {"name": name, "lasts": lasts, "read_only": read_only, "user": user}
    with remote.client() as client:

        def do() -> Told:
            made = client.tokens.create(wanted)
            until = "" if made["expires_ms"] is None else f", until {moment(made['expires_ms'])} UTC"
            return Told(name=made["id"], secret=("token", made["token"]), done=f"created{until}")

        make(client, [Step("token", name, "created", do)], manner)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@changes_option
@remote_options
def delete_token(ids: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Revoke tokens: from now on they open nothing."""
    with remote.client() as client:
        names = [bare(one, "token") for one in ids]
        make(
            client,
            [Step("token", name, "revoked", partial(client.tokens.revoke, name)) for name in names],
            manner,
        )


token.add_command(create_token, "create")
token.add_command(delete_token, "revoke")


@click.group()
def user() -> None:
    """Set passwords of users, shut them out and let them in. `create user` makes them, `get users`
    lists them.
    """


@click.command()
@click.argument("name")
@click.option("--display", default="", metavar="TEXT", help="What people call them.")
@click.option("--email", default="", metavar="ADDRESS", help="Their e-mail address.")
@click.option("--admin", is_flag=True, help="A platform admin.")
@click.option(
    "--password", "ask", is_flag=True, help="Ask for a password; without it, they sign in by token or OIDC."
)
@click.option("--if-not-exists", is_flag=True, help="If it is there already, leave it as it is.")
@changes_option
@remote_options
def create_user(
    name: str,
    display: str,
    email: str,
    admin: bool,
    ask: bool,
    if_not_exists: bool,
    manner: Manner,
    remote: Remote,
) -> None:
    """Make the user NAME."""
    wanted: t.UserIn = {"name": name, "display": display, "email": email, "platform_admin": admin}
    with remote.client() as client:
        there = name in {one["name"] for one in client.users.list()}
        if there and if_not_exists:
            made = Step("user", name, "is there already", lambda: None)
        else:
            if ask and not manner.dry_run:
                wanted["password"] = _password()
            made = Step(
                "user",
                name,
                "created",
                lambda: client.users.create(wanted),
                check=partial(check_free, "user", name, there),
            )
        with hinted(TAKEN, "--if-not-exists leaves it as it is"):
            make(client, [made], manner)


def check_free(noun: str, name: str, there: bool) -> None:
    """For a dry run: end the command if the name is taken."""
    if there:
        fail(f"there is a {noun} {name} already; --if-not-exists leaves it as it is", EXIT_FAILED)


def check_there(noun: str, there: Container[str], name: str) -> None:
    """For a dry run: end the command if nothing has this name."""
    if name not in there:
        fail(f"{noun} {name}: not found", EXIT_NOT_FOUND)


user.add_command(hidden(create_user), "create")


@user.command()
@click.argument("name")
@changes_option
@remote_options
def password(name: str, manner: Manner, remote: Remote) -> None:
    """Set the password of NAME; it is asked for. Their sessions end."""
    said = "" if manner.dry_run else _password()
    _change(remote, name, "password set", lambda client: client.users.set_password(name, said), manner)


@user.command()
@click.argument("name")
@changes_option
@remote_options
def disable(name: str, manner: Manner, remote: Remote) -> None:
    """Shut NAME out: their tokens and sessions open nothing."""
    _change(remote, name, "disabled", lambda client: client.users.update(name, {"disabled": True}), manner)


@user.command()
@click.argument("name")
@changes_option
@remote_options
def enable(name: str, manner: Manner, remote: Remote) -> None:
    """Let NAME in again."""
    _change(remote, name, "enabled", lambda client: client.users.update(name, {"disabled": False}), manner)


def _change(remote: Remote, name: str, done: str, do: Callable[[Client], object], manner: Manner) -> None:
    with remote.client() as client:
        make(
            client,
            [Step("user", name, done, lambda: do(client), check=lambda: client.users.get(name))],
            manner,
        )


def _password() -> str:
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
