"""What Prometheus is told that is not counted but looked at when it asks: quotas, jobs, nodes, and what devices do.

Only the server that leads tells it, so that two servers do not tell it twice. Names of quotas, nodes and jobs are in all of it
but the mode of the server, so it is for those who may know them (ADR 0043).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from prometheus_client.core import GaugeMetricFamily

from quotatree.control.figure_history import counts_of
from quotatree.control.health import Mode
from quotatree.control.world import World
from quotatree.core import Module, NodeState, Phase, UnitKind, job_totals
from quotatree.engines.base import DeviceUse
from quotatree.store.samples import FIGURES, RESOURCES, Sample, Sums

MIB: Final = 1024 * 1024
SAYS: Final = {
    "min": "Guarantee and cap of a quota",
    "used": "Regular work of a quota and of all below it",
    "own": "Regular work of a quota itself",
    "loan": "What of it is beyond its min",
    "squeezed": "What a quota cannot use of its guarantee now",
    "reserved": "What others may not push a quota below",
    "idle_lent": "Unused guarantee that idle work of others may stand on",
    "idle_borrowed": "Idle work of a quota and of all below it",
    "queued": "What waits at a quota itself",
    "free": "What a regular job of a quota could start with now",
}


@dataclass(slots=True)
class NodeFacts:
    """One node. `used_milli`: what stands on it by module, also what was told to stop and is still there."""

    name: str
    pool: str
    state: NodeState
    gpus: int
    used_milli: dict[Module, int] = field(default_factory=dict)
    jobs: dict[int, list[tuple[str, Module]]] = field(default_factory=dict)  # by device


class JobCount(NamedTuple):
    quota: str
    module: Module
    state: str
    jobs: int


class JobFacts(NamedTuple):
    """Jobs by quota, module and state, where there are any; `counts` as figures are told with them, of every quota."""

    jobs: tuple[JobCount, ...]
    counts: dict[str, Sums]


def jobs_now(world: World, now_ms: int) -> JobFacts:
    totals = job_totals(world.state)
    found: list[JobCount] = []
    for (quota, module), total in totals.items():
        found.append(JobCount(quota, module, "running", total.running))
        found.append(JobCount(quota, module, "waiting", total.waiting))
    special: dict[tuple[str, Module, str], int] = {}
    for state, jobs in (("held", world.state.held), ("leaving", world.state.leaving_jobs)):
        for job in jobs.values():
            if state == "leaving" or job.phase is Phase.HELD:
                key = (job.quota.id, job.spec.module, state)
                special[key] = special.get(key, 0) + 1
    found += [JobCount(*key, jobs) for key, jobs in special.items()]
    return JobFacts(tuple(one for one in found if one.jobs), counts_of(world.state, totals, now_ms))


def nodes_now(world: World, now_ms: int) -> list[NodeFacts]:
    del now_ms
    found = []
    for node in world.state.nodes:
        facts = NodeFacts(node.spec.name, node.spec.pool, node.state, node.spec.gpus)
        for unit in node.units:
            if unit.cls.kind is not UnitKind.HOLD:
                for place in unit.places:
                    if place.node == node.index:
                        _stands(facts, unit.job.id, unit.cls.module, place.shape.gpu_milli, place.devices)
        for (job_id, _), place in node.leavers.items():
            job = world.state.jobs.get(job_id)
            if job is not None:
                _stands(facts, job_id, job.spec.module, place.shape.gpu_milli, place.devices)
        found.append(facts)
    return found


def _stands(facts: NodeFacts, job: str, module: Module, gpu_milli: int, devices: Sequence[int]) -> None:
    facts.used_milli[module] = facts.used_milli.get(module, 0) + gpu_milli
    for device in devices:
        facts.jobs.setdefault(device, []).append((job, module))


# -- as families of metrics ------------------------------------------------------------------------------------------


class Told:
    """Families that were made already, as a registry wants them."""

    def __init__(self, families: Sequence[GaugeMetricFamily]) -> None:
        self._families = families

    def collect(self) -> Sequence[GaugeMetricFamily]:
        return self._families


def of_server(mode: Mode, waiting: int) -> Iterator[GaugeMetricFamily]:
    """What the server can do at the moment."""
    leading = GaugeMetricFamily("quotatree_leading", "1 on the server that leads, else 0")
    leading.add_metric([], int(mode is Mode.LEADING))
    yield leading
    modes = GaugeMetricFamily("quotatree_mode", "1 for what the server can do now, else 0", labels=["mode"])
    for one in Mode:
        modes.add_metric([one.name.lower()], int(one is mode))
    yield modes
    requests = GaugeMetricFamily("quotatree_requests_waiting", "Requests that wait for the loop")
    requests.add_metric([], waiting)
    yield requests


def of_nodes(nodes: Sequence[NodeFacts]) -> Iterator[GaugeMetricFamily]:
    have = GaugeMetricFamily("quotatree_node_gpus", "GPUs of a node", labels=["node", "pool", "state"])
    used = GaugeMetricFamily(
        "quotatree_node_gpus_used",
        "GPUs of a node that jobs stand on, by module",
        labels=["node", "pool", "module"],
    )
    for node in nodes:
        have.add_metric([node.name, node.pool, node.state.value], node.gpus)
        for module in Module:
            used.add_metric([node.name, node.pool, module.value], node.used_milli.get(module, 0) / 1000)
    yield have
    yield used


def of_quotas(samples: Mapping[str, Sample]) -> Iterator[GaugeMetricFamily]:
    for place, figure in enumerate(FIGURES):
        says = f"{SAYS[figure]}, in GPUs, CPUs or bytes of memory"
        family = GaugeMetricFamily(f"quotatree_quota_{figure}", says, labels=["quota", "resource"])
        for quota, sample in samples.items():
            for resource, amounts in zip(RESOURCES, sample.amounts, strict=True):
                if amounts is not None and (figure != "min" or amounts.named):
                    family.add_metric([quota, resource], _base(resource, amounts.sums[place]))
        yield family
    oldest = GaugeMetricFamily(
        "quotatree_quota_oldest_waiting_seconds",
        "How long the oldest waiting job of a quota has waited",
        labels=["quota"],
    )
    for quota, sample in samples.items():
        oldest.add_metric([quota], sample.jobs[2])
    yield oldest


def of_jobs(found: Sequence[JobCount]) -> Iterator[GaugeMetricFamily]:
    jobs = GaugeMetricFamily(
        "quotatree_quota_jobs",
        "Jobs of a quota itself, by module and state",
        labels=["quota", "module", "state"],
    )
    for one in found:
        jobs.add_metric([one.quota, one.module.value, one.state], one.jobs)
    yield jobs


def of_devices(uses: Sequence[DeviceUse], nodes: Sequence[NodeFacts]) -> Iterator[GaugeMetricFamily]:
    """What NVML says of the devices of this machine, each with the jobs on it; one on which nobody stands has an empty `job_id`."""
    labels = ["node", "gpu", "job_id", "module"]
    busy = GaugeMetricFamily(
        "quotatree_gpu_busy_ratio",
        "Part of the last second or so in which a kernel ran on a GPU",
        labels=labels,
    )
    memory = GaugeMetricFamily("quotatree_gpu_memory_used_bytes", "Memory of a GPU in use", labels=labels)
    whole = GaugeMetricFamily("quotatree_gpu_memory_bytes", "Memory of a GPU", labels=["node", "gpu"])
    there = {node.name: node.jobs for node in nodes}
    for use in uses:
        whole.add_metric([use.node, str(use.device)], use.memory_bytes)
        on_it: Sequence[tuple[str, Module | None]] = there.get(use.node, {}).get(use.device, [])
        for job, module in on_it or [("", None)]:
            of = [use.node, str(use.device), job, "" if module is None else module.value]
            if use.busy is not None:
                busy.add_metric(of, use.busy)
            memory.add_metric(of, use.memory_used_bytes)
    yield from (busy, memory, whole)


def _base(resource: str, amount: int) -> float:
    """An amount in whole GPUs and CPUs, and in bytes."""
    return float(amount * MIB) if resource == "memory" else amount / 1000
