"""`quotatree bind` and `unbind`: which quotas the jobs of a workspace may name (W1)."""

from __future__ import annotations

import click

from quotatree.cli.remote import Remote, bare, remote_options


@click.command()
@click.argument("workspace")
@click.argument("quotas", nargs=-1, required=True, metavar="QUOTA...")
@remote_options
def bind(workspace: str, quotas: tuple[str, ...], remote: Remote) -> None:
    """Let the jobs of WORKSPACE name QUOTAs. Doing it twice changes nothing."""
    where = bare(workspace, "workspace")
    with remote.client() as client:
        for name in (bare(one, "quota") for one in quotas):
            client.workspaces.bind(where, name)
            click.echo(f"quota/{name} bound to workspace/{where}")


@click.command()
@click.argument("workspace")
@click.argument("quotas", nargs=-1, required=True, metavar="QUOTA...")
@remote_options
def unbind(workspace: str, quotas: tuple[str, ...], remote: Remote) -> None:
    """Take QUOTAs from WORKSPACE, with their scheduling centres. Refused while its jobs are active there (W1)."""
    where = bare(workspace, "workspace")
    with remote.client() as client:
        for name in (bare(one, "quota") for one in quotas):
            client.workspaces.unbind(where, name)
            click.echo(f"quota/{name} taken from workspace/{where}")
