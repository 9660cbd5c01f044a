"""What happens when: the steps of the timeline, each one word and what it says.

A step that a rule forbids can be a story too ("growing the quota fails"): if the step says `refused`, a refusal met
while reading it is kept for the check instead of making the file unreadable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Final

from quotatree.core import Bounds, Code, JobId, NodeState, Phase, QuotaSpec, because
from quotatree.core.events import (
    DeviceChanged,
    Event,
    JobCancelled,
    JobCheckpointed,
    JobEnded,
    JobLeft,
    JobPriorityChanged,
    JobResized,
    JobResubmitted,
    JobStopped,
    JobSubmitted,
    LoanReturned,
    NodeChanged,
    NodeJoined,
    QuotaCreated,
    QuotaDeleted,
    QuotaScaled,
    QuotaTransferred,
    ScaleMode,
)
from quotatree.scenario.amounts import (
    as_count,
    as_priority,
    as_text,
    as_text_or_texts,
    as_time_ms,
    moment_text,
    one_of,
)
from quotatree.scenario.errors import RuleBroken, ScenarioError
from quotatree.scenario.load_jobs import read_jobs
from quotatree.scenario.load_quota import read_bounds, read_draws, read_quota, read_quota_changes
from quotatree.scenario.load_tree import read_node
from quotatree.scenario.model import Action, DeclaredJob, Entry, QuotaPatch
from quotatree.scenario.table import Table


class DeviceState(Enum):
    ILL = "ill"
    WELL = "well"


@dataclass(slots=True)
class Declarations:
    """The jobs and quotas declared so far, to which later steps may refer."""

    jobs: dict[str, DeclaredJob] = field(default_factory=dict)
    quotas: dict[str, QuotaSpec] = field(default_factory=dict)

    def add_job(self, where: str, job: DeclaredJob) -> None:
        if job.spec.id in self.jobs:
            raise ScenarioError(where, f"job {job.spec.id} is declared twice")
        self.jobs[job.spec.id] = job

    def jobs_named(self, where: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The jobs that a list of names or patterns such as "small-*" means. Each entry must match at least one job."""
        found: dict[str, None] = {}
        for name in names:
            matching = [job for job in self.jobs if fnmatchcase(job, name)]
            if not matching:
                raise ScenarioError(where, f"no job of this file is called {name!r}")
            found.update(dict.fromkeys(matching))
        return tuple(found)


def read_timeline(top: Table, name: str, known: Declarations) -> list[Entry]:
    entries = []
    for raw in top.tables("at"):
        table = Table(f"{name}: [[at]]", raw)
        time_ms = table.need("time", as_time_ms)
        word = table.either(tuple(STEPS))
        table.where += f" {moment_text(time_ms)}, {word}"
        refused = table.take("refused", as_text_or_texts, ())
        note = table.take("note", as_text, "")
        actions: tuple[Action, ...] = ()
        refusal = None
        label = word
        try:
            actions, label = STEPS[word](table, word, time_ms, known)
        except RuleBroken as why:
            if not refused:
                raise
            refusal = why.message
        else:
            table.end()
        entries.append(
            Entry(
                where=table.where,
                time_ms=time_ms,
                actions=actions,
                label=label,
                refused=refused,
                refusal=refusal,
                note=note,
            )
        )
    return sorted(entries, key=lambda entry: entry.time_ms)


_Read = tuple[tuple[Action, ...], str]


def _submit(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    events: list[Action] = []
    ids: list[str] = []
    for raw in table.tables(word):
        inner = Table(table.where, raw)
        names = inner.names("id")
        ids += names
        for job in read_jobs(inner, names, time_ms):
            known.add_job(inner.where, job)
            events.append(JobSubmitted(job.spec))
    return tuple(events), f"submit {', '.join(ids)}"


def _for_jobs(make: Callable[[JobId], Event]) -> Callable[[Table, str, int, Declarations], _Read]:
    """A reader of a step that applies one event to each of the jobs it names."""

    def read(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
        del time_ms
        jobs = known.jobs_named(table.where, table.need(word, as_text_or_texts))
        return tuple(make(JobId(job)) for job in jobs), f"{word} {', '.join(jobs)}"

    return read


def _fail(job: JobId) -> Event:
    return JobEnded(job, Phase.FAILED)


def _stop(job: JobId) -> Event:
    return JobStopped(job, because(Code.StoppedByOwner))


def _priority(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms
    inner = _inner(table, word)
    job = known.jobs_named(inner.where, (inner.need("job", as_text),))[0]
    priority = inner.need("priority", as_priority)
    inner.end()
    return (JobPriorityChanged(JobId(job), priority),), f"priority of {job} to {priority}"


def _resize(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms
    inner = _inner(table, word)
    job = known.jobs_named(inner.where, (inner.need("job", as_text),))[0]
    names = ("replicas", "min_replicas", "max_replicas")
    sizes = {name: inner.take(name, as_count, None) for name in names}
    inner.end()
    said = " and ".join(f"{name} to {value}" for name, value in sizes.items() if value is not None)
    return (JobResized(JobId(job), **sizes),), f"{job}: {said}"


def _scale(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms
    inner = _inner(table, word)
    quota = inner.need("quota", as_text)
    mode = inner.take("mode", one_of(ScaleMode), ScaleMode.REFUSE)
    spec = known.quotas.get(quota)
    label = f"scale {quota} ({mode.value})"
    if spec is None or spec.parent is not None:
        event = QuotaScaled(quota, read_bounds(inner), mode=mode)
    elif inner.has("gpus") and not inner.has("pool") and len(spec.draws) == 1:
        event = QuotaScaled(quota, draws=((spec.draws[0][0], read_bounds(inner)),), mode=mode)
    else:
        event = QuotaScaled(quota, draws=read_draws(inner), mode=mode)
    inner.end()
    return (event,), label


def _transfer(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms, known
    inner = _inner(table, word)
    source, target = inner.need("from", as_text), inner.need("to", as_text)
    mode = inner.take("mode", one_of(ScaleMode), ScaleMode.REFUSE)
    amount: Bounds = read_bounds(inner)
    inner.end()
    return (QuotaTransferred(source, target, amount, mode),), f"transfer from {source} to {target}"


def _update(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms, known
    inner = _inner(table, word)
    quota = inner.need("quota", as_text)
    changes = read_quota_changes(inner)
    inner.end()
    return (QuotaPatch(quota, changes),), f"update {quota}"


def _node(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms, known
    inner = _inner(table, word)
    name, state = inner.need("name", as_text), inner.need("state", one_of(NodeState))
    inner.end()
    return (NodeChanged(name, state),), f"node {name} is {state.value}"


def _device(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms, known
    inner = _inner(table, word)
    node, device = inner.need("node", as_text), inner.need("gpu", as_count)
    healthy = inner.need("state", one_of(DeviceState)) is DeviceState.WELL
    inner.end()
    label = f"GPU {device} of {node} is {'well again' if healthy else 'ill'}"
    return (DeviceChanged(node, device, healthy),), label


def _join(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms, known
    inner = _inner(table, word)
    name = inner.need("name", as_text)
    return (NodeJoined(read_node(inner, name)),), f"node {name} joins"


def _create_quota(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
    del time_ms
    spec = read_quota(_inner(table, word))
    known.quotas[spec.id] = spec
    return (QuotaCreated(spec),), f"create quota {spec.id}"


def _for_quota(make: Callable[[str], Event]) -> Callable[[Table, str, int, Declarations], _Read]:
    def read(table: Table, word: str, time_ms: int, known: Declarations) -> _Read:
        del time_ms, known
        quota = table.need(word, as_text)
        return (make(quota),), f"{word.replace('_', ' ')} {quota}"

    return read


def _inner(table: Table, word: str) -> Table:
    inner = table.table(word)
    assert inner is not None  # `either` has found the field
    return inner


STEPS: Final[dict[str, Callable[[Table, str, int, Declarations], _Read]]] = {
    "submit": _submit,
    "cancel": _for_jobs(JobCancelled),
    "stop": _for_jobs(_stop),
    "end": _for_jobs(JobEnded),
    "fail": _for_jobs(_fail),
    "checkpoint": _for_jobs(JobCheckpointed),
    "left": _for_jobs(JobLeft),
    "resubmit": _for_jobs(JobResubmitted),
    "priority": _priority,
    "resize": _resize,
    "scale": _scale,
    "transfer": _transfer,
    "update": _update,
    "create_quota": _create_quota,
    "delete_quota": _for_quota(QuotaDeleted),
    "return_loan": _for_quota(LoanReturned),
    "node": _node,
    "device": _device,
    "join": _join,
}
