"""The core's promises along whole replays of made-up traces, checked by a book of our own."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.model.job import Claim, Idle, JobId, JobSpec
from quotatree.core.model.policy import SelfLevels, Strategy
from quotatree.core.model.unit import UnitKind
from quotatree.sim.baselines import BASELINES
from quotatree.sim.brain import Brain
from quotatree.sim.export import write_result
from quotatree.sim.replay import Replay
from quotatree.sim.result import prepare, simulate
from quotatree.sim.setup import JobDefaults, Setup
from quotatree.sim.synthetic import SyntheticSpec, generate
from quotatree.sim.trace import Trace
from quotatree.sim.work import CheckpointModel, Checkpoints
from tests.profiles import by_profile
from tests.sim.made import S, child, nodes, root, takes

TEAMS = (("vision", 5.0), ("speech", 3.0), ("search", 2.0))
BUSY = SyntheticSpec(
    jobs=150,
    days=0.04,
    diurnal_depth=0.0,
    duration_median_s=1_200,
    duration_sigma=1.2,
    duration_max_s=20_000,
    sizes=((250, 5.0), (500, 5.0), (1000, 40.0), (2000, 20.0), (4000, 10.0), (8000, 10.0), (16000, 5.0)),
    teams=TEAMS,
    cpu_milli_per_gpu=1_000,
    memory_mib_per_gpu=1_024,
)


class Book:
    """A brain that looks over the shoulder of another: who stands where, by the decisions alone."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self.devices: Counter[tuple[str, int]] = Counter()
        self.places: dict[tuple[JobId, int], tuple[list[tuple[str, int]], int]] = {}
        self.regular: dict[JobId, bool] = {}
        self.leaving: dict[JobId, set[int]] = {}
        self.specs: dict[JobId, JobSpec] = {}
        self.evictions = 0

    @property
    def state(self):
        return self._brain.state

    def at_rest(self) -> bool:
        return self._brain.at_rest()

    def forget(self, job: JobId) -> None:
        assert job not in self.regular, f"{job} is forgotten while it runs"
        self._brain.forget(job)

    def apply(self, event, now_ms: int):
        if isinstance(event, ev.JobSubmitted):
            self.specs[event.job.id] = event.job
        elif isinstance(event, ev.JobEnded):
            self._vacate(event.job, [r for j, r in self.places if j == event.job])
            del self.regular[event.job]
        elif isinstance(event, ev.JobLeft):
            self._vacate(event.job, event.replicas)
        decided = self._brain.apply(event, now_ms)
        self._note(decided)
        return decided

    def plan(self, now_ms: int) -> say.Plan:
        planned = self._brain.plan(now_ms)
        self._note(planned.decisions)
        self._check()
        return planned

    def _note(self, decisions) -> None:
        for decision in decisions:
            if isinstance(decision, say.Start):
                self.regular[decision.job] = decision.claim is Claim.REGULAR
                self._occupy(decision)
            elif isinstance(decision, say.Promote | say.Demote):
                self.regular[decision.job] = isinstance(decision, say.Promote)
            elif isinstance(decision, say.Evict) and decision.kind is not UnitKind.HOLD:
                self.evictions += 1
                self.leaving.setdefault(decision.job, set()).update(decision.replicas)
                if decision.kind is UnitKind.CORE:
                    self.regular.pop(decision.job)

    def _occupy(self, start: say.Start) -> None:
        milli = min(1000, self.specs[start.job].groups[0].shape.gpu_milli)
        for replica, node, devices in start.replicas:
            assert (start.job, replica) not in self.places, f"{start.job} runs twice"
            where = [(node, device) for device in devices]
            self.places[start.job, replica] = (where, milli)
            for device in where:
                self.devices[device] += milli
                assert self.devices[device] <= 1000, f"device {device} is given twice"

    def _vacate(self, job: JobId, replicas) -> None:
        for replica in replicas:
            where, milli = self.places.pop((job, replica))
            self.leaving.get(job, set()).discard(replica)
            for device in where:
                self.devices[device] -= milli

    def _check(self) -> None:
        """Q3: regular work of a quota and of everything below it stays within min, but for loans (P3)."""
        used: Counter[str] = Counter()
        for (job, replica), _ in self.places.items():
            if self.regular.get(job) and replica not in self.leaving.get(job, set()):
                quota = self.state.quotas[self.specs[job].quota]
                for above in quota.path:
                    used[above.id] += self.specs[job].groups[0].shape.gpu_milli
        for quota in self.state.quotas.values():
            borrows = any(policy.reaches_siblings for policy in quota.spec.self_level)
            if not borrows:
                assert used[quota.id] <= (quota.min[0] or 0), f"{quota.id} is above its min"


def cluster(strategy: Strategy = Strategy.INTELLIGENT, idle: Idle = Idle.NEVER, loans: bool = True) -> Setup:
    """40 GPUs on five nodes, three teams, policies on."""
    policy = takes() if loans else SelfLevels()
    quotas = (
        root(40),
        child("vision", 20, strategy=strategy, self_level=policy),
        child("speech", 12, strategy=strategy, self_level=policy),
        child("search", 8, strategy=strategy),
    )
    return Setup(
        "busy",
        nodes(8, 8, 8, 8, 8),
        quotas,
        jobs=JobDefaults(idle=idle, skip_larger=True),
        checkpoints=CheckpointModel(Checkpoints.INTERVAL, 600 * S),
        sample_ms=600 * S,
        private_clusters=False,
    )


def watched(setup: Setup, made: Trace) -> tuple[Replay, Book]:
    replay = prepare(setup, made)
    book = Book(replay.brain)
    replay.brain = book
    replay.run()
    return replay, book


@settings(
    max_examples=by_profile(quick=7, deep=25, long=1000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    seed=st.integers(0, 10_000),
    strategy=st.sampled_from(Strategy),
    idle=st.sampled_from(Idle),
    loans=st.booleans(),
    grace_s=st.sampled_from([0, 30, 300]),
)
def test_promises_hold_along_a_replay(seed: int, strategy: Strategy, idle: Idle, loans: bool, grace_s: int):
    setup = cluster(strategy, idle, loans)
    setup = replace(setup, jobs=replace(setup.jobs, grace_ms=grace_s * S))
    replay, book = watched(setup, generate(replace(BUSY, seed=seed)))
    assert replay.finished, "somebody never got to run"
    assert replay.fruitless == 0
    assert replay.brain.state.jobs == {}
    assert +book.devices == Counter(), "devices are still taken after the end"
    jobs = [track.outcome(replay.now_ms) for track in replay.tracks]
    timeline = replay.recorder.finished()
    assert sum(one.allocated for one in jobs) == timeline.running + timeline.leaving
    assert all(
        one.useful >= one.work_ms * one.gpu_milli for one in jobs if one.module == "DLC" and one.end_ms
    )


@pytest.mark.parametrize("name", [name for name in BASELINES if name != "quotatree"])
@pytest.mark.parametrize("seed", range(3))
def test_models_keep_to_the_devices_too(name: str, seed: int):
    setup = replace(cluster(loans=False), baseline=name)
    made = generate(replace(BUSY, seed=seed))
    replay = prepare(setup, made)
    book = Book(replay.brain)
    if name in ("borrow", "peers", "informed", "kube"):
        book._check = lambda: None  # type: ignore[method-assign]  # they let quotas borrow
    replay.brain = book
    replay.run()
    assert replay.finished
    assert +book.devices == Counter()
    assert replay.fruitless == 0


def test_the_traces_of_these_tests_do_evict():
    """Else the tests above would have seen nothing."""
    made = generate(replace(BUSY, seed=1))
    for setup in (cluster(), cluster(idle=Idle.ALLOW), replace(cluster(), baseline="peers")):
        assert len(simulate(setup, made).taken) > 5


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path):
    script = (
        "import sys; from pathlib import Path; from dataclasses import replace;"
        "from tests.sim.test_promises import BUSY, cluster; from quotatree.core.model.job import Idle;"
        "from quotatree.sim.result import simulate; from quotatree.sim.synthetic import generate;"
        "from quotatree.sim.export import write_result;"
        "setup = replace(cluster(idle=Idle.ALLOW), private_clusters=True);"
        "write_result(simulate(setup, generate(BUSY)), Path(sys.argv[1]))"
    )
    for number in range(2):
        environment = {**os.environ, "PYTHONHASHSEED": str(number)}
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / str(number))],
            check=True,
            env=environment,
            cwd=Path(__file__).resolve().parents[2],
        )
    first = write_result(
        simulate(replace(cluster(idle=Idle.ALLOW), private_clusters=True), generate(BUSY)), tmp_path / "here"
    )
    assert len(first) == 4
    for path in first:
        for number in range(2):
            assert path.read_bytes() == (tmp_path / str(number) / path.name).read_bytes()
