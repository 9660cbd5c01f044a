"""Who is on each GPU? What a reader may not know is absent, not described (W2)."""

from __future__ import annotations

from typing_extensions import TypedDict

from quotatree.access.redaction import Reader
from quotatree.api.models.fields import number
from quotatree.control.world import World
from quotatree.core import Claim, Job, JobId, Node, Placed, UnitKind


class OccupantOut(TypedDict):
    """A job on one node. `job` to `module` are null if the reader may not see it, `quota` if they may not know the quota.

    `devices`: indexes of its GPUs there; `gpus`: what it has of them in all. `leaving`: it was told to stop and has not left
    yet (P9); `held`: the devices are promised to it and it does not run yet.
    """

    job: str | None
    name: str | None
    workspace: str | None
    owner: str | None
    module: str | None
    quota: str | None
    priority: int
    devices: list[int]
    gpus: float
    idle: bool
    leaving: bool
    held: bool


class NodeDevicesOut(TypedDict):
    """`free`: what nobody was promised, of each device, 0 to 1; `ill`: indexes of devices that are out of order."""

    node: str
    pool: str
    model: str
    state: str
    gpus: int
    free: list[float]
    ill: list[int]
    occupants: list[OccupantOut]


class NodeDevices(TypedDict):
    """In the order of the nodes' names."""

    items: list[NodeDevicesOut]
    next: str | None


def node_devices_out(world: World, reads: Reader, node: Node) -> NodeDevicesOut:
    occupants = []
    for unit in node.units:
        here = [place for place in unit.places if place.node == node.index]
        job, idle = unit.job, unit.cls.claim is Claim.IDLE
        held = unit.cls.kind is UnitKind.HOLD
        occupants.append(_occupant(world, reads, job, here, idle=idle, leaving=False, held=held))
    going: dict[JobId, list[Placed]] = {}
    for (job_id, _), place in node.leavers.items():
        going.setdefault(job_id, []).append(place)
    for job_id, places in going.items():
        if job_id in world.state.jobs:
            left = world.state.jobs[job_id]
            occupants.append(_occupant(world, reads, left, places, idle=False, leaving=True, held=False))
    return {
        "node": node.spec.name,
        "pool": node.spec.pool,
        "model": node.spec.model,
        "state": node.state.value,
        "gpus": node.spec.gpus,
        "free": [number(milli) for milli in node.free],
        "ill": sorted(node.ill),
        "occupants": occupants,
    }


def _occupant(
    world: World, reads: Reader, job: Job, places: list[Placed], *, idle: bool, leaving: bool, held: bool
) -> OccupantOut:
    seen = reads.sees(job.id)
    card = world.cards[job.id]
    knows_quota = reads.everything or job.quota.id in reads.quotas
    return {
        "job": job.id if seen else None,
        "name": card.name if seen else None,
        "workspace": job.spec.workspace if seen else None,
        "owner": card.owner if seen else None,
        "module": job.spec.module.value if seen else None,
        "quota": job.quota.id if knows_quota else None,
        "priority": job.priority,
        "devices": sorted({device for place in places for device in place.devices}),
        "gpus": number(sum(place.shape.gpu_milli for place in places)),
        "idle": idle,
        "leaving": leaving,
        "held": held,
    }
