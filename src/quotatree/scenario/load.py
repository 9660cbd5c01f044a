"""From a TOML file to a Scenario. The format is described in docs/reference/scenario.md.

Every complaint names the file, the table, the field, its value and what is allowed; an unknown field is refused.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Final

from quotatree.core import JobId
from quotatree.core.events import QuotaCreated
from quotatree.scenario.amounts import (
    ORIGIN_MS,
    as_flag,
    as_text,
    as_text_or_texts,
    as_texts,
    as_time_ms,
    moment_text,
)
from quotatree.scenario.errors import RuleBroken, ScenarioError
from quotatree.scenario.load_expect import read_expectations, read_forbidden
from quotatree.scenario.load_jobs import read_jobs, read_running, read_waiting
from quotatree.scenario.load_quota import read_quotas
from quotatree.scenario.load_timeline import Declarations, read_timeline
from quotatree.scenario.load_tree import read_limits, read_nodes, read_pools, read_settings
from quotatree.scenario.model import Scenario, Setup
from quotatree.scenario.priorities import declared_names, with_numbers
from quotatree.scenario.table import Table

EXAMPLES: Final = Path(__file__).parent / "examples"


def load_scenario(path: Path) -> Scenario:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as why:
        raise ScenarioError(str(path), f"cannot be read: {why.strerror}") from None
    except UnicodeDecodeError:
        raise ScenarioError(str(path), "cannot be read: it is not UTF-8 text") from None
    return read_scenario(text, str(path))


def read_scenario(text: str, name: str) -> Scenario:
    """The scenario that `text` describes. Messages call the file `name`."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise ScenarioError(name, f"is not valid TOML: {why}") from None
    names = declared_names(raw, name)
    top = Table(name, with_numbers(raw, names, name))
    title = top.need("title", as_text)
    story = top.take("story", as_text, "")
    rules = top.take("rules", as_texts, ())
    load_refused: tuple[str, ...] = ()
    load = top.table("load")
    if load is not None:
        load_refused = load.need("refused", as_text_or_texts)
        load.end()
    try:
        found = _read_body(top, name, title, story, rules, load_refused)
        return replace(found, priority_names=names)
    except RuleBroken as why:
        if not load_refused:
            raise
        return Scenario(name, title, story, rules, load_refused=load_refused, refusal=why.message)


def _read_body(
    top: Table, name: str, title: str, story: str, rules: tuple[str, ...], load_refused: tuple[str, ...]
) -> Scenario:
    settings, leave_after_ms = read_settings(top.table("settings"))
    until_ms = top.take("until", as_time_ms, None)
    steady = top.take("steady", as_flag, False)
    setup: list[Setup] = read_pools(top, name)
    joined, changed, nodes = read_nodes(top, name)
    quotas = read_quotas(top, name)
    limits = read_limits(top, name)
    running = read_running(top, name, nodes)
    waiting = read_waiting(top, name)
    setup += joined + quotas + limits + running.setup + changed + waiting.setup

    known = Declarations()
    for quota in quotas:
        if isinstance(quota.event, QuotaCreated):
            known.quotas[quota.event.quota.id] = quota.event.quota
    for job in running.jobs + waiting.jobs:
        known.add_job(name, job)
    timeline = read_timeline(top, name, known)
    if until_ms is not None and timeline and timeline[-1].time_ms > until_ms:
        raise ScenarioError(
            timeline[-1].where, f"lies after `until`, {moment_text(until_ms)}: it would never happen"
        )
    previews = {}
    for raw in top.tables("preview"):
        table = Table(f"{name}: [[preview]]", raw)
        for job in read_jobs(table, table.names("id"), ORIGIN_MS):
            known.add_job(table.where, job)
            previews[str(job.spec.id)] = job.spec
    expectations = read_expectations(top, name, known)
    forbidden = read_forbidden(top, name, known)
    top.end()
    return Scenario(
        name=name,
        title=title,
        story=story,
        rules=rules,
        settings=settings,
        leave_after_ms=leave_after_ms,
        until_ms=until_ms,
        steady=steady,
        load_refused=load_refused,
        setup=tuple(setup),
        timeline=tuple(timeline),
        expectations=tuple(expectations),
        forbidden=tuple(forbidden),
        previews=previews,
        behaviours={JobId(job_id): job.behaviour for job_id, job in known.jobs.items()},
    )
