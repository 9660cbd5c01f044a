"""`quotatree bind` and `unbind`: which quotas the jobs of a workspace may name (W1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from quotatree.cli.change.changing import Manner, Step, changes_option, make
from quotatree.cli.remote import Remote, bare, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client


@click.command()
@click.argument("workspace")
@click.argument("quotas", nargs=-1, required=True, metavar="QUOTA...")
@changes_option
@remote_options
def bind(workspace: str, quotas: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Let the jobs of WORKSPACE name QUOTAs. Doing it twice changes nothing."""
    with remote.client() as client:
        make(client, binding_steps(client, bare(workspace, "workspace"), quotas), manner)


def binding_steps(
    client: Client, workspace: str, quotas: tuple[str, ...], *, is_new: bool = False
) -> list[Step]:
    """Steps that bind quotas to a workspace. `is_new`: an earlier step makes one of both, so a dry
    run finds none.
    """

    def check(quota: str) -> None:
        if not is_new:
            client.quotas.get(quota)
            client.workspaces.get(workspace)

    return [
        Step(
            "quota",
            name,
            f"bound to workspace/{workspace}",
            partial(client.workspaces.bind, workspace, name),
            check=partial(check, name),
        )
        for name in (bare(one, "quota") for one in quotas)
    ]


@click.command()
@click.argument("workspace")
@click.argument("quotas", nargs=-1, required=True, metavar="QUOTA...")
@changes_option
@remote_options
def unbind(workspace: str, quotas: tuple[str, ...], manner: Manner, remote: Remote) -> None:
    """Take QUOTAs from WORKSPACE, with their scheduling centres. Refused while its jobs are active
    there (W1).
    """
    where = bare(workspace, "workspace")
    with remote.client() as client:
        steps = [
            Step(
                "quota",
                name,
                f"taken from workspace/{where}",
                partial(client.workspaces.unbind, where, name),
                check=partial(client.workspaces.centre, where, name),
            )
            for name in (bare(one, "quota") for one in quotas)
        ]
        make(client, steps, manner)
