"""`quotatree completion SHELL`: the script. Which names it offers, `completion_names` says."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL: bash, zsh or fish. For bash: eval "$(quotatree
    completion bash)".

    It completes commands, options, and names of jobs, quotas, workspaces, nodes, pools, users and
    contexts, which it asks the server for.
    """
    from click.shell_completion import get_completion_class

    from quotatree.cli import COMPLETING, main

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "quotatree", COMPLETING).source())
