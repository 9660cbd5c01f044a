"""Which kind of trace is this file, and what does it hold?

`load_trace` recognises a file by its columns and reads it, plain or packed (.gz, .xz). Each format is a module of its
own; they know the table and the collector, not each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from quotatree.sim.loaders import (
    acme,
    helios,
    morphling,
    openb,
    pai2020,
    philly,
    philly_json,
    plain,
    sacct,
    spot,
)
from quotatree.sim.loaders.collect import Format, Jobs
from quotatree.sim.loaders.plain import write_plain
from quotatree.sim.loaders.table import Table, cells_of, first_line
from quotatree.sim.mapping import Mapping
from quotatree.sim.trace import Trace, TraceError

__all__ = ["FORMATS", "load_trace", "write_plain"]

DEFAULT_GPUS_PER_NODE: Final = 8

FORMATS: Final = {
    known.name: known
    for known in (
        plain.FORMAT,
        philly.FORMAT,
        philly.CUT,
        philly_json.FORMAT,
        helios.FORMAT,
        acme.FORMAT,
        openb.FORMAT,
        pai2020.FORMAT,
        spot.FORMAT,
        morphling.FORMAT,
        sacct.FORMAT,
    )
}


def load_trace(
    path: Path,
    format: str | None = None,
    mapping: Mapping | None = None,
    gpus_per_node: int = DEFAULT_GPUS_PER_NODE,
) -> Trace:
    """Read the trace in a file. Raises TraceError, which names the file, the line, the column and the value.

    `format` is a name of FORMATS; None recognises it by the columns. `mapping` overrides where teams, priorities and
    other fields come from. A job larger than `gpus_per_node` is spread over several nodes.
    """
    if format is not None and format not in FORMATS:
        raise TraceError(str(path), 0, "", "", f"{format} is not a format; formats are {', '.join(FORMATS)}")
    chosen = FORMATS[format] if format is not None else _recognised(path)
    table = _table(path, chosen)
    table.require(chosen.required, chosen.name)
    jobs = Jobs(table, (mapping or Mapping()).over(chosen.defaults), gpus_per_node)
    chosen.read(table, jobs)
    return jobs.trace(path.name)


def _recognised(path: Path) -> Format:
    """The first format whose required columns the file has; TraceError if there is none."""
    head = first_line(path)
    if head.startswith(("[", "{")):
        return philly_json.FORMAT
    if path.name.startswith("pai_task_table"):
        return pai2020.FORMAT
    columns = cells_of(head, _delimiter(head))
    for known in FORMATS.values():
        if known is not philly_json.FORMAT and set(known.required) <= set(columns):
            return known
    names = ", ".join(columns[:12]) + (" …" if len(columns) > 12 else "") or "none"
    message = f"is none of the known formats by its columns ({names}); name one of {', '.join(FORMATS)}"
    raise TraceError(str(path), 1, "", "", message)


def _table(path: Path, chosen: Format) -> Table:
    if chosen is philly_json.FORMAT:
        return philly_json.Entries(path)
    if chosen is pai2020.FORMAT:
        return pai2020.Tasks(path)
    return Table(path, _delimiter(first_line(path)))


def _delimiter(head: str) -> str:
    return "|" if "|" in head and "," not in head else ","
