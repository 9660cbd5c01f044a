"""How good are our victims? Against the exact optimum (HiGHS) and the peers' rule, on random full clusters."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import peers
from benchmarks.instances import Instance, instances, lost_work, to_problem
from benchmarks.measure import Table, budgets, middle, ms, timed, verdict
from benchmarks.world import PREEMPTOR, request_of, state_of
from exact.solve import solve
from quotatree.core import apply, plan
from quotatree.core import decisions as say
from quotatree.core import events as ev

CLUSTERS = (128, 512, 1024, 4096)
PER_CLUSTER = 120
GPU_HOUR = 1000 * 3_600_000


@dataclass(frozen=True, slots=True)
class Result:
    """The result of each rule for one instance. Costs and lost work in milli-GPU x ms."""

    gang: bool
    optimum: int
    ours: int
    theirs: int
    our_ms: float
    exact_ms: float
    peer_ms: float
    our_lost: int
    peer_lost: int
    our_jobs: int
    peer_jobs: int
    our_gpus: int
    peer_gpus: int


def quality() -> list[Table]:
    limits = budgets()["quality"]
    closeness = Table(
        "Victims' cost against the exact optimum under P5's ladder",
        ("GPUs", "request", "cases", "exact %", "mean excess %", "worst %", "", "ours ms (cold)", "HiGHS ms"),
        note="Cold: every case is a fresh state, so indexes are built within the time shown.",
    )
    beside = Table(
        "Beside the rule most peers use (priority, newest first, until it fits, put back in reverse)",
        ("GPUs", "request", "peers' cost / ours", "mean", "lost GPU-h ours", "peers", "jobs ours", "peers ",
         "GPUs ours", "peers  ", "peers ms"),
        note="Cost ratios: median, then mean over cases. Lost GPU-hours, jobs and GPUs evicted: sums over the cases.",
    )  # fmt: skip
    everything: list[Result] = []
    for gpus in CLUSTERS:
        results = [_one(given) for given in instances(PER_CLUSTER, gpus, first_seed=1000)]
        everything += results
        for gang in (False, True):
            _add(closeness, beside, str(gpus), gang, [r for r in results if r.gang is gang], limits)
    for gang in (False, True):
        _add(closeness, beside, "all", gang, [r for r in everything if r.gang is gang], limits)
    return [closeness, beside]


def _one(given: Instance) -> Result:
    state = state_of(given)
    apply(state, ev.JobSubmitted(request_of(given)), given.now_ms)
    made, our_ms = timed(lambda: plan(state, given.now_ms))
    ours = next(
        d.preemption for d in made.decisions if isinstance(d, say.Start | say.Hold) and d.job == PREEMPTOR
    )
    assert ours is not None
    problem = to_problem(given)
    best, exact_ms = timed(lambda: solve(problem, ladder=True))
    room = peers.Room(problem)
    theirs, peer_ms = timed(lambda: peers.evict(problem, room))
    assert theirs is not None
    assert best.cost is not None
    jobs = {job.id: job for job in given.jobs}
    assert ours.cost >= best.cost, (given.seed, ours.cost, best.cost)
    return Result(
        given.request.replicas > 1, best.cost, ours.cost, sum(u.cost for u in theirs), our_ms, exact_ms, peer_ms,
        sum(lost_work(jobs[v.job], given.now_ms) for v in ours.victims),
        sum(lost_work(jobs[u.id], given.now_ms) for u in theirs),
        len(ours.victims), len(theirs),
        sum(jobs[v.job].gpus for v in ours.victims), sum(jobs[u.id].gpus for u in theirs),
    )  # fmt: skip


def _add(
    closeness: Table, beside: Table, gpus: str, gang: bool, results: list[Result], limits: dict[str, float]
) -> None:
    if not results:
        return
    excess = [100 * (r.ours - r.optimum) / r.optimum for r in results if r.optimum]
    exact = 100 * sum(1 for r in results if r.ours == r.optimum) / len(results)
    mean = sum(excess) / len(excess)
    if gang:
        good = mean <= limits["gang_excess_percent"] and exact >= limits["gang_exact_percent"]
        judged = "within" if good else "MISSED"
    else:
        judged = verdict(limits["one_replica_exact_percent"], exact)
    kind = "gang" if gang else "one replica"
    closeness.add(
        gpus, kind, len(results), f"{exact:.1f}", f"{mean:.3f}", f"{max(excess):.1f}", judged,
        ms(middle([r.our_ms for r in results])), ms(middle([r.exact_ms for r in results])),
    )  # fmt: skip
    ratios = [r.theirs / r.ours for r in results if r.ours]
    beside.add(
        gpus, kind, f"{middle(ratios):.2f}", f"{sum(ratios) / len(ratios):.2f}",
        f"{sum(r.our_lost for r in results) / GPU_HOUR:.0f}", f"{sum(r.peer_lost for r in results) / GPU_HOUR:.0f}",
        sum(r.our_jobs for r in results), sum(r.peer_jobs for r in results),
        sum(r.our_gpus for r in results), sum(r.peer_gpus for r in results),
        ms(middle([r.peer_ms for r in results])),
    )  # fmt: skip
