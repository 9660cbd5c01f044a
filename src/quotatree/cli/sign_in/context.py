"""`quotatree context`: the logins that are remembered, which of them is used, and where each sends
jobs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import click

from quotatree.cli import contexts
from quotatree.cli.contexts import Contexts
from quotatree.cli.output import (
    EXIT_BAD_INPUT,
    EXIT_NOT_FOUND,
    echo_json,
    echo_table,
    fail,
    output_option,
)


@click.group()
def context() -> None:
    """List, switch, set and remove contexts: what `login` remembers, by name.

    A context remembers a server, a login there, and the workspace and quota of your jobs.
    """


@context.command("list")
@output_option
def list_contexts(output: str) -> None:
    """List the contexts; the one that is used is marked with *."""
    known = _known()
    if output == "json":
        items = [
            {
                "name": name,
                "url": one.url,
                "user": one.user,
                "current": name == known.current,
                "workspace": one.workspace,
                "quota": one.quota,
            }
            for name, one in sorted(known.known.items())
        ]
        echo_json({"items": items})
    elif known.known:
        rows = [
            (
                name,
                "*" if name == known.current else "",
                one.user or "-",
                one.workspace or "-",
                one.quota or "-",
                one.url,
            )
            for name, one in sorted(known.known.items())
        ]
        echo_table(("NAME", "USED", "USER", "WORKSPACE", "QUOTA", "SERVER"), rows)
    else:
        click.echo("no context: quotatree login URL makes one", err=True)


@context.command()
@click.argument("name")
def use(name: str) -> None:
    """Use the server of context NAME from now on, unless an option or a variable names another."""
    known = _known()
    if name not in known.known:
        _missing(name, known)
    contexts.save(Contexts(name, known.known))
    click.echo(f"{name}: {known.known[name].url} as {known.known[name].user or 'the user of its token'}")


@context.command("set")
@click.argument("name", required=False)
@click.option("--workspace", metavar="NAME", help="Submit jobs in this workspace; '' for none.")
@click.option("--quota", metavar="NAME", help="Submit jobs to this quota; '' for none.")
def set_context(name: str | None, workspace: str | None, quota: str | None) -> None:
    """Remember a workspace and a quota for your jobs, in context NAME, or in the one that is used."""
    if workspace is None and quota is None:
        fail("--workspace or --quota is missing", EXIT_BAD_INPUT)
    known = _known()
    name = name or known.current
    if name not in known.known:
        _missing(name, known)
    said = {"workspace": workspace, "quota": quota}
    to = replace(known.known[name], **{key: text for key, text in said.items() if text is not None})
    contexts.save(Contexts(known.current, {**known.known, name: to}))
    click.echo(f"{name}: workspace {to.workspace or '-'}, quota {to.quota or '-'}")


@context.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def remove(names: tuple[str, ...]) -> None:
    """Forget contexts, as `logout` does: tokens that `login` made are revoked."""
    from quotatree.cli.sign_in.login import forget

    known = _known()
    for name in names:
        if name not in known.known:
            _missing(name, known)
    for name in names:
        forget(name)
    left = sorted(set(known.known) - set(names))
    if known.current in names and left:
        click.echo(f"no context is used now: quotatree context use {left[0]}", err=True)


def _known() -> Contexts:
    try:
        return contexts.load()
    except contexts.BadContext as error:
        fail(str(error), EXIT_BAD_INPUT)


def _missing(name: str, known: Contexts) -> NoReturn:
    there = ", ".join(sorted(known.known)) or "none; quotatree login URL makes one"
    fail(f"no context {name}; there are: {there}", EXIT_NOT_FOUND)
