"""Tables in terminals that are narrow, and in real ones."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from quotatree.cli import main
from quotatree.cli.cells import width
from quotatree.cli.look.noun import Noun
from quotatree.cli.look.nouns import NOUNS, WORDS
from quotatree.cli.table_layout import fitted_lines, table_lines, widths_of, without_spare
from tests.cli.process import COMMAND

HEADER = ("ID", "NAME", "OWNER", "WHY")
ROWS = [
    (
        "dlc-36vtzztbs9",
        "train-the-large-model-again",
        "ann",
        "vision was scaled below its use in mode reclaim",
    ),
    ("dlc-8k2m0qz4xa", "训练大型模型训练大型模型", "王小明", "fits"),
]


def test_columns_of_wide_characters_are_aligned() -> None:
    rows = [HEADER, *ROWS]
    lines = table_lines(rows, widths_of(rows))
    begins = {width(line[: line.index(row[-1])]) for line, row in zip(lines, rows, strict=True)}
    assert len(begins) == 1


def test_in_a_narrow_terminal_names_are_cut_sentences_wrapped_and_ids_whole() -> None:
    found = fitted_lines(HEADER, ROWS, 60)
    lines = [line for group in found for line in group]
    assert max(width(line) for line in lines) <= 60
    assert all(row[0] in group[0] for row, group in zip(ROWS, found[1:], strict=True))
    assert "…" in found[1][0]
    told = " ".join(line.split("  ")[-1].strip() for line in found[1])
    assert told == ROWS[0][-1]


def test_what_does_not_fit_at_all_loses_the_columns_that_it_can_do_without() -> None:
    """The list of jobs in 80 columns: as few are left out as must be, and every line fits."""
    jobs = WORDS["job"]
    header = jobs.header(False)
    row = [
        "dlc-36vtzztbs9",
        "train",
        "vision",
        "ann",
        "DLC",
        "1",
        "8",
        "0/1",
        "Waiting",
        "12",
        "",
        "10m20s",
        "OwnQuotaFull",
    ]
    assert len(row) == len(header)
    less, rows, left_out = without_spare(header, [row], 80, jobs.spare)
    assert left_out == list(jobs.spare[: len(left_out)])
    assert 0 < len(left_out) < len(jobs.spare)
    lines = [click.unstyle(line) for group in fitted_lines(less, rows, 80) for line in group]
    assert max(map(width, lines)) <= 80
    assert without_spare(header, [row], 200, jobs.spare) == (header, [row], [])


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.word)
def test_only_columns_that_there_are_can_be_left_out_and_never_the_first_or_the_last(noun: Noun) -> None:
    assert set(noun.spare) <= set(noun.header(False)[1:-1])


def test_where_there_is_room_nothing_is_cut() -> None:
    rows = [HEADER, *ROWS]
    assert [line for group in fitted_lines(HEADER, ROWS, 200) for line in group] == table_lines(
        rows, widths_of(rows)
    )


def test_a_real_terminal_gets_what_fits_and_a_pipe_gets_everything(tmp_path: Path) -> None:
    whole = CliRunner().invoke(main, ["rule"]).stdout.splitlines()
    assert max(map(width, whole)) > 40
    shown = _in_terminal(40, "rule")
    assert max(map(width, shown)) <= 40
    assert shown[0].split()[0] == whole[0].split()[0]


def _in_terminal(columns: int, *words: str) -> list[str]:
    """What the command prints in a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen([*COMMAND, *words], stdout=theirs, env={**env, "NO_COLOR": "1"})
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # a terminal whose other side is closed
        pass
    finally:
        os.close(ours)
        process.wait(timeout=30)
    return said.decode().replace("\r\n", "\n").splitlines()
