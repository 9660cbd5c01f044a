"""Which expectations and which forbidden decisions does a file state?"""

from __future__ import annotations

from quotatree.scenario.amounts import ORIGIN_MS, as_text, as_text_or_texts, as_time_ms, moment_text
from quotatree.scenario.errors import ScenarioError
from quotatree.scenario.expect import WORDS
from quotatree.scenario.kinds import KINDS
from quotatree.scenario.load_timeline import Declarations
from quotatree.scenario.model import Check, Expectation, Forbidden
from quotatree.scenario.table import Table


def read_expectations(top: Table, name: str, known: Declarations) -> list[Expectation]:
    found = []
    for raw in top.tables("expect"):
        table = Table(f"{name}: [[expect]]", raw)
        time_ms = table.need("time", as_time_ms)
        table.where += f" {moment_text(time_ms)}"
        note = table.take("note", as_text, "")
        checks = []
        for word in WORDS:
            if table.has(word):
                checks.append(_read_check(table, word, known))
            else:
                table.take(word, as_text, None)
        table.end()
        if not checks:
            raise ScenarioError(table.where, f"expects nothing; allowed: {', '.join(WORDS)}")
        found.append(Expectation(table.where, time_ms, tuple(checks), note))
    return sorted(found, key=lambda expected: expected.time_ms)


def _read_check(table: Table, word: str, known: Declarations) -> Check:
    """Read one word of an expectation. Job names must occur in the file; patterns are expanded in plain lists only."""
    wanted = table.need(word, WORDS[word].read)
    where = f"{table.where}, {word}"
    place = WORDS[word].jobs
    if place == "list" and isinstance(wanted, tuple):
        return Check(word, known.jobs_named(where, wanted))
    if place == "keys" and isinstance(wanted, tuple):
        known.jobs_named(where, tuple(key for key, _ in wanted))
    if place == "values" and isinstance(wanted, tuple):
        for _, names in wanted:
            known.jobs_named(where, names)
    return Check(word, wanted)


def read_forbidden(top: Table, name: str, known: Declarations) -> list[Forbidden]:
    """The forbidden decisions of all [[forbid]] tables, one Forbidden for each kind that a table names."""
    found: list[Forbidden] = []
    for raw in top.tables("forbid"):
        table = Table(f"{name}: [[forbid]]", raw)
        from_ms = table.take("from", as_time_ms, ORIGIN_MS)
        until_ms = table.take("until", as_time_ms, None)
        note = table.take("note", as_text, "")
        before = len(found)
        for kind in KINDS:
            names = table.take(kind, as_text_or_texts, None)
            if names is not None:
                jobs = known.jobs_named(f"{table.where}, {kind}", names)
                found.append(Forbidden(f"{table.where} {kind}", kind, jobs, from_ms, until_ms, note))
        table.end()
        if len(found) == before:
            raise ScenarioError(table.where, f"forbids nothing; allowed: {', '.join(KINDS)}")
    return found
