"""`quotatree check FILES...`: do the scenarios go as they say?"""

from __future__ import annotations

from pathlib import Path

import click

from quotatree.cli.files import EXIT_BAD_INPUT, EXIT_FAILED, echo_json, output_option
from quotatree.core.errors import QuotaTreeError
from quotatree.scenario.check import Verdict, check_scenario
from quotatree.scenario.load import load_scenario


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_option
def check(files: tuple[Path, ...], output: str) -> None:
    """Run the expectations of FILES; one line for each file, and every expectation that failed."""
    verdicts: list[tuple[Path, Verdict | None, str]] = []
    for file in files:
        try:
            verdicts.append((file, check_scenario(load_scenario(file)), ""))
        except QuotaTreeError as why:
            verdicts.append((file, None, str(why)))
    if output == "json":
        echo_json({"schema": "quotatree.check/1", "scenarios": [_json(*verdict) for verdict in verdicts]})
    else:
        _print(verdicts)
    if any(verdict is None for _, verdict, _ in verdicts):
        raise SystemExit(EXIT_BAD_INPUT)
    if any(verdict is not None and not verdict.good for _, verdict, _ in verdicts):
        raise SystemExit(EXIT_FAILED)


def _print(verdicts: list[tuple[Path, Verdict | None, str]]) -> None:
    width = max(len(file.name) for file, _, _ in verdicts)
    for file, verdict, error in verdicts:
        if verdict is None:
            click.echo(f"{click.style('bad   ', fg='red')} {file.name.ljust(width)}  {error}")
            continue
        word = click.style("ok    ", fg="green") if verdict.good else click.style("FAILED", fg="red")
        click.echo(f"{word} {file.name.ljust(width)}  {verdict.checks:>3} checks  {verdict.scenario.title}")
        for fault in verdict.faults:
            click.echo(f"       {fault}")
    good = sum(1 for _, verdict, _ in verdicts if verdict is not None and verdict.good)
    checks = sum(verdict.checks for _, verdict, _ in verdicts if verdict is not None)
    click.echo(f"{good} of {len(verdicts)} scenarios as told, {checks} checks")


def _json(file: Path, verdict: Verdict | None, error: str) -> dict[str, object]:
    if verdict is None:
        return {"file": str(file), "good": False, "error": error}
    return {
        "file": str(file),
        "title": verdict.scenario.title,
        "good": verdict.good,
        "checks": verdict.checks,
        "faults": list(verdict.faults),
    }
