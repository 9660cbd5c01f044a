"""Tables in terminals that are narrow, and in real ones."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

from click.testing import CliRunner

from quotatree.cli import main
from quotatree.cli.cells import width
from quotatree.cli.table_layout import fitted_lines, table_lines, widths_of
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
