"""What others wrote is shown and obeyed by no terminal; the output of a job keeps its colours there, and is exact in a pipe."""

from __future__ import annotations

import io
import json
import sys

import click
import pytest
import yaml
from rich.text import Text

from quotatree.cli.documents import yaml_text
from quotatree.cli.output import echo_csv, echo_lines, echo_table, fail
from quotatree.cli.safe_text import (
    RESET,
    LogOutput,
    SafeStream,
    guard_output,
    no_formula,
    one_line,
    printable,
    safe_json,
)
from quotatree.cli.terminal import console


class Terminal(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]  # it is a BytesIO


def guarded_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal that all output goes to, guarded as `main` does it."""
    found = Terminal()
    monkeypatch.setattr(sys, "stdout", found)
    monkeypatch.setattr(sys, "stderr", found)
    guard_output()
    return found


def test_what_steers_a_terminal_is_shown_and_letters_stay():
    said = "\x1b]0;t\x07\x9b2J\x7f\r\u202e\u2066\u200f\u061c\u2028\ud800"
    assert printable(said) == r"\x1b]0;t\x07\x9b2J\x7f\r\u202e\u2066\u200f\u061c\u2028\ud800"
    letters = "naïve 日本 שלום \U0001f468\u200d\U0001f469 می\u200cخواهم\n\t"
    assert printable(letters) == letters
    assert one_line("a\nb\tc") == r"a\nb\tc"


def test_json_keeps_its_meaning():
    value = {"a\x9b": "\u202e\x1b\x7f\n", "b": "日"}
    text = safe_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert printable(text) == text


@pytest.mark.parametrize("said", ["a\u202eb", "\u200f", "\u2066a\n\u2028", "\x1b[2J", "a\x9b"])
def test_yaml_keeps_its_meaning(said: str):
    text = yaml_text({"a": said, said: "日"})
    assert yaml.safe_load(printable(text)) == {"a": said, said: "日"}


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("+a", "'+a"),
        ("-a", "'-a"),
        ("\n=1", "'\n=1"),
        ("\uff1d1", "'\uff1d1"),
        ("-1.5", "-1.5"),
        ("-", "-"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_cell_of_a_csv_file_is_no_formula(cell: str, wanted: str):
    assert no_formula(cell) == wanted


def test_a_terminal_gets_our_colours_and_no_sequence_of_others(monkeypatch: pytest.MonkeyPatch):
    terminal = guarded_terminal(monkeypatch)
    echo_table(("NAME", "PHASE"), [("a\x1b[31mb\nc", "Running")])
    echo_lines(["d\x1b[8me\nf"])
    click.echo("g\x1b[8mh\x1b[2Ji\x07")
    echo_csv(["n"], [["=j\x1b[2J"]])
    with pytest.raises(SystemExit):
        fail("k\x1b]0;t\x07", 1)
    assert "\x1b[32mRunning\x1b[0m" in terminal.shown
    rest = terminal.shown.replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert printable(rest) == rest
    assert r"a\x1b[31mb\nc" in rest
    assert r"d\x1b[8me\nf" in rest
    assert r"'=j\x1b[2J" in rest


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_lacks_characters_is_guarded_like_any_other(
    monkeypatch: pytest.MonkeyPatch, encoding: str
):
    terminal = Terminal()
    terminal.reconfigure(encoding=encoding, errors="replace")
    monkeypatch.setattr(sys, "stdout", terminal)
    guard_output()
    click.echo("a\x1b[2Jb")
    click.secho("c\x1b]0;t\x07", fg="red")
    assert (
        printable(terminal.shown.replace("\x1b[31m", "").replace(RESET, ""))
        == "a\\x1b[2Jb\nc\\x1b]0;t\\x07\n"
    )


def test_rich_output_has_no_sequence_of_others(monkeypatch: pytest.MonkeyPatch):
    terminal = guarded_terminal(monkeypatch)
    out = console()
    out.print(Text("a\x1b[2Jb\x9b", style="bold"))
    assert r"a\x1b[2Jb\x9b" in terminal.shown


def test_a_pipe_gets_no_sequence_at_all():
    beneath = io.StringIO()
    SafeStream(beneath).write("\x1b[32mok\x1b[0m\n")
    assert beneath.getvalue() == "\\x1b[32mok\\x1b[0m\n"


def test_output_of_a_job_is_exact_in_a_pipe():
    pipe = io.TextIOWrapper(io.BytesIO())
    to = LogOutput(pipe)
    for piece in (b"\x1b]0;t\x07\xff", b"\r\n\x00\x1b["):
        to.write(piece)
    to.end()
    assert pipe.buffer.getvalue() == b"\x1b]0;t\x07\xff\r\n\x00\x1b["


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_terminal_gets_the_colours_of_a_job_and_nothing_else_that_steers_it(size: int):
    said = "a\x1b[1;31mred\x1b[0m 50%\r100%\n\x1b[2K\x1b[1A\x1b[?25lb\x1b]0;title\x07\x1b]52;c;eA==\x07\x9b5m\x1bcé\u202e"
    terminal = Terminal()
    to = LogOutput(terminal)
    data = said.encode()
    for start in range(0, len(data), size):
        to.write(data[start : start + size])
    to.end()
    wanted = (
        "a\x1b[1;31mred\x1b[0m 50%\r100%\nb\\x1b]0;title\\x07\\x1b]52;c;eA==\\x07\\x9b5m\\x1bcé\\u202e"
        + RESET
    )
    assert terminal.shown == wanted


def test_what_ends_within_a_sequence_is_shown_in_the_end():
    terminal = Terminal()
    to = LogOutput(terminal)
    to.write(b"a\x1b[12")
    assert terminal.shown == "a"
    to.end()
    assert terminal.shown == "a\\x1b[12"
