"""Small clusters for the tests of the core, and the words to tell a story about one.

Either a state that is passed around (`cluster`, `tree`, `submit`), or a `World` that also keeps the time.
GPUs and CPUs are whole numbers here; but for `tree` the root is called "r".
"""

from __future__ import annotations

from collections.abc import Mapping

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Job, JobId, JobSpec, Placed, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds, Resources
from quotatree.core.planning.plan import plan
from quotatree.core.state import State

MINUTE = 60_000
ALL = frozenset(Module)


def bounds(gpus: int, cpus: int | None = None) -> Bounds:
    return Bounds(gpus * 1000, None if cpus is None else cpus * 1000)


def root(gpus: int, cpus: int | None = None, **fields: object) -> QuotaSpec:
    return QuotaSpec(QuotaId("r"), draws=(("default", bounds(gpus, cpus)),), **fields)  # type: ignore[arg-type]


def child(name: str, gpus: int, cpus: int | None = None, parent: str = "r", **fields: object) -> QuotaSpec:
    return QuotaSpec(QuotaId(name), QuotaId(parent), bounds(gpus, cpus), **fields)  # type: ignore[arg-type]


def self_level(high: int, low: int, scope: Scope = Scope.LEVEL) -> SelfLevels:
    """Priorities from `high` upwards may take those up to `low`, of every module."""
    return SelfLevels.of(SelfLevel(Priorities(high, 9), Priorities(1, low), ALL, scope))


def cluster(
    gpus: int, *specs: QuotaSpec, nodes: int = 1, labels: tuple[tuple[tuple[str, str], ...], ...] = ()
) -> State:
    """Nodes n0, n1, … of `gpus` each, and the quotas; without any, one root with all of it."""
    state = State()
    for number in range(nodes):
        node = NodeSpec(f"n{number}", gpus=gpus, labels=labels[number] if labels else ())
        apply(state, ev.NodeJoined(node), 0)
    for spec in specs or (root(gpus * nodes),):
        apply(state, ev.QuotaCreated(spec), 0)
    return state


def submit(
    state: State, name: str, quota: str, *sizes: tuple[int, int], now_ms: int = 0, **fields: object
) -> Job:
    """A job that waits; each of `sizes` is a group of so many replicas, with so many thousandths of a GPU each."""
    groups = tuple(ReplicaGroup(count, Shape(gpu_milli, 0, 0)) for count, gpu_milli in sizes)
    apply(state, ev.JobSubmitted(JobSpec(JobId(name), quota, groups, now_ms, **fields)), now_ms)  # type: ignore[arg-type]
    return state.jobs[JobId(name)]


def gpus(number: float) -> Resources:
    return Resources(int(number * 1000))


def tree(**changes: Mapping[str, object]) -> State:
    """root 12 ── a 6 (a.x 4, a.y 2) and b 4, on two nodes; `changes` are other fields of a quota, by its name."""
    state = State()
    apply(state, ev.PoolDeclared("default"), 0)
    for number in range(2):
        apply(state, ev.NodeJoined(NodeSpec(f"n{number}")), 0)
    sizes = (("root", None, 12), ("a", "root", 6), ("b", "root", 4), ("a.x", "a", 4), ("a.y", "a", 2))
    for name, parent, size in sizes:
        fields: dict[str, object] = (
            {"min": bounds(size)} if parent else {"draws": (("default", bounds(size)),)}
        )
        fields |= changes.get(name, {})
        spec = QuotaSpec(QuotaId(name), QuotaId(parent) if parent else None, **fields)  # type: ignore[arg-type]
        apply(state, ev.QuotaCreated(spec), 0)
    return state


class World:
    """A small cluster with a clock. Planning checks each time that planning again decides nothing (P10)."""

    def __init__(self, nodes: int = 1, gpus: int = 8) -> None:
        self.state, self.now_ms = State(), 0
        for number in range(nodes):
            self.event(ev.NodeJoined(NodeSpec(f"n{number}", gpus=gpus)))

    def event(self, event: ev.Event) -> tuple[say.Decision, ...]:
        return apply(self.state, event, self.now_ms)

    def root(self, gpus: int, cpus: int | None = None, **fields: object) -> None:
        self.event(ev.QuotaCreated(root(gpus, cpus, **fields)))

    def quota(
        self, name: str, gpus: int, cpus: int | None = None, parent: str = "r", **fields: object
    ) -> None:
        self.event(ev.QuotaCreated(child(name, gpus, cpus, parent, **fields)))

    def spec(
        self, name: str, quota: str, gpus: float, count: int = 1, cpus: int = 0, **fields: object
    ) -> JobSpec:
        group = ReplicaGroup(count, Shape(int(gpus * 1000), cpus * 1000, 0))
        return JobSpec(JobId(name), quota, (group,), self.now_ms, **fields)  # type: ignore[arg-type]

    def submit(self, *args: object, **fields: object) -> Job:
        spec = self.spec(*args, **fields)  # type: ignore[arg-type]
        self.event(ev.JobSubmitted(spec))
        return self.state.jobs[spec.id]

    def run(self, *args: object, places: tuple[Placed, ...] = (), **fields: object) -> Job:
        """A job that runs already, on these places or wherever it fits."""
        spec = self.spec(*args, **fields)  # type: ignore[arg-type]
        self.event(ev.JobAdopted(spec, self.now_ms, places=places))
        return self.state.jobs[spec.id]

    def plan(self, now_ms: int | None = None) -> list[tuple[str, str]]:
        """What is decided, as (decision, job), without who is told to wait."""
        self.now_ms = self.now_ms if now_ms is None else now_ms
        made = plan(self.state, self.now_ms)
        assert not plan(self.state, self.now_ms).decisions, "planning again yields nothing (P10)"
        return [(type(d).__name__, d.job) for d in made.decisions if not isinstance(d, say.Wait)]


def started_and_taken(made: say.Plan) -> set[JobId]:
    """Return the jobs that a plan started, or promised places to, and evicted."""
    starts = {d.job for d in made.decisions if isinstance(d, say.Start | say.Hold)}
    return starts & {d.job for d in made.decisions if isinstance(d, say.Evict)}
