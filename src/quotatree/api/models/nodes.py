"""Pools and nodes (R2, R5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from quotatree.api.models.fields import Body, Cpus, Label, Labels, Memory, Name, memory_text, number
from quotatree.core import Node, NodeSpec


class PoolIn(Body):
    """`mixed`: may have nodes of several models (R2)."""

    name: Name
    mixed: bool = False


class NodeIn(Body):
    """A node that joins its pool, ready (R2). A pool that is not there yet is declared by its first node."""

    name: Name
    pool: Name = "default"
    model: Label = "GPU"
    gpus: Annotated[int, Field(ge=0, le=64)] = 8
    cpu: Cpus = Field(default=128_000, json_schema_extra={"default": 128})
    memory: Memory = Field(default=1_048_576, json_schema_extra={"default": "1024Gi"})
    labels: Labels = Field(default={})

    def spec(self) -> NodeSpec:
        labels = tuple(sorted(self.labels.items()))
        return NodeSpec(
            name=self.name,
            pool=self.pool,
            model=self.model,
            gpus=self.gpus,
            cpu_milli=self.cpu,
            memory_mib=self.memory,
            labels=labels,
        )


class PoolOut(TypedDict):
    name: str
    mixed: bool
    version: int
    nodes: int
    gpus: int
    models: list[str]


class Pools(TypedDict):
    items: list[PoolOut]


class ForeignOut(TypedDict):
    gpus: float
    cpu: float
    memory: str


class NodeOut(TypedDict):
    """`free_gpus`: not given away; `leaving_gpus`: still occupied by evicted work (P9); `ill_gpus`: their indexes (R5).

    `allowed`: what the reader may do with it; `manage-nodes` is cordon, drain and ready again.
    `foreign`: what others than our jobs use; `crowded`: more than our work leaves them, so that nothing new lands (R6).
    """

    name: str
    pool: str
    model: str
    gpus: int
    cpu: float
    memory: str
    labels: dict[str, str]
    state: str
    version: int
    free_gpus: float
    leaving_gpus: float
    ill_gpus: list[int]
    foreign: ForeignOut
    crowded: bool
    jobs: int
    allowed: list[str]


class Nodes(TypedDict):
    items: list[NodeOut]


def node_out(node: Node, version: int, allowed: list[str]) -> NodeOut:
    spec = node.spec
    return {
        "name": spec.name,
        "pool": spec.pool,
        "model": spec.model,
        "gpus": spec.gpus,
        "cpu": number(spec.cpu_milli),
        "memory": memory_text(spec.memory_mib),
        "labels": dict(spec.labels),
        "state": node.state.value,
        "version": version,
        "free_gpus": number(sum(node.free)),
        "leaving_gpus": number(sum(node.leaving)),
        "ill_gpus": sorted(node.ill),
        "foreign": {
            "gpus": number(node.foreign.gpu_milli),
            "cpu": number(node.foreign.cpu_milli),
            "memory": memory_text(node.foreign.memory_mib),
        },
        "crowded": node.crowded,
        "jobs": len({unit.job.id for unit in node.units}),
        "allowed": allowed,
    }
