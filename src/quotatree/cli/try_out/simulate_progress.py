"""How far is it, how fast, and how long still? A bar on stderr where there is a terminal, nothing
in a pipe.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from quotatree.cli.safe_text import unguarded
from quotatree.sim.replay import OnProgress, Progress


@contextmanager
def progress_bar(total: int) -> Iterator[OnProgress | None]:
    if not sys.stderr.isatty():
        yield None
        return
    # rich takes a tenth of a second to import: only when it is shown
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("day {task.fields[day]:.1f}"),
        BarColumn(),
        TextColumn("{task.fields[ended]}/{task.fields[total_jobs]} jobs"),
        TextColumn("{task.fields[rate]:.0f} jobs/s"),
        TextColumn("{task.fields[left]}"),
    )
    with RichProgress(*columns, console=Console(file=unguarded(sys.stderr)), transient=True) as bar:
        task = bar.add_task("", total=2 * total, day=0.0, ended=0, total_jobs=total, rate=0.0, left="")

        def show(progress: Progress) -> None:
            left = progress.seconds_left
            bar.update(
                task,
                completed=progress.submitted + progress.ended,
                day=progress.now_ms / 86_400_000,
                ended=progress.ended,
                rate=progress.jobs_per_second,
                left="" if left is None else f"{left:.0f} s left",
            )

        yield show
