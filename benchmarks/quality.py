"""How good are our victims? Against the exact optimum (HiGHS) and the peers' rule, on random full clusters.

The peers' rule comes as it is usually written and with what we know of checkpoints; and all of it once more where no
job saves, so that nobody has that knowledge. And what does P5's ladder cost, under which our optimum is one?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

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
RESAMPLES = 1_000
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
    free_optimum: int  # without the ladder of P5
    informed: int  # the cost of the informed peers' victims
    informed_lost: int
    informed_jobs: int


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
    blind: list[Blind] = []
    for gpus in CLUSTERS:
        results = [_one(given) for given in instances(PER_CLUSTER, gpus, first_seed=1000)]
        everything += results
        blind += [_nobody_saves(given) for given in instances(PER_CLUSTER, gpus, first_seed=1000)]
        for gang in (False, True):
            _add(closeness, beside, str(gpus), gang, [r for r in results if r.gang is gang], limits)
    for gang in (False, True):
        _add(closeness, beside, "all", gang, [r for r in everything if r.gang is gang], limits)
    return [closeness, beside, _fair(everything, blind), _ladder(everything)]


@dataclass(frozen=True, slots=True)
class Blind:
    """The costs of ours, of the usual rule's victims and of the informed rule's where no job ever saves."""

    gang: bool
    ours: int
    theirs: int
    informed: int


def _nobody_saves(given: Instance) -> Blind:
    never = replace(given, jobs=tuple(replace(job, checkpoint_ms=None) for job in given.jobs))
    problem, ours = to_problem(never), _our_victims(never)[0]
    usual, informed = (peers.evict(problem, informed=knows) for knows in (False, True))
    assert usual is not None
    assert informed is not None
    return Blind(
        given.request.replicas > 1, ours.cost, sum(u.cost for u in usual), sum(u.cost for u in informed)
    )


def _our_victims(given: Instance) -> tuple[say.Preemption, float]:
    """What the planner takes for the request, and in how many milliseconds."""
    state = state_of(given)
    apply(state, ev.JobSubmitted(request_of(given)), given.now_ms)
    made, took_ms = timed(lambda: plan(state, given.now_ms))
    ours = next(
        d.preemption for d in made.decisions if isinstance(d, say.Start | say.Hold) and d.job == PREEMPTOR
    )
    assert ours is not None
    return ours, took_ms


def _one(given: Instance) -> Result:
    ours, our_ms = _our_victims(given)
    problem = to_problem(given)
    best, exact_ms = timed(lambda: solve(problem, ladder=True))
    room = peers.Room(problem)
    theirs, peer_ms = timed(lambda: peers.evict(problem, room))
    informed = peers.evict(problem, room, informed=True)
    assert theirs is not None
    assert informed is not None
    jobs = {job.id: job for job in given.jobs}
    assert ours.cost >= best.cost, (given.seed, ours.cost, best.cost)
    return Result(
        given.request.replicas > 1, best.cost, ours.cost, sum(u.cost for u in theirs), our_ms, exact_ms, peer_ms,
        sum(lost_work(jobs[v.job], given.now_ms) for v in ours.victims),
        sum(lost_work(jobs[u.id], given.now_ms) for u in theirs),
        len(ours.victims), len(theirs),
        sum(jobs[v.job].gpus for v in ours.victims), sum(jobs[u.id].gpus for u in theirs),
        solve(problem, ladder=False).cost,
        sum(u.cost for u in informed), sum(lost_work(jobs[u.id], given.now_ms) for u in informed), len(informed),
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


def _fair(knowing: list[Result], blind: list[Blind]) -> Table:
    """The usual rule and the informed one, where checkpoints are known and where there are none."""
    table = Table(
        "The same knowledge for both: the peers' rule sorted by priority and lost work, and where no job saves",
        ("request", "checkpoints", "usual rule / ours: median", "sum", "95 %", "informed rule / ours: median", "sum ", "95 % ",
         "lost GPU-h ours", "usual", "informed", "jobs ours", "usual ", "informed "),
        note=(
            "Costs of all cases of the tables above. Informed: of equal priorities those go first that lose least, and not the newest; "
            f"all else is the same. Sum: of all costs, with the interval in which it lies for 95 % of {RESAMPLES:,} drawings of as many cases "
            "from these. Most of the distance to the usual rule is knowing the age of checkpoints; what is left beside the informed rule is "
            "the search over nodes. The usual rule evicts fewer jobs than ours, which takes several"
            " small ones where that loses less; the informed one evicts more."
        ),
    )  # fmt: skip
    for gang in (False, True):
        kind, these = "gang" if gang else "one replica", [r for r in knowing if r.gang is gang]
        table.add(
            kind, "known", *_beside([(r.theirs, r.ours) for r in these]), *_beside([(r.informed, r.ours) for r in these]),
            *(f"{sum(lost(r) for r in these) / GPU_HOUR:.0f}" for lost in LOST), *(sum(jobs(r) for r in these) for jobs in JOBS),
        )  # fmt: skip
        others = [b for b in blind if b.gang is gang]
        table.add(
            kind, "nobody saves", *_beside([(b.theirs, b.ours) for b in others]),
            *_beside([(b.informed, b.ours) for b in others]), *["–"] * (len(LOST) + len(JOBS)),
        )  # fmt: skip
    return table


Count = Callable[[Result], int]
LOST: tuple[Count, ...] = (lambda r: r.our_lost, lambda r: r.peer_lost, lambda r: r.informed_lost)
JOBS: tuple[Count, ...] = (lambda r: r.our_jobs, lambda r: r.peer_jobs, lambda r: r.informed_jobs)


def _ladder(results: list[Result]) -> Table:
    """What never going up a priority while lower ones suffice costs, exactly."""
    table = Table(
        "What the ladder of P5 costs: its optimum against the cheapest lawful set of any priorities",
        ("request", "cases", "free optimum exceeded in %", "median", "sum", "95 %"),
        note=(
            "Both by HiGHS, in the same unit, Σ lost work x 2^(priority - 1). The ladder never goes up to a priority while victims "
            "below suffice, whatever that costs: it is a promise to important work, and this is its price. `exact` above means exact "
            "under the ladder. Every decision prints what it would have cost without."
        ),
    )
    for gang in (False, True):
        these = [r for r in results if r.gang is gang and r.free_optimum]
        dearer = 100 * sum(1 for r in these if r.optimum > r.free_optimum) / len(these)
        table.add(
            "gang" if gang else "one replica", len(these), f"{dearer:.0f}",
            *_beside([(r.optimum, r.free_optimum) for r in these]),
        )  # fmt: skip
    return table


def _beside(pairs: Sequence[tuple[int, int]]) -> tuple[str, str, str]:
    """The median of the ratios, the ratio of the sums, and in which interval that lies when cases are drawn anew."""
    ratios = [theirs / ours for theirs, ours in pairs if ours]
    random = Random(1)
    drawn = sorted(_of_sums(random.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    low, high = drawn[RESAMPLES // 40], drawn[-RESAMPLES // 40]
    return f"{middle(ratios):.2f}", f"{_of_sums(pairs):.2f}", f"{low:.2f}–{high:.2f}"


def _of_sums(pairs: Sequence[tuple[int, int]]) -> float:
    return sum(theirs for theirs, _ in pairs) / sum(ours for _, ours in pairs)
