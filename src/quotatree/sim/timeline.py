"""How full was the cluster, when, and with whose work? Step functions, summed exactly and sampled for plots.

The replay says what changes; between two changes everything is constant, so sums over time are exact. Samples are
taken every `step_ms`, after everything of that time has happened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from quotatree.core import WHOLE_GPU, Node, NodeState, State

SAMPLES_WANTED: Final = 1_000
SHAPES_WATCHED: Final = 12
MINUTE_MS: Final = 60_000
NICE_STEPS_MS: Final = tuple(
    minutes * MINUTE_MS for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440)
)


class Sample(NamedTuple):
    """The cluster at one moment, in milli-GPU. `fragmented` is free but of no use to the trace's usual replicas."""

    time_ms: int
    capacity: int
    running: int
    idle: int  # the part of `running` on idle claims
    leaving: int
    waiting: int
    waiting_jobs: int
    running_jobs: int
    fragmented: int
    by_team: tuple[int, ...]  # running, in the order of Timeline.teams


@dataclass(frozen=True, slots=True)
class Timeline:
    """The samples of a run, and exact sums over its whole time in milli-GPU x milliseconds.

    `contended_ms` is how long at least one job waited; `contended_capacity` and `contended_running` are sums over that
    time only.
    """

    step_ms: int
    teams: tuple[str, ...]
    samples: tuple[Sample, ...]
    from_ms: int
    until_ms: int
    capacity: int
    running: int
    leaving: int
    contended_ms: int
    contended_capacity: int
    contended_running: int


def step_for(span_ms: int) -> int:
    """The time between samples, in ms: a round step that gives about a thousand of them over `span_ms`."""
    for step_ms in NICE_STEPS_MS:
        if span_ms <= step_ms * SAMPLES_WANTED:
            return step_ms
    return -(-span_ms // (SAMPLES_WANTED * NICE_STEPS_MS[-1])) * NICE_STEPS_MS[-1]


@dataclass(slots=True)
class Recorder:
    """Keeps the present values and sums them over time. Call `advance` with the new time before changing any."""

    state: State
    step_ms: int
    now_ms: int
    shapes: tuple[tuple[int, float], ...]  # milli-GPU of one replica and its weight, for fragmentation
    teams: dict[str, int] = field(default_factory=dict)
    running: list[int] = field(default_factory=list)  # by team
    total: int = 0
    idle: int = 0
    leaving: int = 0
    waiting: int = 0
    waiting_jobs: int = 0
    running_jobs: int = 0
    capacity: int = 0
    samples: list[Sample] = field(default_factory=list)
    _from_ms: int = 0
    _next_ms: int = 0
    _sums: list[int] = field(default_factory=lambda: [0] * 6)
    thins: bool = False  # double the step when there are too many samples; False: keep the user's step
    _unusable: dict[tuple[int, ...], float] = field(default_factory=dict)
    _by_node: list[tuple[int, float]] = field(default_factory=list)  # stamp of the node, fragments then

    def __post_init__(self) -> None:
        self._from_ms = self._next_ms = self.now_ms
        self.count_capacity()

    def team(self, name: str) -> int:
        """The index of a team; a new team gets the next one."""
        index = self.teams.get(name)
        if index is None:
            index = self.teams[name] = len(self.running)
            self.running.append(0)
        return index

    def run(self, team: int, gpu_milli: int, idle: bool) -> None:
        """Add `gpu_milli` (negative: subtract) to what the team runs, and to the idle part if `idle`."""
        self.running[team] += gpu_milli
        self.total += gpu_milli
        if idle:
            self.idle += gpu_milli

    def count_capacity(self) -> None:
        """Count the GPUs again after nodes came or went."""
        self.capacity = WHOLE_GPU * sum(
            node.spec.gpus for node in self.state.nodes if node.state is not NodeState.LOST
        )

    def advance(self, now_ms: int) -> None:
        while self._next_ms < now_ms:
            self._sample()
        span_ms = now_ms - self.now_ms
        if span_ms <= 0:
            return
        sums = self._sums
        sums[0] += self.capacity * span_ms
        sums[1] += self.total * span_ms
        sums[2] += self.leaving * span_ms
        if self.waiting_jobs:
            sums[3] += span_ms
            sums[4] += self.capacity * span_ms
            sums[5] += self.total * span_ms
        self.now_ms = now_ms

    def finished(self) -> Timeline:
        while self._next_ms <= self.now_ms:
            self._sample()
        capacity, running, leaving, contended_ms, contended_capacity, contended_running = self._sums
        return Timeline(
            step_ms=self.step_ms,
            teams=tuple(self.teams),
            samples=tuple(self.samples),
            from_ms=self._from_ms,
            until_ms=self.now_ms,
            capacity=capacity,
            running=running,
            leaving=leaving,
            contended_ms=contended_ms,
            contended_capacity=contended_capacity,
            contended_running=contended_running,
        )

    def _sample(self) -> None:
        self.samples.append(
            Sample(
                time_ms=self._next_ms,
                capacity=self.capacity,
                running=self.total,
                idle=self.idle,
                leaving=self.leaving,
                waiting=self.waiting,
                waiting_jobs=self.waiting_jobs,
                running_jobs=self.running_jobs,
                fragmented=self._fragmented(),
                by_team=tuple(self.running),
            )
        )
        self._next_ms += self.step_ms
        if self.thins and len(self.samples) == 2 * SAMPLES_WANTED:
            self.samples = self.samples[::2]
            self.step_ms *= 2

    def _fragmented(self) -> int:
        """Free milli-GPU that the usual replicas, averaged by weight, could not use; summed over all nodes."""
        found = 0.0
        by_node = self._by_node
        for node in self.state.nodes:
            if node.index == len(by_node):
                by_node.append((-1, 0.0))
            stamp, fragments = by_node[node.index]
            if stamp != node.stamp:
                fragments = self._fragments_on(node)
                by_node[node.index] = (node.stamp, fragments)
            found += fragments
        return round(found)

    def _fragments_on(self, node: Node) -> float:
        free = tuple(sorted(milli for milli in node.free if milli))
        if node.state is not NodeState.READY or not free:
            return 0.0
        if free not in self._unusable:
            self._unusable[free] = _unusable(free, self.shapes)
        return self._unusable[free]


def _unusable(free: tuple[int, ...], shapes: tuple[tuple[int, float], ...]) -> float:
    whole = free.count(WHOLE_GPU)
    everything = sum(free)
    lost = 0.0
    for gpu_milli, weight in shapes:
        if gpu_milli >= WHOLE_GPU:
            usable = whole // (gpu_milli // WHOLE_GPU) * gpu_milli
        else:
            usable = sum(milli // gpu_milli * gpu_milli for milli in free)
        lost += weight * (everything - usable)
    return lost


def usual_shapes(weights: dict[int, int]) -> tuple[tuple[int, float], ...]:
    """The commonest replica sizes in milli-GPU, with weights that add up to 1. `weights` counts replicas by size."""
    chosen = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:SHAPES_WATCHED]
    total = sum(weight for _, weight in chosen)
    return tuple((gpu_milli, weight / total) for gpu_milli, weight in sorted(chosen)) if total else ()
