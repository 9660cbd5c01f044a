"""Who occupied how many GPUs, for how long, and by which right: guaranteed, on loan or idle?

At the end of every batch each run that changed is compared with its open stretches in the store; where the amount under a
claim is another one, the stretch is closed and a new one is opened. So the stretches of a run add up to its placements, to
the millisecond.

A replica is idle or regular as its unit is. Regular work is on loan as far as its own quota stands above its min (P3): a
loan is a figure of the quota, so the runs that began last are taken for it, of a run the replicas with the highest numbers.
A replica that was told to stop keeps its claim until it has left its devices; a hold occupies none, and counts for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import heapify, heappop
from typing import Final

from quotatree.control.turn import Turn
from quotatree.control.world import Share, Usage, World
from quotatree.core import GPU, Claim, Job, JobId, Quota, loan
from quotatree.store.rows import UsageRow

GUARANTEED: Final = "guaranteed"
LOAN: Final = "loan"
IDLE: Final = "idle"
DAY_MS: Final = 86_400_000
NOTHING: Final = Usage({}, {})


def account(turn: Turn) -> None:
    """Close and open the stretches of all runs that this batch has changed."""
    state, world, touched = turn.state, turn.world, turn.state.touched
    assert touched is not None
    jobs = [state.jobs[name] for name in touched.jobs if name in state.jobs]
    shares = {job.id: _shares(world, job) for job in jobs}
    quotas = {quota.id: quota for job in jobs for quota in job.quota.path}
    quotas |= {name: state.quotas[name] for name in touched.quotas if name in state.quotas}
    for quota in quotas.values():
        _lend(world, quota, shares)
    for name, found in shares.items():
        _put(turn, state.jobs[name], found)


def claim_of(world: World, job: JobId, replicas: tuple[int, ...]) -> str:
    """The claim of most of what these replicas of a job occupy; guaranteed if they occupy nothing, as a hold."""
    usage = world.usage.get(job)
    known = {} if usage is None else usage.shares
    found = _by_claim({replica: known[replica] for replica in replicas if replica in known})
    return max(found, key=lambda claim: found[claim])


def open_usage(world: World, rows: Iterable[UsageRow]) -> int:
    """Set `world.usage` from the stretches that a store has open, once everything else of the world is there.

    Return how many are of no job that is there. They are left out: the books are mended before a server leads, and a copy that
    a standby answers from, or a planner that must go on, needs them for nothing.
    """
    stretches: dict[JobId, dict[str, UsageRow]] = {}
    strays = 0
    for row in rows:
        if row.job in world.state.jobs:
            stretches.setdefault(JobId(row.job), {})[row.claim] = row
        else:
            strays += 1
    jobs = {name: world.state.jobs[name] for name in stretches}
    shares = {name: _shares(world, job) for name, job in jobs.items()}
    for quota in world.state.quotas.values():
        _lend(world, quota, shares)
    for name, job in jobs.items():
        found = _with_leavers(job, shares[name], stretches[name])
        world.usage[name] = Usage(found, stretches[name])
        if _live_loan(job, found):
            world.on_loan.setdefault(job.quota.id, {})[name] = None
    return strays


def _shares(world: World, job: Job) -> dict[int, Share]:
    """What each replica of a job occupies, without loans; one that is leaving keeps what it had."""
    known = world.usage.get(job.id)
    idle = _idle_replicas(job)
    found = {}
    for replica, place in world.places.get(job.id, {}).items():
        had = known.shares.get(replica) if known is not None and replica in job.leaving else None
        found[replica] = had or Share(place.gpu_milli, replica in idle)
    return found


def _idle_replicas(job: Job) -> set[int]:
    units = [*([job.core] if job.core is not None else []), *job.extras.values()]
    return {place.replica for unit in units if unit.cls.claim is Claim.IDLE for place in unit.places}


# -- loans ---------------------------------------------------------------------------------------------------------------


def _lend(world: World, quota: Quota, shares: dict[JobId, dict[int, Share]]) -> None:
    """Set in `shares` which replicas of the quota's own jobs are on loan; jobs whose loan changes are added to it."""
    left = max(0, loan(quota, GPU) - _held_milli(quota))
    before = dict(world.on_loan.get(quota.id, {}))
    if not left and not before:
        return
    newest = [
        (-world.runs[name].started_ms, name) for name, job in quota.jobs.items() if job.core is not None
    ]
    heapify(newest)
    while newest and left:
        name = heappop(newest)[1]
        before.pop(name, None)
        left = _lend_to(world, quota.jobs[name], left, shares)
    for name in before:
        if name in quota.jobs:  # else it is over, and leaves as what it was
            _lend_to(world, quota.jobs[name], 0, shares)


def _lend_to(world: World, job: Job, left: int, shares: dict[JobId, dict[int, Share]]) -> int:
    """Put up to `left` milli-GPU of a job on loan; return what is left of it."""
    found = shares.setdefault(job.id, {}) or _shares(world, job)
    for replica in sorted(found, reverse=True):
        share = found[replica]
        if not share.idle and replica not in job.leaving:
            part = min(left, share.gpu_milli)
            left -= part
            found[replica] = share._replace(loan_milli=part)
    shares[job.id] = found
    return left


def _held_milli(quota: Quota) -> int:
    """GPUs that count in the quota's own use and are not occupied yet (P9)."""
    holds = (job.hold.unit for job in quota.tree.held.values() if job.quota is quota and job.hold is not None)
    return sum(unit.footprint.gpu_milli for unit in holds if unit.cls.claim is Claim.REGULAR)


def _live_loan(job: Job, shares: dict[int, Share]) -> bool:
    return any(share.loan_milli for replica, share in shares.items() if replica not in job.leaving)


def _with_leavers(job: Job, shares: dict[int, Share], stretches: dict[str, UsageRow]) -> dict[int, Share]:
    """The shares, with those of leaving replicas as the open stretches have them beyond what the others occupy."""
    going = [replica for replica in shares if replica in job.leaving]
    if not going:
        return shares
    staying = _by_claim({replica: share for replica, share in shares.items() if replica not in job.leaving})
    rest = {claim: row.gpu_milli - staying.get(claim, 0) for claim, row in stretches.items()}
    found = dict(shares)
    for replica in going:
        milli = shares[replica].gpu_milli
        idle = rest.get(IDLE, 0) >= milli > 0
        lent = 0 if idle else max(0, min(milli, rest.get(LOAN, 0)))
        rest[IDLE] = rest.get(IDLE, 0) - (milli if idle else 0)
        rest[LOAN] = rest.get(LOAN, 0) - lent
        found[replica] = Share(milli, idle, lent)
    return found


# -- stretches -----------------------------------------------------------------------------------------------------------


def _by_claim(shares: dict[int, Share]) -> dict[str, int]:
    """Milli-GPU under each claim; a run that occupies no GPU is guaranteed 0."""
    found: dict[str, int] = {}
    for gpu_milli, idle, loan_milli in shares.values():
        for claim, part in (
            (IDLE, gpu_milli if idle else 0),
            (LOAN, loan_milli),
            (GUARANTEED, 0 if idle else gpu_milli - loan_milli),
        ):
            if part:
                found[claim] = found.get(claim, 0) + part
    return found or {GUARANTEED: 0}


def _put(turn: Turn, job: Job, shares: dict[int, Share]) -> None:
    """Close the open stretches of a job that are not right any more, and open those that are missing."""
    world, state = turn.world, turn.state
    known, run = world.usage.get(job.id), world.runs.get(job.id)
    if known is None and run is None:
        return
    before = {} if known is None else known.stretches
    wanted = {} if run is None else _by_claim(shares)
    begins = run is not None and all(row.run != run.run for row in before.values())
    now: dict[str, UsageRow] = {}
    for claim, row in before.items():
        if run is not None and row.run == run.run and wanted.get(claim) == row.gpu_milli:
            now[claim] = row
        else:
            _close(turn, row)
    first = max(wanted, key=lambda claim: wanted[claim]) if begins else None
    for claim, milli in wanted.items():
        if run is not None and claim not in now:
            same = before.get(claim)  # one that began this very millisecond is written over
            began = same is not None and (same.run, same.from_ms, same.begins) == (run.run, turn.now_ms, 1)
            now[claim] = _open(turn, job, run.run, claim, milli, began or claim == first)
    if run is None:
        state.drop_entry(world.usage, job.id)
    else:
        state.put_entry(world.usage, job.id, Usage(shares, now))
    lenders = world.on_loan.setdefault(job.quota.id, {})
    if run is not None and _live_loan(job, shares):
        state.put_entry(lenders, job.id, None)
    elif job.id in lenders:
        state.drop_entry(lenders, job.id)


def _open(turn: Turn, job: Job, run: int, claim: str, gpu_milli: int, begins: bool) -> UsageRow:
    spec = job.spec
    row = UsageRow(
        job=job.id, run=run, claim=claim, from_ms=turn.now_ms, until_ms=None, gpu_milli=gpu_milli, begins=int(begins),
        workspace=spec.workspace, quota=spec.quota, owner=turn.world.cards[job.id].owner, module=spec.module.value,
    )  # fmt: skip
    turn.put_row((row.job, row.run, row.claim, row.from_ms), row)
    return row


def _close(turn: Turn, row: UsageRow) -> None:
    """Close a stretch, in pieces that each lie within one day."""
    for piece in days_of(row, turn.now_ms):
        turn.put_row((piece.job, piece.run, piece.claim, piece.from_ms), piece)


def days_of(row: UsageRow, until_ms: int) -> Iterator[UsageRow]:
    """The stretch up to `until_ms` as closed rows, none of which goes over midnight (UTC)."""
    from_ms, begins = row.from_ms, row.begins
    while True:
        midnight = (from_ms // DAY_MS + 1) * DAY_MS
        yield replace(row, from_ms=from_ms, until_ms=min(midnight, max(until_ms, from_ms)), begins=begins)
        if until_ms <= midnight:
            return
        from_ms, begins = midnight, 0
