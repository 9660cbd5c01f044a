"""`quotatree check FILES...`: do the scenarios go as they say?"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path

import click

from quotatree.cli.try_out.scenario_files import EXIT_BAD_INPUT, EXIT_FAILED, echo_json, output_option
from quotatree.core import Defect, QuotaTreeError
from quotatree.scenario.check import Verdict, check_scenario
from quotatree.scenario.load import load_scenario


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of one file: a verdict, or why its input is bad, or how the program crashed on
    it.
    """

    file: Path
    verdict: Verdict | None = None
    error: str = ""
    crash: str = ""
    trace: str = ""

    @property
    def good(self) -> bool:
        return self.verdict is not None and self.verdict.good


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--traceback", "whole_trace", is_flag=True, help="Print the whole traceback of a crash.")
@output_option
def check(files: tuple[Path, ...], whole_trace: bool, output: str) -> None:
    """Run the expectations of FILES; one line for each file, and every expectation that failed."""
    found = [_checked(file) for file in files]
    if output == "json":
        scenarios = [_json(checked, whole_trace) for checked in found]
        echo_json({"schema": "quotatree.check/1", "scenarios": scenarios})
    else:
        _print(found, whole_trace)
    if any(checked.error for checked in found):
        raise SystemExit(EXIT_BAD_INPUT)
    if not all(checked.good for checked in found):
        raise SystemExit(EXIT_FAILED)


def _checked(file: Path) -> Checked:
    """Check one file. A crash, which is our bug and not bad input, is returned too, so that others
    are still checked.
    """
    try:
        return Checked(file, check_scenario(load_scenario(file)))
    except Exception as why:
        if isinstance(why, QuotaTreeError) and not isinstance(why, Defect):
            return Checked(file, error=str(why))
        last_line = " ".join(traceback.format_exception_only(why)[-1].split())
        return Checked(file, crash=last_line, trace="".join(traceback.format_exception(why)))


def _print(found: list[Checked], whole_trace: bool) -> None:
    width = max(len(checked.file.name) for checked in found)
    for checked in found:
        name, verdict = checked.file.name.ljust(width), checked.verdict
        if verdict is None:
            word, why = (
                ("bad   ", checked.error) if checked.error else ("FAILED", f"crashed: {checked.crash}")
            )
            click.echo(f"{click.style(word, fg='red')} {name}  {why}")
            if whole_trace and checked.trace:
                click.echo(checked.trace)
            continue
        word = click.style("ok    ", fg="green") if verdict.good else click.style("FAILED", fg="red")
        click.echo(f"{word} {name}  {verdict.checks:>3} checks  {verdict.scenario.title}")
        for fault in verdict.faults:
            click.echo(f"       {fault}")
    good = sum(1 for checked in found if checked.good)
    checks = sum(checked.verdict.checks for checked in found if checked.verdict is not None)
    click.echo(f"{good} of {len(found)} scenarios as told, {checks} checks")


def _json(checked: Checked, whole_trace: bool) -> dict[str, object]:
    verdict = checked.verdict
    if verdict is not None:
        return {
            "file": str(checked.file),
            "title": verdict.scenario.title,
            "good": verdict.good,
            "checks": verdict.checks,
            "faults": list(verdict.faults),
        }
    if checked.error:
        return {"file": str(checked.file), "good": False, "error": checked.error}
    told: dict[str, object] = {"file": str(checked.file), "good": False, "crash": checked.crash}
    if whole_trace:
        told["traceback"] = checked.trace
    return told
