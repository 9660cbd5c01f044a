"""Commands that change what is allowed to run: --dry-run shows what would follow, without -y they ask whoever would lose by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from quotatree.cli.decided import agreed, echo_preview

if TYPE_CHECKING:
    from quotatree.client import Client

F = TypeVar("F", bound=Callable[..., Any])


def changes_option(function: F) -> F:
    """Add --dry-run and -y to a command."""
    function = click.option("-y", "--yes", is_flag=True, help="Do not ask.")(function)
    return click.option("--dry-run", is_flag=True, help="Show what would be decided, and change nothing.")(
        function
    )


def make(
    client: Client,
    changes: Sequence[Any],
    do: Callable[[], object],
    *,
    dry_run: bool,
    yes: bool,
    of: str | None = None,
) -> None:
    """Preview the changes and stop there (`dry_run`); or show what jobs would lose, ask, and `do` them.

    `of`: the job that is changed; what it loses itself is what was asked for.
    """
    if dry_run and not changes:
        click.echo("nothing would be decided now; nothing has been changed")
        return
    if dry_run:
        seen = client.preview(changes)
        click.echo("this would be decided now; nothing has been changed:")
        echo_preview(seen)
        return
    agreed(client, changes, yes, of)
    do()
