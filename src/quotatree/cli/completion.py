"""`quotatree completion SHELL`"""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL: bash, zsh or fish. For bash: eval "$(quotatree completion bash)"."""
    from click.shell_completion import get_completion_class

    from quotatree.cli import main

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "quotatree", "_QUOTATREE_COMPLETE").source())
