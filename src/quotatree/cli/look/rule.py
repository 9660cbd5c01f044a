"""`quotatree rule P5` prints what a rule says, `quotatree rule` which rules there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from quotatree.cli.output import EXIT_NOT_FOUND, echo_json, echo_table, fail, output_option
from quotatree.rulebook import Rule, load, near


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    del ctx, param
    return [
        CompletionItem(number, help=found.title)
        for number, found in load().items()
        if number.startswith(incomplete.upper())
    ]


@click.command()
@click.argument("numbers", nargs=-1, metavar="[NUMBER]...", shell_complete=_complete)
@output_option
def rule(numbers: tuple[str, ...], output: str) -> None:
    """Print what rules say: quotatree rule P5. Without NUMBER, list them all.

    Refusals, reasons and the documentation cite rules by these numbers.
    """
    book = load()
    chosen = [_named(number, book) for number in numbers] or list(book.values())
    if output == "json":
        echo_json({"schema": "quotatree.rules/1", "items": [_json(one) for one in chosen]})
    elif numbers:
        _print(chosen)
    else:
        echo_table(["RULE", "TITLE"], [(one.number, _listed(one)) for one in chosen])


def _named(number: str, book: dict[str, Rule]) -> Rule:
    found = book.get(number.upper())
    if found is None:
        meant = " or ".join(f"{one.number} ({one.title})" for one in near(number, book))
        hint = f"did you mean {meant}?" if meant else "quotatree rule lists all"
        fail(f"there is no rule {number}; {hint}", EXIT_NOT_FOUND)
    return found


def _json(one: Rule) -> dict[str, Any]:
    return {"rule": one.number, "title": one.title, "planned": one.planned, "text": one.plain_text}


def _listed(one: Rule) -> str:
    return f"{one.title} (planned)" if one.planned else one.title


def _print(chosen: Sequence[Rule]) -> None:
    from quotatree.cli.terminal import console, print_page  # rich takes a while to import

    out = console()
    for place, one in enumerate(chosen):
        print_page(out, f"{one.number} {one.title}", one.plain_text, after_another=place > 0)
