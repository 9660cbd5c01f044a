"""Where do results go, and may they? Asked before a replay, which can take long; answered with files after it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from quotatree.cli.try_out.scenario_files import EXIT_BAD_INPUT, fail
from quotatree.sim.export import write_result
from quotatree.sim.result import SimResult

REPORT: Final = "report.html"
COMPARED_INTO: Final = Path("quotatree-report")
"""Where a comparison is written if no option says where."""
NEEDS_MATPLOTLIB: Final = "the report needs matplotlib: pip install 'quotatree[report]'"
MARK: Final = b'<meta name="generator" content="quotatree simulate">'
"""Text by which a file is recognised as a report of ours."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where to write: `folder` for JSON and CSV, `report` for the page; None if not wanted."""

    folder: Path | None
    report: Path | None


def destination(out: Path | None, report: Path | None, compare: bool, printed: str) -> Destination:
    """Where the options ask to write. Ends the command if that is not possible.

    A comparison is written to files in any case, unless it is printed as JSON, which is enough for a pipe.
    """
    if out is None and report is None and compare and printed == "text":
        out = COMPARED_INTO
    page = report or (None if out is None else out / REPORT)
    if page is not None and find_spec("matplotlib") is None:
        if report is not None:
            fail(NEEDS_MATPLOTLIB, EXIT_BAD_INPUT)
        click.echo(f"quotatree: no {page}: {NEEDS_MATPLOTLIB}", err=True)
        page = None
    if page is not None:
        _refuse_foreign(page)
    return Destination(out, page)


def write_files(results: Sequence[SimResult], to: Destination, each_its_own: bool, command: str) -> None:
    try:
        if to.folder is not None:
            for result in results:
                for path in write_result(result, to.folder / result.name if each_its_own else to.folder):
                    _wrote(path)
        if to.report is not None:
            # half a second to import: only when a report is wanted
            from quotatree.sim.report.page import report_html

            to.report.parent.mkdir(parents=True, exist_ok=True)
            to.report.write_text(report_html(results, command), encoding="utf-8")
            _wrote(to.report)
    except OSError as why:
        fail(f"{why.filename or to.folder or to.report}: cannot be written: {why.strerror}", EXIT_BAD_INPUT)


def command_line(files: Sequence[Path], compare: bool, baseline: str | None) -> str:
    """The command that gives the same results, without options that only say where they are written."""
    words = ["quotatree", "simulate", *(["--compare"] if compare else []), *map(str, files)]
    return shlex.join([*words, *(["--baseline", baseline] if baseline is not None else [])])


def _refuse_foreign(page: Path) -> None:
    """End the command if the page exists and is no report of ours: a report may replace a report, and nothing else."""
    if not os.path.exists(page):
        return
    try:
        with page.open("rb") as file:
            ours = MARK in file.read(1024)
    except OSError as why:
        fail(f"{page}: cannot be written: {why.strerror}", EXIT_BAD_INPUT)
    if not ours:
        fail(
            f"{page}: is there already and is not a report of quotatree; --report names another",
            EXIT_BAD_INPUT,
        )


def _wrote(path: Path) -> None:
    click.echo(f"wrote {path}", err=True)
