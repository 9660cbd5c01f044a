"""Events that a broken engine or a mistaken person might send: wrong names, numbers that do not exist, things said twice."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from quotatree.core import events as ev
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobId, JobSpec, Phase, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.quota import AmountLimit, QuotaId, QuotaSpec
from quotatree.core.model.resources import WHOLE_GPU, Bounds, Resources
from quotatree.core.reasons import Code, because
from quotatree.core.state import State
from tests.property.happenings import Happening, job_spec
from tests.property.worlds import chance, pick, quota_spec


def nonsense(random: Random, state: State, now_ms: int) -> ev.Event:
    """Return a random event about any job, quota or node in any phase, some of which do not exist."""
    while True:
        try:
            event = pick(random, *ANY)(random, state, now_ms)
        except Refused:  # a value that refuses to be made
            continue
        if event is not None:
            return event


def _job_id(random: Random, state: State) -> JobId:
    return pick(random, *state.jobs, *state.jobs, JobId("nobody"))


def _quota_id(random: Random, state: State) -> QuotaId:
    return pick(random, *state.quotas, *state.quotas, QuotaId("nowhere"), QuotaId(""))


def _node_name(random: Random, state: State) -> str:
    return pick(random, *(node.spec.name for node in state.nodes), "n99")


def _replicas(random: Random) -> tuple[int, ...]:
    return tuple(random.randint(-1, 4) for _ in range(random.randint(0, 4)))


def _bounds(random: Random) -> Bounds:
    gpus = pick(random, None, -1, 0, 1, 2, 9)
    return Bounds(None if gpus is None else gpus * WHOLE_GPU, pick(random, None, None, -1, 0, 4000))


def left(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobLeft(_job_id(random, state), pick(random, None, _replicas(random)))


def lost(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobLost(_job_id(random, state), _replicas(random))


def started(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobStarted(_job_id(random, state), random.randint(-1, 3))


def told_of_a_job(random: Random, state: State, now_ms: int) -> ev.Event:
    job = _job_id(random, state)
    told: list[ev.Event] = [ev.JobCheckpointed(job), ev.JobForgotten(job), ev.JobCancelled(job)]
    return pick(random, *told, ev.JobResubmitted(job))


def ended(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobEnded(_job_id(random, state), pick(random, *Phase))


def stopped(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobStopped(_job_id(random, state), because(Code.StoppedByOwner), chance(random, 50))


def resized(random: Random, state: State, now_ms: int) -> ev.Event:
    numbers = [pick(random, None, random.randint(-1, 5)) for _ in range(2)]
    return ev.JobResized(_job_id(random, state), *numbers)


def priority(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobPriorityChanged(_job_id(random, state), random.randint(-1, 11))


def submitted(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.JobSubmitted(_strange_spec(random, state, now_ms))


def _strange_spec(random: Random, state: State, now_ms: int) -> JobSpec:
    spec = job_spec(random, state, _job_id(random, state), now_ms)
    shape = Shape(pick(random, 0, 500, 1000, 8000), pick(random, 0, 1000, 10**9), pick(random, 0, 1))
    return replace(
        spec,
        quota=_quota_id(random, state),
        groups=(ReplicaGroup(random.randint(1, 40), shape),) if chance(random, 60) else spec.groups,
        min_replicas=None,
    )


def adopted(random: Random, state: State, now_ms: int) -> ev.Event:
    spec = _strange_spec(random, state, now_ms)
    places = tuple(
        Placed(
            random.randint(-1, 4),
            random.randint(-1, len(state.nodes)),
            tuple(random.randint(-1, 4) for _ in range(random.randint(0, 2))),
            pick(random, spec.groups[0].shape, Shape(1000, 0, 0), Shape(500, 0, 0), Shape(-1, -1, 0)),
        )
        for _ in range(pick(random, 0, 1, 2, spec.core_replicas))
    )
    how_many = pick(random, None, -1, 0, 1, 2, 100)
    return ev.JobAdopted(spec, now_ms, None, places, chance(random, 50), how_many)


def node_changed(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.NodeChanged(_node_name(random, state), pick(random, *NodeState))


def device_changed(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.DeviceChanged(_node_name(random, state), random.randint(-1, 9), chance(random, 50))


def node_joined(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.NodeJoined(_strange_node(random, state))


def node_altered(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.NodeAltered(_strange_node(random, state))


def _strange_node(random: Random, state: State) -> NodeSpec:
    return NodeSpec(
        _node_name(random, state), pick(random, *state.pools, "elsewhere"), pick(random, "A", "B", "GPU"),
        random.randint(-1, 4),
    )  # fmt: skip


def foreign_use(random: Random, state: State, now_ms: int) -> ev.Event:
    use = Resources(random.randint(-1, 9_000), random.randint(-1, 200_000), random.randint(-1, 2_000_000))
    return ev.ForeignUse(_node_name(random, state), use)


def pool_declared(random: Random, state: State, now_ms: int) -> ev.Event:
    return ev.PoolDeclared(pick(random, *state.pools, "p"), chance(random, 50))


def quota_created(random: Random, state: State, now_ms: int) -> ev.Event:
    name, parent = pick(random, _quota_id(random, state), QuotaId("new")), _quota_id(random, state)
    if chance(random, 50):
        pools = [pick(random, *state.pools, "nowhere") for _ in range(random.randint(0, 3))]
        draws = tuple((pool, _bounds(random)) for pool in pools)
        return ev.QuotaCreated(QuotaSpec(name, pick(random, None, None, parent), draws=draws))
    reserved = Resources(random.randint(-1, 3) * WHOLE_GPU)
    return ev.QuotaCreated(QuotaSpec(name, parent, _bounds(random), reserved=reserved))


def quota_updated(random: Random, state: State, now_ms: int) -> ev.Event:
    spec = quota_spec(random, _quota_id(random, state), _quota_id(random, state), Bounds(9 * WHOLE_GPU))
    return ev.QuotaUpdated(spec)


def quota_scaled(random: Random, state: State, now_ms: int) -> ev.Event:
    draws = tuple((pool, _bounds(random)) for pool in state.pools if chance(random, 50))
    return ev.QuotaScaled(
        _quota_id(random, state),
        _bounds(random),
        pick(random, (), draws, draws * 2),
        pick(random, *ev.ScaleMode),
    )


def transferred(random: Random, state: State, now_ms: int) -> ev.Event:
    mode = pick(random, *ev.ScaleMode)
    return ev.QuotaTransferred(_quota_id(random, state), _quota_id(random, state), _bounds(random), mode)


def told_of_a_quota(random: Random, state: State, now_ms: int) -> ev.Event:
    quota = _quota_id(random, state)
    told: list[ev.Event] = [ev.QuotaDeleted(quota), ev.LoanReturned(quota)]
    return pick(random, *told)


def limits_set(random: Random, state: State, now_ms: int) -> ev.Event:
    limits = tuple(
        AmountLimit(
            pick(random, _quota_id(random, state)), "user:ann", random.randint(0, 9), random.randint(0, 10),
            random.randint(-1, 4) * WHOLE_GPU,
        )
        for _ in range(random.randint(0, 2))
    )  # fmt: skip
    return ev.LimitsSet(_quota_id(random, state), limits * pick(random, 1, 2))


ANY: tuple[Happening, ...] = (
    left, left, lost, lost, started, told_of_a_job, told_of_a_job, ended, stopped, resized, resized, priority, submitted,
    adopted, adopted, adopted, node_changed, device_changed, node_joined, node_altered, foreign_use, pool_declared, quota_created, quota_created,
    quota_updated, quota_scaled, quota_scaled, transferred, told_of_a_quota, limits_set,
)  # fmt: skip
