"""`quotatree delete NOUN NAME...`: what is in use is refused, with what is in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quotatree.cli.change.create import ROLES
from quotatree.cli.decided import ask, echo_preview
from quotatree.cli.output import EXIT_FAILED, fail
from quotatree.cli.remote import Remote, bare, remote_options
from quotatree.cli.sign_in.people import delete_token
from quotatree.cli.sign_in.webhook import delete_webhook

if TYPE_CHECKING:
    from quotatree.client import Client

names_argument = click.argument("names", nargs=-1, required=True, metavar="NAME...")


@click.group()
def delete() -> None:
    """Delete quotas, workspaces, members, users, tokens, pools, nodes or webhooks. Jobs are ended by `cancel`."""


delete.add_command(delete_token, "token")
delete.add_command(delete_webhook, "webhook")


@delete.command()
@names_argument
@click.option("--dry-run", is_flag=True, help="Say whether it could be deleted, and change nothing.")
@remote_options
def quota(names: tuple[str, ...], dry_run: bool, remote: Remote) -> None:
    """Delete quotas. One with jobs, children or workspaces is refused, and what is in the way is named (Q6)."""
    quotas = [bare(name, "quota") for name in names]
    with remote.client() as client:
        if dry_run:
            seen = client.preview([{"change": "delete-quota", "quota": name} for name in quotas])
            click.echo(
                f"{', '.join(quotas)} could be deleted; nothing has been changed. This would be decided then:"
            )
            echo_preview(seen)
            return
        for name in quotas:
            client.quotas.delete(name)
            click.echo(f"quota/{name} deleted")


@delete.command()
@names_argument
@remote_options
def workspace(names: tuple[str, ...], remote: Remote) -> None:
    """Delete workspaces, with their members, bindings and webhooks. One with active jobs is refused (W1)."""
    with remote.client() as client:
        for name in (bare(one, "workspace") for one in names):
            client.workspaces.delete(name)
            click.echo(f"workspace/{name} deleted")


@delete.command()
@click.argument("user")
@click.option("--workspace", required=True, metavar="NAME", help="From this workspace.")
@click.option("--role", type=click.Choice(ROLES), help="Only this role; without it, all.")
@remote_options
def member(user: str, workspace: str, role: str | None, remote: Remote) -> None:
    """Take USER out of a workspace, or one role from them. What they submitted stays, and so does the last owner."""
    name, where = bare(user, "user"), bare(workspace, "workspace")
    with remote.client() as client:
        client.workspaces.remove_member(where, name, role)
    click.echo(f"user/{name} is no longer {role or 'a member'} of workspace/{where}")


@delete.command()
@names_argument
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@remote_options
def user(names: tuple[str, ...], yes: bool, remote: Remote) -> None:
    """Shut users out for good: no login, no role, no office. The account itself stays, disabled: history names it.

    So nobody can take the name, and with it the jobs, of somebody who has gone. `user enable` lets them in again, without roles.
    """
    users = [bare(name, "user") for name in names]
    with remote.client() as client:
        for name in users:
            client.users.get(name)
            _check_not_last_owner(client, name)
        for name in users:
            jobs = list(client.jobs.list(owner=[name], active=True))
            if jobs and not yes:
                click.echo(
                    f"{len(jobs)} job(s) of {name} are not over, and go on; `quotatree get jobs --owner {name}`"
                )
                ask(f"Shut {name} out?")
            client.users.update(name, {"disabled": True})
            _take_roles(client, name)
            click.echo(f"user/{name} is out: disabled, without roles")


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
@remote_options
def node(names: tuple[str, ...], remote: Remote) -> None:
    """Take nodes out for good. One on which work stands is refused, and so is one that roots need for what they draw (Q1)."""
    with remote.client() as client:
        for name in (bare(one, "node") for one in names):
            client.nodes.remove(name)
            click.echo(f"node/{name} deleted")


@delete.command()
@names_argument
@remote_options
def pool(names: tuple[str, ...], remote: Remote) -> None:
    """Delete pools. One with nodes, or from which a root draws, is refused (R4)."""
    with remote.client() as client:
        for name in (bare(one, "pool") for one in names):
            client.pools.remove(name)
            click.echo(f"pool/{name} deleted")
