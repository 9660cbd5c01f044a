"""How long does a decision take? One replica, a 200-replica gang, 4,000 reclaims, and growth with the cluster.

Each is the whole of `plan`: queues, search, evictions, holds, reasons. The peers' rule runs on the same clusters in the
same process (search only, its own index built beforehand, not timed).
"""

from __future__ import annotations

import resource
from dataclasses import replace
from functools import partial

from benchmarks import peers
from benchmarks.full import full_cluster
from benchmarks.instances import Instance, Request, to_problem
from benchmarks.measure import Table, budgets, middle, ms, settle, timed, verdict
from benchmarks.world import state_of
from quotatree.core import WHOLE_GPU, JobId, JobSpec, ReplicaGroup, Shape, State, apply, plan
from quotatree.core import decisions as say
from quotatree.core import events as ev

MIXED_PRIORITIES = (1, 1, 1, 2, 2, 3, 4)
SIZES = (1, 2, 4, 8)


def decision() -> list[Table]:
    """Time one replica that must preempt, at 1,000, 10,000 and 100,000 running jobs."""
    limits = budgets()["decision"]
    table = Table(
        "One decision with victims, one replica of 1, 2, 4 or 8 GPUs",
        ("running jobs", "nodes", "warm median ms", "p95 ms", "budget ms", "", "first use ms", "budget ms ", " ",
         "peers' rule ms", "times slower", "memory MiB"),
        note="First use: the first decision for a request size, which builds its indexes (median of four sizes).",
    )  # fmt: skip
    for running in (1_000, 10_000, 100_000):
        given = full_cluster(running // 8, 1, (1, 1), MIXED_PRIORITIES, 1)
        state = state_of(given)
        settle()
        first, warm = _decisions(state, given, rounds=100)
        theirs = _peers_ms(given, repeat=3)
        seen, cold = middle(warm), middle(first)
        table.add(
            f"{running:,}", given.nodes, ms(seen), ms(sorted(warm)[len(warm) * 95 // 100]),
            limits[f"running_{running}"], verdict(seen, limits[f"running_{running}"]),
            ms(cold), limits["first_use"], verdict(cold, limits["first_use"]),
            ms(theirs), f"{theirs / seen:.0f}", _memory_mib(),
        )  # fmt: skip
    return [table]


def growth() -> list[Table]:
    """Time the same decision on 100 to 10,000 nodes: it must not grow with the cluster (A4)."""
    table = Table(
        "Growth of one decision with the cluster",
        (
            "nodes",
            "running jobs",
            "warm median ms",
            "against 100 nodes",
            "peers' rule ms",
            "against 100 nodes ",
        ),
    )
    base: tuple[float, float] | None = None
    for nodes in (100, 1_000, 10_000):
        given = full_cluster(nodes, 1, (1, 1), MIXED_PRIORITIES, 2)
        state = state_of(given)
        settle()
        _, warm = _decisions(state, given, rounds=60)
        seen, theirs = middle(warm), _peers_ms(given, repeat=3)
        base = base or (seen, theirs)
        table.add(
            f"{nodes:,}", f"{len(given.jobs):,}", ms(seen), f"x{seen / base[0]:.2f}", ms(theirs),
            f"x{theirs / base[1]:.1f}",
        )  # fmt: skip
    return [table]


def gang() -> list[Table]:
    """Time a gang of 200 replicas of a whole node each, on 1,000 nodes."""
    limits = budgets()["gang"]
    table = Table(
        "A 200-replica gang that must preempt, 1,000 nodes",
        (
            "victims",
            "median ms",
            "worst ms",
            "budget ms",
            "",
            "peers' rule ms",
            "their victims",
            "cost, times ours",
        ),
    )
    for gpus_each, name in ((8, "victims_200"), (1, "victims_1600")):
        times, peer_times, ratios, counts, theirs = [], [], [], [], []
        for seed in range(7):
            given = full_cluster(1_000, gpus_each, (200, 8), (1, 2, 3), seed)
            state = state_of(given)
            settle()
            _warm_up(state, given)
            submit = _request("gang", 200, 8, given.now_ms)
            apply(state, ev.JobSubmitted(submit), given.now_ms)
            made, took = timed(partial(plan, state, given.now_ms))
            ours = _preemption(made)
            problem = to_problem(given)
            room = peers.Room(problem)
            chosen, peer_took = timed(partial(peers.evict, problem, room))
            assert chosen is not None
            times.append(took)
            peer_times.append(peer_took)
            counts.append(len(ours.victims))
            theirs.append(len(chosen))
            ratios.append(sum(u.cost for u in chosen) / ours.cost)
        table.add(
            middle(counts), ms(middle(times)), ms(max(times)), limits[name], verdict(middle(times), limits[name]),
            ms(middle(peer_times)), middle(theirs), f"{middle(ratios):.2f}",
        )  # fmt: skip
    return [table]


def reclaims() -> list[Table]:
    """Time the plans in which 4,000 waiting one-GPU jobs each take one GPU, on 500 full nodes; each follows the last at once (A8)."""
    limit = budgets()["reclaims"]["whole_plan_seconds"]
    table = Table(
        "4,000 one-GPU reclaims on 500 nodes, until all is decided",
        (
            "decisions",
            "plans",
            "longest s",
            "all s",
            "budget s",
            "",
            "peers' rule s (search only)",
            "times slower",
        ),
    )
    given = full_cluster(500, 1, (1, 1), (1, 2, 3), 3)
    state = state_of(given)
    settle()
    for number in range(4_000):
        apply(state, ev.JobSubmitted(_request(f"waiting-{number:04}", 1, 1, given.now_ms)), given.now_ms)
    decisions, times, cut_short = 0, list[float](), True
    holds = 0
    while cut_short:
        made, took = timed(partial(plan, state, given.now_ms))
        cut_short = made.cut_short
        times.append(took)
        decisions += len(made.decisions)
        holds += sum(1 for d in made.decisions if isinstance(d, say.Hold))
    assert holds == 4_000, holds
    took = sum(times)
    theirs = _peers_ms(given, repeat=5) * 4_000
    table.add(
        decisions, len(times), f"{max(times) / 1000:.2f}", f"{took / 1000:.2f}", limit, verdict(took / 1000, limit), f"{theirs / 1000:.1f}",
        f"{theirs / took:.1f}",
    )  # fmt: skip
    return [table]


def _decisions(state: State, given: Instance, rounds: int) -> tuple[list[float], list[float]]:
    """Times in ms of deciding about one arrival after another: the first of each size, and the warm ones.

    After each decision its victims leave and the preemptor starts.
    """
    first: list[float] = []
    warm: list[float] = []
    now_ms = given.now_ms
    for number in range(rounds + 2 * len(SIZES)):
        now_ms += 1_000
        spec = _request(f"arrival-{number}", 1, SIZES[number % len(SIZES)], now_ms)
        apply(state, ev.JobSubmitted(spec), now_ms)
        made, took = timed(partial(plan, state, now_ms))
        assert _preemption(made).victims
        if number < len(SIZES):
            first.append(took)
        elif number >= 2 * len(SIZES):
            warm.append(took)
        for job_id in list(state.leaving_jobs):
            apply(state, ev.JobLeft(job_id), now_ms)
        plan(state, now_ms)
    return first, warm


def _warm_up(state: State, given: Instance) -> None:
    """Build the gang's indexes: plan a small gang of the same shape, then roll it back."""
    state.begin()
    apply(state, ev.JobSubmitted(_request("warm-up", 2, 8, given.now_ms)), given.now_ms)
    plan(state, given.now_ms)
    state.rollback()


def _request(name: str, replicas: int, gpus: int, now_ms: int) -> JobSpec:
    shape = Shape(gpus * WHOLE_GPU, 0, 0)
    return JobSpec(JobId(name), "org", (ReplicaGroup(replicas, shape),), now_ms, priority=9)


def _preemption(made: say.Plan) -> say.Preemption:
    for decision_made in made.decisions:
        if isinstance(decision_made, say.Hold | say.Start) and decision_made.preemption is not None:
            return decision_made.preemption
    raise AssertionError("nothing was preempted")


def _peers_ms(given: Instance, repeat: int) -> float:
    """Median time in ms of the peers' search over the four request sizes."""
    times = []
    for size in SIZES:
        problem = to_problem(replace(given, request=Request(1, size)))
        room = peers.Room(problem)
        for _ in range(repeat):
            chosen, took = timed(partial(peers.evict, problem, room))
            assert chosen is not None
            times.append(took)
    return middle(times)


def _memory_mib() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}"
