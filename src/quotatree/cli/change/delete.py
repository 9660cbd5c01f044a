"""`quotatree delete NOUN NAME...`: what is in use is refused, with what is in the way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from quotatree.cli.change.changing import Manner, Step, changes_option, make
from quotatree.cli.change.create import ROLES
from quotatree.cli.decided import ask
from quotatree.cli.output import EXIT_FAILED, fail
from quotatree.cli.place import Places
from quotatree.cli.remote import Remote, bare, remote_options
from quotatree.cli.sign_in.people import check_there, delete_token
from quotatree.cli.sign_in.webhook import delete_webhook

if TYPE_CHECKING:
    from quotatree.client import Client

names_argument = click.argument("names", nargs=-1, required=True, metavar="NAME...")


@click.group()
def delete() -> None:
    """Delete quotas, workspaces, members, users, tokens, pools, nodes or webhooks. Jobs are ended
    by `cancel`.
    """


delete.add_command(delete_token, "token")
delete.add_command(delete_webhook, "webhook")


@delete.command()
@names_argument
@changes_option
@remote_options
def quota(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Delete quotas. One with jobs, children or workspaces is refused, and what is in the way is
    named (Q6).
    """
    with remote.client() as client:
        steps = _steps("quota", names, client.quotas.delete)
        make(
            client, steps, manner, [{"change": "delete-quota", "quota": one.name} for one in steps], ask=False
        )


def _steps(
    noun: str,
    names: tuple[str, ...],
    do: Callable[[str], object],
    check: Callable[[str], object] | None = None,
) -> list[Step]:
    return [
        Step(noun, name, "deleted", partial(do, name), check=None if check is None else partial(check, name))
        for name in (bare(one, noun) for one in names)
    ]


@delete.command()
@names_argument
@changes_option
@remote_options
def workspace(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Delete workspaces, with their members, bindings and webhooks. One with active jobs is refused
    (W1).
    """
    with remote.client() as client:
        make(client, _steps("workspace", names, client.workspaces.delete, client.workspaces.get), manner)


@delete.command()
@click.argument("user")
@click.option(
    "--workspace",
    envvar="QUOTATREE_WORKSPACE",
    metavar="NAME",
    help="From this workspace; else the one that is remembered, or the only one.",
)
@click.option("--role", type=click.Choice(ROLES), help="Only this role; without it, all.")
@changes_option
@remote_options
def member(user: str, workspace: str | None, role: str | None, manner: Manner, remote: Remote) -> None:
    """Take USER out of a workspace, or one role from them. What they submitted stays, and so does
    the last owner.
    """
    name = bare(user, "user")
    with remote.client() as client:
        where = bare(workspace or Places(client, remote.target()).workspace(), "workspace")
        step = Step(
            "user",
            name,
            f"is no longer {role or 'a member'} of workspace/{where}",
            lambda: client.workspaces.remove_member(where, name, role),
            check=lambda: client.workspaces.get(where),
        )
        make(client, [step], manner)


@delete.command()
@names_argument
@changes_option
@remote_options
def user(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Shut users out for good: no login, no role, no office. The account itself stays, disabled:
    history names it.

    So no other person can take the name, and with it the jobs, of a user who is gone. `user enable`
    lets them in again, without roles.
    """
    users = [bare(name, "user") for name in names]
    with remote.client() as client:
        for name in users:
            client.users.get(name)
            _check_not_last_owner(client, name)
        if not (manner.dry_run or manner.yes):
            with manner.aside():
                _ask_about_jobs(client, users)

        def shut_out(name: str) -> None:
            client.users.update(name, {"disabled": True})
            _take_roles(client, name)

        steps = [
            Step("user", name, "is out: disabled, without roles", partial(shut_out, name)) for name in users
        ]
        make(client, steps, manner)


def _ask_about_jobs(client: Client, users: list[str]) -> None:
    for name in users:
        jobs = list(client.jobs.list(owner=[name], active=True))
        if jobs:
            click.echo(
                f"{len(jobs)} job(s) of {name} are not over, and go on; `quotatree get jobs --owner {name}`"
            )
            ask(f"Shut {name} out?")


def _check_not_last_owner(client: Client, user: str) -> None:
    for one in client.workspaces.list():
        owners = {member["user"] for member in one["members"] if member["role"] == "owner"}
        if owners == {user}:
            fail(
                f"{user} is the only owner of workspace {one['id']}; make another one first: "
                f"quotatree create member USER --workspace {one['id']} --role owner",
                EXIT_FAILED,
            )


def _take_roles(client: Client, user: str) -> None:
    for one in client.workspaces.list():
        if any(member["user"] == user for member in one["members"]):
            client.workspaces.remove_member(one["id"], user)
    for quota in client.quotas.list():
        if user in client.quotas.admins(quota["id"]):
            client.quotas.dismiss(quota["id"], user)


@delete.command()
@names_argument
@changes_option
@remote_options
def node(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Delete nodes for good. One on which work stands is refused, and so is one that roots need for
    what they draw (Q1).
    """
    with remote.client() as client:
        make(client, _steps("node", names, client.nodes.remove, client.nodes.get), manner)


@delete.command()
@names_argument
@changes_option
@remote_options
def pool(names: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Delete pools. One with nodes, or from which a root draws, is refused (R4)."""
    with remote.client() as client:
        there = {one["name"] for one in client.pools.list()}
        make(client, _steps("pool", names, client.pools.remove, partial(check_there, "pool", there)), manner)
