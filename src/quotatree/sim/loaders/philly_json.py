"""How is the original Philly trace, `cluster_job_log`, read?

Known from the public documentation of msr-fiddle/philly-traces: a JSON list of jobs, each with `jobid`, `vc`, `user`,
`status`, `submitted_time` and `attempts`; an attempt has `start_time`, `end_time` and `detail`, a list of machines
with the GPUs used on each. A job may have no attempt, and an attempt may lack a time.

The GPUs of a job are those of its first attempt. It runs as long as its finished attempts did together: what a retry
cost on Philly it costs here. Entries are decoded one at a time, so that an error can name the line an entry begins on;
the column is then the path of the key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quotatree.sim.loaders.collect import Format, Jobs, spread
from quotatree.sim.loaders.table import MISSING, Row, Table, unix_ms, whole_text
from quotatree.sim.mapping import Mapping, column
from quotatree.sim.trace import TraceError

_COLUMNS = ("jobid", "vc", "user", "status", "submitted_time")


class Entries(Table):
    """The job log as a table: one column for each plain key of an entry."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, columns=_COLUMNS)


def _read(table: Table, jobs: Jobs) -> None:
    for line, entry in _entries(table.path):
        row = Row(table, line, [_text(entry.get(name)) for name in _COLUMNS])
        attempts = entry.get("attempts")
        if not isinstance(attempts, list) or not all(isinstance(attempt, dict) for attempt in attempts):
            raise TraceError(table.file, line, "attempts", _text(attempts), "must be a list of attempts")
        spans_ms = [_span_ms(row, at, attempt) for at, attempt in enumerate(attempts)]
        run_ms = sum(span_ms for span_ms in spans_ms if span_ms is not None)
        gpus = _gpus(row, attempts[0]) if attempts else 0
        if not attempts:
            jobs.skip("never ran")
        elif all(span_ms is None for span_ms in spans_ms):
            jobs.skip("no attempt with a start and an end")
        elif not gpus:
            jobs.skip("no GPUs recorded")
        elif row.missing("submitted_time"):
            jobs.skip("no submit time")
        else:
            submit_ms = row.moment_ms("submitted_time")
            jobs.add(row, row.name("jobid"), submit_ms, run_ms, spread(gpus, jobs.gpus_per_node))


def _entries(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield each job of the list together with the line it begins on."""
    text = whole_text(path)
    decoder, at, line, counted = json.JSONDecoder(), _past_blanks(text, 0), 1, 0
    if text[at : at + 1] != "[":
        raise TraceError(str(path), 1, "", "", "must be a JSON list of jobs")
    at = _past_blanks(text, at + 1)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        try:
            entry, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise TraceError(str(path), error.lineno, "", "", f"is not JSON: {error.msg}") from None
        if not isinstance(entry, dict):
            raise TraceError(str(path), line, "", "", "must be a job, in braces")
        yield line, entry
        at = _past_blanks(text, end)
        if text[at : at + 1] == ",":
            at = _past_blanks(text, at + 1)
        elif text[at : at + 1] != "]":
            raise TraceError(
                str(path), line + text.count("\n", counted, at), "", "", "is not JSON: expected , or ]"
            )


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _span_ms(row: Row, at: int, attempt: dict[str, object]) -> int | None:
    """How long an attempt ran, in ms; None when its start or end is missing."""
    start_ms = _moment_ms(row, f"attempts[{at}].start_time", attempt.get("start_time"))
    end_ms = _moment_ms(row, f"attempts[{at}].end_time", attempt.get("end_time"))
    return None if start_ms is None or end_ms is None else max(0, end_ms - start_ms)


def _moment_ms(row: Row, where: str, value: object) -> int | None:
    text = _text(value)
    if text in MISSING:
        return None
    try:
        return unix_ms(text)
    except ValueError:
        message = "must be a date and time such as 2017-10-07 01:12:09"
        raise TraceError(row.table.file, row.line, where, text, message) from None


def _gpus(row: Row, attempt: dict[str, object]) -> int:
    detail: Any = attempt.get("detail")
    try:
        return sum([len(machine["gpus"]) for machine in detail])
    except (TypeError, KeyError):
        message = "must be a list of machines with their gpus"
        raise TraceError(row.table.file, row.line, "attempts[0].detail", _text(detail), message) from None


def _text(value: object) -> str:
    return "" if value is None else str(value)


FORMAT = Format("philly-json", _COLUMNS, Mapping(team=column("vc"), user=column("user")), _read)
