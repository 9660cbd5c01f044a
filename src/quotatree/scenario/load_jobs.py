"""Which jobs run, wait or arrive, and how do they behave?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from quotatree.core import (
    JOB_SETTINGS,
    WHOLE_GPU,
    Claim,
    JobId,
    JobSpec,
    NodeSpec,
    Placed,
    Refused,
    ReplicaGroup,
    Shape,
)
from quotatree.core.events import JobAdopted, JobSubmitted
from quotatree.scenario.amounts import (
    ORIGIN_MS,
    as_count,
    as_cpu_milli,
    as_duration_ms,
    as_flag,
    as_gpu_milli,
    as_labels,
    as_memory_mib,
    as_moment_ms,
    as_text,
    as_texts,
    one_of,
)
from quotatree.scenario.errors import RuleBroken
from quotatree.scenario.model import Behaviour, DeclaredJob, Setup
from quotatree.scenario.noun_fields import read_fields
from quotatree.scenario.table import Table

_PLACE: Final = re.compile(r"(.+?)(?::(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*))?")


@dataclass(frozen=True, slots=True)
class Declared:
    """Jobs that exist from the beginning, and the events that create them."""

    jobs: list[DeclaredJob]
    setup: list[Setup]


def read_running(top: Table, name: str, nodes: Sequence[NodeSpec]) -> Declared:
    jobs: list[DeclaredJob] = []
    setup: list[Setup] = []
    for raw in top.tables("running"):
        table = Table(f"{name}: [[running]]", raw)
        ids = table.names("id")
        started_ms = table.take("started", as_moment_ms, ORIGIN_MS)
        checkpoint_ms = table.take("checkpoint", as_moment_ms, None)
        for field, moment_ms in (("started", started_ms), ("checkpoint", checkpoint_ms or 0)):
            if moment_ms > ORIGIN_MS:
                raise table.fail(field, "after 0s", "must not be after the start of the scenario")
        claim = table.take("claim", one_of(Claim), Claim.REGULAR)
        replicas = table.take("running_replicas", as_count, None)
        places = table.take("place", as_texts, None)
        found = read_jobs(table, ids, started_ms)
        for i, job in enumerate(found):
            placed: tuple[Placed, ...] = ()
            if places is not None:
                placed = _places_of(
                    table,
                    job.spec,
                    places,
                    job_number=i,
                    jobs=len(found),
                    running_replicas=replicas,
                    nodes=nodes,
                )
            if job.behaviour.duration_ms is not None and started_ms + job.behaviour.duration_ms <= ORIGIN_MS:
                raise table.fail("duration", "over before 0s", "a running job must end after the start")
            adopted = JobAdopted(job.spec, started_ms, checkpoint_ms, placed, claim is Claim.IDLE, replicas)
            setup.append(Setup(table.where, adopted))
        jobs += found
    return Declared(jobs, setup)


def read_waiting(top: Table, name: str) -> Declared:
    jobs: list[DeclaredJob] = []
    setup: list[Setup] = []
    for raw in top.tables("waiting"):
        table = Table(f"{name}: [[waiting]]", raw)
        found = read_jobs(table, table.names("id"), ORIGIN_MS)
        jobs += found
        setup += [Setup(table.where, JobSubmitted(job.spec)) for job in found]
    return Declared(jobs, setup)


def read_jobs(table: Table, ids: list[str], submitted_ms: int) -> list[DeclaredJob]:
    """Equal jobs, one for each of `ids`. `submitted_ms` is their submit time if the table gives none."""
    groups = _read_groups(table)
    behaviour = Behaviour(
        leaves_after_ms=table.take("leaves_after", as_duration_ms, None),
        duration_ms=table.take("duration", as_duration_ms, None),
        resumes=table.take("resumes", as_flag, False),
    )
    try:
        first = JobSpec(
            id=JobId(ids[0]),
            quota=table.need("quota", as_text),
            groups=groups,
            submitted_ms=table.take("submitted", as_moment_ms, submitted_ms),
            workspace=table.take("workspace", as_text, "default"),
            subjects=table.take("subjects", as_texts, ()),
            **read_fields(table, JOB_SETTINGS),
        )
    except Refused as why:
        raise RuleBroken(table.where, why) from None
    table.end()
    return [DeclaredJob(replace(first, id=JobId(job_id)), behaviour) for job_id in ids]


def _read_groups(table: Table) -> tuple[ReplicaGroup, ...]:
    """The groups of `groups = [{…}, {…}]`, or the one group that the job's own fields describe.

    The job's models and labels apply to every group that has none of its own.
    """
    models = table.take("models", as_texts, ())
    labels = table.take("labels", as_labels, ())
    if not table.has("groups"):
        table.tables("groups")
        return (_read_group(table, models, labels),)
    groups = []
    for raw in table.tables("groups"):
        inner = Table(f"{table.where}, groups", raw)
        name = inner.take("name", as_text, "worker")
        group = _read_group(
            inner, inner.take("models", as_texts, models), inner.take("labels", as_labels, labels)
        )
        inner.end()
        groups.append(group._replace(name=name))
    return tuple(groups)


def _read_group(table: Table, models: tuple[str, ...], labels: tuple[tuple[str, str], ...]) -> ReplicaGroup:
    shape = Shape(
        table.take("gpus", as_gpu_milli, 0),
        table.take("cpu", as_cpu_milli, 0),
        table.take("memory", as_memory_mib, 0),
        models,
        labels,
    )
    return ReplicaGroup(table.take("replicas", as_count, 1), shape)


def _places_of(
    table: Table,
    spec: JobSpec,
    places: tuple[str, ...],
    job_number: int,
    jobs: int,
    running_replicas: int | None,
    nodes: Sequence[NodeSpec],
) -> tuple[Placed, ...]:
    """The entries of `place` that belong to job number `job_number`: one for each replica that runs."""
    each = running_replicas if running_replicas is not None else spec.wanted_replicas
    if len(places) != each * jobs:
        raise table.fail(
            "place", list(places), f"must name {each * jobs} places, one for each running replica"
        )
    shapes = [group.shape for group in spec.groups for _ in range(group.replicas)]
    shapes += [spec.groups[0].shape] * (each - len(shapes))  # surplus, which a job of one group has
    found = []
    for index in range(each):
        text = places[job_number * each + index]
        found.append(_place(table, text, index, shapes[index], nodes))
    return tuple(found)


def _place(table: Table, text: str, index: int, shape: Shape, nodes: Sequence[NodeSpec]) -> Placed:
    """Read a place: "node-3:0,1", "node-3:0-7", or "node-3" for a replica without GPUs."""
    found = _PLACE.fullmatch(text)
    assert found is not None  # the pattern matches every text that is not empty
    numbers = {spec.name: i for i, spec in enumerate(nodes)}
    if found[1] not in numbers:
        raise table.fail("place", text, f"there is no node {found[1]}; allowed: {', '.join(numbers)}")
    devices = tuple(_devices(found[2])) if found[2] else ()
    wanted = shape.whole_gpus or (1 if shape.fraction_milli else 0)
    node = nodes[numbers[found[1]]]
    if len(set(devices)) != wanted or any(device >= node.gpus for device in devices):
        raise table.fail(
            "place",
            text,
            f"a replica with {shape.gpu_milli / WHOLE_GPU:g} GPU stands on {wanted} of the devices "
            f'0-{node.gpus - 1} of its node, such as "{node.name}:0-{max(wanted, 1) - 1}"',
        )
    return Placed(index, numbers[found[1]], devices, shape)


def _devices(text: str) -> list[int]:
    devices: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        devices += range(int(first), int(last if dash else first) + 1)
    return devices
