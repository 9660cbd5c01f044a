"""A job as it is shown."""

from __future__ import annotations

from typing import Any, cast

from typing_extensions import TypedDict

from quotatree.access.allowed import Allowed
from quotatree.access.redaction import Reader
from quotatree.api.models.fields import PRIORITY_NAMES, memory_text, number, span
from quotatree.api.models.noun_fields import fields_shown, shows
from quotatree.api.models.reasons import ReasonOut, reason_out
from quotatree.control.program_secrets import shown
from quotatree.core import JOB_SETTINGS, Autoscale, Code, Reason, ReplicaGroup, because, name_of
from quotatree.store.rows import JobRow


class AutoscaleOut(TypedDict):
    min: int
    max: int
    target: float
    down_after: str


class PlaceOut(TypedDict):
    replica: int
    node: str
    devices: list[int]
    surplus: bool


class GroupOut(TypedDict):
    name: str
    replicas: int
    gpus: float
    cpu: float
    memory: str
    models: list[str]
    labels: dict[str, str]


@shows(JOB_SETTINGS, before="preempted")
class JobOut(TypedDict):
    """`core_replicas`, `replicas`, `most_replicas`: what it insists on, wants and can use (P12); `min_replicas` and
    `max_replicas` are what its owner said of it. `reason` and its code say why it waits now, or how many replicas run of those that it wants; `position` is its place in the queue of its quota, where it was asked for; `ending`
    says of a failed job what went wrong. `waiting_since_ms`: when it last began to wait, null unless it waits now;
    `waited_before_ms`: how long it waited before that, or before its present run: since its submission, without its runs. `allowed`: what the reader's roles let them do to it."""

    id: str
    name: str
    workspace: str
    quota: str
    owner: str
    module: str
    priority: int
    priority_name: str | None
    phase: str
    reason_code: str
    reason: ReasonOut | None
    ending: str | None
    position: int | None
    submitted_ms: int
    waiting_since_ms: int | None
    waited_before_ms: int
    first_started_ms: int | None
    started_ms: int | None
    ended_ms: int | None
    gpus: float
    run: int
    claim: str
    replicas: int
    core_replicas: int
    most_replicas: int
    running_replicas: int
    groups: list[GroupOut]
    autoscale: AutoscaleOut | None
    preempted: int
    preempted_by: str | None
    places: list[PlaceOut]
    program: dict[str, Any]
    allowed: list[str]


class JobPage(TypedDict):
    """`total`: how many jobs there are on all pages, where it was asked for."""

    items: list[JobOut]
    next: str | None
    total: int | None


def job_out(
    row: JobRow,
    reads: Reader,
    allowed: Allowed,
    *,
    position: int | None,
    ending: str | None,
    waits_for: Reason | None,
    ran_before_ms: int,
) -> JobOut:
    """The job as its row has it. `waits_for`: why it waits right now; None: what it was told last, if it waits. `ran_before_ms`: how
    long it ran before `row.waits_from_ms`."""
    record, card, spec = row.record, row.card, row.record.spec
    told = _told(row, reads, waits_for)
    core = () if record.core is None else record.core.places
    places: list[PlaceOut] = [
        {"replica": place.replica, "node": place.node, "devices": list(place.devices), "surplus": surplus}
        for standing, surplus in ((core, False), *((s.places, s.surplus) for s in record.extras))
        for place in standing
    ]
    found = {
        "id": row.id,
        "name": card.name,
        "workspace": row.workspace,
        "quota": row.quota,
        "owner": row.owner,
        "priority_name": name_of(row.priority, PRIORITY_NAMES.get({})),
        "phase": row.phase,
        "reason_code": row.reason_code if told is None else told.code.name,
        "reason": None if told is None else reason_out(told),
        "ending": ending,
        "position": position,
        "submitted_ms": spec.submitted_ms,
        "waiting_since_ms": record.queued_ms if row.waits else None,
        "waited_before_ms": max(0, row.waits_from_ms - spec.submitted_ms - ran_before_ms),
        "first_started_ms": card.first_started_ms,
        "started_ms": row.started_ms,
        "ended_ms": card.ended_ms,
        "gpus": number(row.gpu_milli),
        "run": record.run,
        "claim": record.claim.value,
        "replicas": spec.wanted_replicas,
        "core_replicas": record.core_replicas,
        "most_replicas": spec.most_replicas,
        "running_replicas": len(places),
        "groups": [_group_out(group) for group in spec.groups],
        "autoscale": _autoscale_out(card.autoscale),
        **fields_shown(spec, JOB_SETTINGS),
        "priority": row.priority,
        "preempted": len(record.preempted_ms),
        "preempted_by": None if record.preempted_by is None else reads.job(record.preempted_by),
        "places": places,
        "program": shown(card.program),
        "allowed": allowed.on_job(row.workspace, row.owner),
    }
    return cast(JobOut, found)  # the checker does not know the fields of the table


def _told(row: JobRow, reads: Reader, waits_for: Reason | None) -> Reason | None:
    """Why the job waits, or how many replicas run where some are missing; None for any other."""
    record = row.record
    if row.phase == "Waiting":
        reason = waits_for or record.told
        return None if reason is None else reads.reason(reason)
    if row.reason_code != Code.ReplicasRun.name or record.core is None:
        return None
    running, spec = len(record.core.places) + sum(len(one.places) for one in record.extras), record.spec
    return because(Code.ReplicasRun, running=running, wanted=spec.wanted_replicas, most=spec.most_replicas)


def _group_out(group: ReplicaGroup) -> GroupOut:
    shape = group.shape
    return {
        "name": group.name,
        "replicas": group.replicas,
        "gpus": number(shape.gpu_milli),
        "cpu": number(shape.cpu_milli),
        "memory": memory_text(shape.memory_mib),
        "models": list(shape.models),
        "labels": dict(shape.labels),
    }


def _autoscale_out(auto: Autoscale | None) -> AutoscaleOut | None:
    if auto is None:
        return None
    return {
        "min": auto.min_replicas,
        "max": auto.max_replicas,
        "target": number(auto.target_milli),
        "down_after": span(auto.down_after_ms) or "0s",
    }
