"""The whole at a glance: what each module has, what the nodes are, and what somebody should look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from typing_extensions import TypedDict

from quotatree.api.models.fields import number
from quotatree.core import GPU, WHOLE_GPU, Job, Module, ModuleTotal, Node, NodeState, QuotaReport, amount_text
from quotatree.engines.base import Unready
from quotatree.store.rows import JobRow

AttentionKind = Literal[
    "lost-node", "ill-device", "out-node", "unready-service", "shortfall", "squeezed", "shrinking", "waiting"
]


class ModuleOut(TypedDict):
    """`gpus`: of regular work, with what is promised; `idle_gpus`: of idle work; `waiting_*`: of jobs that do not run."""

    module: str
    running_jobs: int
    gpus: float
    idle_gpus: float
    waiting_jobs: int
    waiting_gpus: float


class ClusterOut(TypedDict):
    """All nodes together. `free_gpus`: not given away on nodes that are ready; `out_gpus`: on nodes that take nothing new."""

    nodes: int
    gpus: int
    free_gpus: float
    leaving_gpus: float
    ill_gpus: int
    out_gpus: int
    states: dict[str, int]


class AttentionOut(TypedDict):
    """One thing to look at. Of `quota`, `node` and `job` the one that it is about; `since_ms`: since when it waits or is
    not ready."""

    kind: AttentionKind
    text: str
    quota: str | None
    node: str | None
    job: str | None
    name: str | None
    gpus: float | None
    since_ms: int | None


class SummaryOut(TypedDict):
    """`modules`: over the quotas that the reader sees; `cluster`: for those who may see nodes, else null.

    `attention`: nodes first, then services that do not get ready, then quotas, largest first, then the jobs that wait longest; `more`: how many are left out.
    """

    at_ms: int
    modules: list[ModuleOut]
    cluster: ClusterOut | None
    attention: list[AttentionOut]
    more: int


def module_out(module: Module, total: ModuleTotal) -> ModuleOut:
    return {
        "module": module.value,
        "running_jobs": total.running_jobs,
        "gpus": number(total.regular_milli),
        "idle_gpus": number(total.idle_milli),
        "waiting_jobs": total.waiting_jobs,
        "waiting_gpus": number(total.waiting_milli),
    }


def cluster_out(nodes: Iterable[Node]) -> ClusterOut:
    found: ClusterOut = {
        "nodes": 0, "gpus": 0, "free_gpus": 0, "leaving_gpus": 0, "ill_gpus": 0, "out_gpus": 0, "states": {}
    }  # fmt: skip
    free_milli = leaving_milli = 0
    for node in nodes:
        found["nodes"] += 1
        found["gpus"] += node.spec.gpus
        found["ill_gpus"] += len(node.ill)
        found["states"][node.state.value] = found["states"].get(node.state.value, 0) + 1
        leaving_milli += sum(node.leaving)
        if node.state is NodeState.READY:
            free_milli += sum(node.free)
        else:
            found["out_gpus"] += node.spec.gpus
    found["free_gpus"], found["leaving_gpus"] = number(free_milli), number(leaving_milli)
    return found


def about_node(node: Node) -> list[AttentionOut]:
    """What is wrong with a node: lost, not ready, devices that are ill; empty if nothing is."""
    name, found = node.spec.name, []
    if node.state is NodeState.LOST:
        found.append(_attention("lost-node", f"{name} is lost", node=name, milli=node.spec.gpus * WHOLE_GPU))
    elif node.state is not NodeState.READY:
        word = node.state.value.lower()
        found.append(_attention("out-node", f"{name} is {word}", node=name, milli=node.spec.gpus * WHOLE_GPU))
    if node.ill:
        which = ", ".join(str(index) for index in sorted(node.ill))
        text = f"{name}: GPU {which} cannot be used"
        found.append(_attention("ill-device", text, node=name, milli=len(node.ill) * WHOLE_GPU))
    return found


def about_quota(report: QuotaReport, shrinking: bool) -> list[AttentionOut]:
    """What a quota lacks: capacity of its pools (Q1), use of its guarantee (Q4), or its way down to what is desired (Q5)."""
    found = []
    short, tight = report.shortfall.gpu_milli, report.squeezed.gpu_milli
    if short:
        text = f"{report.id}: its pools lack {amount_text(GPU, short)}"
        found.append(_attention("shortfall", text, quota=report.id, milli=short))
    if tight:
        text = f"{report.id} cannot use {amount_text(GPU, tight)} of its guarantee"
        found.append(_attention("squeezed", text, quota=report.id, milli=tight))
    if shrinking:
        text = f"{report.id} is being scaled down as its work ends"
        found.append(_attention("shrinking", text, quota=report.id))
    return found


def about_service(job: Job, name: str, unready: Unready, now_ms: int) -> AttentionOut:
    minutes = (now_ms - unready.since_ms) // 60_000
    text = f"{name or job.id}: replica {unready.replica} is not ready for {minutes} min: {unready.why}"
    found = _attention("unready-service", text, quota=job.spec.quota)
    found["job"], found["name"], found["since_ms"] = job.id, name or None, unready.since_ms
    return found


def about_job(row: JobRow) -> AttentionOut:
    text = f"{row.card.name or row.id} waits in {row.quota}"
    found = _attention("waiting", text, quota=row.quota, milli=row.gpu_milli)
    found["job"], found["name"], found["since_ms"] = (
        row.id,
        row.card.name or None,
        row.record.queued_ms,
    )
    return found


def _attention(
    kind: AttentionKind,
    text: str,
    *,
    quota: str | None = None,
    node: str | None = None,
    milli: int | None = None,
) -> AttentionOut:
    gpus = None if milli is None else number(milli)
    return {
        "kind": kind, "text": text, "quota": quota, "node": node, "job": None, "name": None, "gpus": gpus,
        "since_ms": None,
    }  # fmt: skip
