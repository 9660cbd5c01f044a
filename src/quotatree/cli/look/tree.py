"""`quotatree tree` draws the quotas of a server, `quotatree tree FILE` those of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.bars import Figures
from quotatree.cli.output import EXIT_BAD_INPUT, at_option, echo_json, fail, output_option
from quotatree.cli.remote import Remote, remote_options

if TYPE_CHECKING:
    from quotatree.client import types as t


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@at_option("With FILE: look at this time; without it, at the last time the file mentions.")
@output_option
@remote_options
def tree(file: Path | None, at_ms: int | None, output: str, remote: Remote) -> None:
    """Draw the quotas: what each may use, uses, lends, borrows and is short of (Q7).

    With FILE, a scenario is played and its tree is drawn; otherwise the server's.
    """
    if file is not None:
        from quotatree.cli.try_out.tree_file import tree_file

        tree_file(file, at_ms, output)
        return
    if at_ms is not None:
        fail("--at: only with FILE", EXIT_BAD_INPUT)
    with remote.client() as client:
        quotas = client.quotas.list()
    if output == "json":
        echo_json({"items": list(quotas)})
        return
    if not quotas:
        click.echo("no quota found", err=True)
        return
    from quotatree.cli.terminal import console, print_legend, print_tree  # rich takes a while to import

    out = console()
    print_tree(out, figures(quotas))
    print_legend(out)


def figures(quotas: Sequence[t.QuotaOut]) -> list[Figures]:
    return [
        Figures(
            id=quota["id"],
            parent=quota["parent"],
            desired=_milli(quota["usage"]["desired"]),
            actual=_milli(quota["usage"]["actual"]),
            used_own=_milli(quota["usage"]["used_own"]),
            used_below=_milli(quota["usage"]["used_below"]),
            loan=_milli(quota["usage"]["loan"]),
            squeezed=_milli(quota["usage"]["squeezed"]),
            shortfall=_milli(quota["usage"]["shortfall"]),
            idle_borrowed=_milli(quota["usage"]["idle_borrowed"]),
            queued=_milli(quota["usage"]["queued"]),
        )
        for quota in quotas
    ]


def _milli(amount: Mapping[str, Any]) -> int:
    return round(float(amount.get("gpus", 0)) * 1000)
