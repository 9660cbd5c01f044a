"""Coloured text where there is a terminal, plain text where there is none. The only module that
imports rich.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text

from quotatree.cli.bars import BAR_WIDTH, LEGEND, Figures, tree_lines
from quotatree.cli.cells import padded, width
from quotatree.cli.safe_text import one_line, printable, unguarded

PIPED_WIDTH: Final = 120
SHORTEST_BAR: Final = 12
BAR_STYLES: Final = {"█": "green", "▓": "cyan", "+": "magenta", "x": "yellow", "·": "dim"}


def console() -> Console:
    """A console on the present stdout. A pipe gets a fixed width, so that output does not depend on
    the caller's terminal.
    """
    piped = not sys.stdout.isatty()
    width = PIPED_WIDTH if piped else None
    return SafeConsole(file=unguarded(sys.stdout), highlight=False, soft_wrap=piped, width=width)


class SafeConsole(Console):
    """Writes its own control sequences to the terminal, and no one else's: texts are made
    printable.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def print_tree(out: Console, quotas: Sequence[Figures], title: str | None = None) -> None:
    lines = tree_lines(quotas)
    labels = max(width(one_line(line.label)) for line in lines)
    bars = max(len(line.bar) for line in lines)
    room = out.width - labels - max(len(line.figures) for line in lines) - 4
    if out.is_terminal and bars > room:  # the bars give way, so that no line is broken
        lines = tree_lines(quotas, max(SHORTEST_BAR, BAR_WIDTH * room // bars))
    bars = max(len(line.bar) for line in lines)
    if title is not None:
        out.print(Text(title, style="bold"))
    for line in lines:
        row = Text(padded(one_line(line.label), labels) + "  ")
        for mark in line.bar:
            row.append(mark, style=BAR_STYLES[mark])
        row.append(" " * (bars - len(line.bar)) + "  " + line.figures)
        out.print(row)


def print_legend(out: Console) -> None:
    legend = Text()
    for mark, meaning in LEGEND:
        legend.append(mark, style=BAR_STYLES[mark]).append(f" {meaning}   ", style="dim")
    out.print(legend)


def print_page(out: Console, title: str, markdown: str, *, after_another: bool = False) -> None:
    """Print a title and a text in Markdown: laid out in a terminal, unchanged in a pipe."""
    if after_another:
        out.print()
    out.print(Text(title, style="bold"))
    out.print()
    out.print(Markdown(markdown) if out.is_terminal else Text(markdown))
