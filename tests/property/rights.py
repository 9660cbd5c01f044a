"""Who may take whom, said a second time and straight from the rules: P1, P2, P4, P11, P12, P15, Q8, I3, W3, S4.

The core's own `eligible` and `rights` are not used here; where they differ from this page, one of the two is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from quotatree.core import decisions as say
from quotatree.core.model.job import Claim, Idle
from quotatree.core.model.policy import Scope, SelfLevel
from quotatree.core.reasons import Step
from tests.property.fitting import devices_fit, quota_fits, suits
from tests.property.model import JobView, Model, Piece, total

BELOW_AND_BESIDE = [Step.SIBLINGS_ABOVE_MIN, Step.DESCENDANTS, Step.SIBLINGS]
ORDER = [step for step in Step if step not in BELOW_AND_BESIDE] + BELOW_AND_BESIDE
HOUR_MS = 3_600_000


def step_of(ledger: say.Preemption) -> Step:
    """Return by which step victims were taken; a job has taken them, so there is one."""
    assert ledger.preemptor is not None
    assert ledger.step is not None
    return ledger.step


def at_least(step: Step, first: Step) -> bool:
    return ORDER.index(step) >= ORDER.index(first)


def may_take(model: Model, taker: JobView, piece: Piece, step: Step, now_ms: int) -> bool:
    """Return whether this piece, by itself, is a lawful victim of `taker` at this step of P4."""
    victim = model.jobs[piece.job]
    if victim.id == taker.id:
        return False
    if piece.claim is Claim.IDLE:
        return share_pools(model, taker.quota, victim.quota)
    if piece.kind == "surplus" and model.root(victim.quota) == model.root(taker.quota):
        return True
    return bool(rules(model, taker, piece, step, now_ms))


def rules(model: Model, taker: JobView, piece: Piece, step: Step, now_ms: int) -> list[str]:
    """Return the rules by which a regular piece may be taken."""
    victim = model.jobs[piece.job]
    found = policies(model, taker, piece, step, now_ms)
    sibling = model.sibling_above(taker.quota, victim.quota)
    if sibling is not None and at_least(step, Step.RETURN) and _returns(model, taker, sibling, victim):
        found.append("return")
    return found


def policies(model: Model, taker: JobView, piece: Piece, step: Step, now_ms: int) -> list[str]:
    """Return those rules that a policy must allow: P1 and P2."""
    victim = model.jobs[piece.job]
    spec = model.quotas[taker.quota].spec
    found = []
    ran_long_enough = piece.kind == "hold" or now_ms - piece.started_ms >= min_runtime(model, victim.quota)
    scopes = {p.scope for p in spec.self_level if _names(p, taker, victim)} if ran_long_enough else set()
    sibling = model.sibling_above(taker.quota, victim.quota)
    above_min = sibling is not None and any(model.loan(sibling, model.used()))
    used = model.used()
    lent_below = any(
        any(model.loan(q, used)) for q in model.path(victim.quota) if model.below(taker.quota, q)
    )
    if victim.quota == taker.quota and scopes & {Scope.OWN, Scope.LEVEL} and at_least(step, Step.OWN):
        found.append("own")
    if sibling is not None and scopes & {Scope.SIBLINGS, Scope.LEVEL}:
        if at_least(step, Step.SIBLINGS):
            found.append("sibling")
        elif at_least(step, Step.SIBLINGS_ABOVE_MIN) and above_min:
            found.append("sibling down to min")
    child = spec.child_level
    if (
        child is not None
        and not child.off
        and model.below(taker.quota, victim.quota)
        and child.priorities.low <= victim.priority <= child.priorities.high
        and victim.module in {m.value for m in child.modules}
        and ran_long_enough
    ):
        if at_least(step, Step.DESCENDANTS):
            found.append("child")
        elif at_least(step, Step.SIBLINGS_ABOVE_MIN) and lent_below:
            found.append("child down to min")
    return found


def _returns(model: Model, taker: JobView, sibling: str, victim: JobView) -> bool:
    """Return whether the taker may have the sibling's loan returned (P15).

    It must fit its own min beside what is kept for a guard and reserved below, and the sibling must be above its min in a
    resource that quotas are short of; if they are short of none, in one that the taker asks for.
    """
    loan = model.loan(sibling, model.used())
    if victim.priority > taker.priority or not any(loan) or not fits_own_min(model, taker):
        return False
    request = total(shape for _, shape in model.missing(taker))
    past = passes_guard(model, taker)
    if not quota_fits(model, taker.quota, request, loan=False, past_guard=past, own_only=True):
        return False
    short = []
    for i in range(3):
        alone = (request[0] * (i == 0), request[1] * (i == 1), request[2] * (i == 2))
        if not quota_fits(model, taker.quota, alone, loan=False, past_guard=past):
            short.append(i)
    kept = kept_from(model, taker, sibling)
    return any(loan[i] > kept[i] for i in short or [i for i in range(3) if request[i]])


def kept_from(model: Model, taker: JobView, borrower: str) -> tuple[int, int, int]:
    """Return what runs at the borrower itself, in jobs that its self-level would let take the claimant again (P15)."""
    strong = [
        piece.size
        for piece in model.pieces()
        if piece.claim is not Claim.IDLE
        and model.jobs[piece.job].quota == borrower
        and kept_from_one(model, taker, model.jobs[piece.job])
    ]
    return (sum(s[0] for s in strong), sum(s[1] for s in strong), sum(s[2] for s in strong))


def lawful_together(
    model: Model, taker: JobView, pieces: Sequence[Piece], step: Step, now_ms: int
) -> str | None:
    """Return what forbids taking exactly these pieces together: reserved (Q8), siblings not below min (P4, P15); or None."""
    before, after = model.used(), model.used(pieces)
    for quota in model.quotas.values():
        if quota.id in model.path(taker.quota):
            continue
        for i in range(3):
            if after[quota.id][i] < before[quota.id][i] and after[quota.id][i] < quota.spec.reserved[i]:
                return f"{quota.id} falls below its reserved part"
    bounded: dict[str, list[Piece]] = {}
    for piece in pieces:
        victim = model.jobs[piece.job]
        sibling = model.sibling_above(taker.quota, victim.quota)
        if piece.claim is Claim.IDLE or piece.kind == "surplus":
            continue
        by = set(rules(model, taker, piece, step, now_ms))
        lenders = [q for q in model.path(victim.quota) if q == sibling or model.below(taker.quota, q)]
        lenders = [q for q in lenders if any(model.loan(q, before))]
        if lenders and not {"sibling", "own", "child", "surplus"} & by:
            bounded.setdefault(lenders[-1], []).append(piece)
    for lender, taken in bounded.items():
        loan = model.loan(lender, before)
        if not _stops_in_time(taken, loan):
            return f"{lender} is taken from though back at its min"
        returned = [p for p in taken if "return" in rules(model, taker, p, step, now_ms)]
        kept = kept_from(model, taker, lender)
        rest = (loan[0] - kept[0], loan[1] - kept[1], loan[2] - kept[2])
        if returned and not _stops_in_time(returned, rest):
            return f"{lender} returns what its own jobs could take again"
    return None


def _stops_in_time(taken: Sequence[Piece], amount: Sequence[int]) -> bool:
    """Return whether, in some order, each piece is taken while less than the amount is, in one resource."""
    return any(
        amount[i] > 0 and sum(p.size[i] for p in taken if p is not last) < amount[i]
        for i in range(3)
        for last in taken
    )


def _names(policy: SelfLevel, taker: JobView, victim: JobView) -> bool:
    """Return whether this one policy lets the one job take the other, wherever they are (P1)."""
    return (
        not policy.off
        and policy.high.low <= taker.priority <= policy.high.high
        and policy.low.low <= victim.priority <= policy.low.high
        and victim.priority < taker.priority
        and victim.module in {m.value for m in policy.modules}
    )


def may_borrow(model: Model, job: JobView) -> bool:
    """Return whether the job may borrow (P3).

    A loan needs self-level with scope siblings or level, a parent, a quota that is not shrinking (Q5), and no unused
    reserved part below (Q8).
    """
    quota = model.quotas[job.quota]
    return (
        quota.parent is not None
        and not (quota.shrinking and any(model.loan(quota.id, model.used())))
        and any(
            policy.scope is not Scope.OWN
            and not policy.off
            and policy.high.low <= job.priority <= policy.high.high
            for policy in quota.spec.self_level
        )
        and not _reserved_below(model, job)
    )


def _reserved_below(model: Model, job: JobView) -> bool:
    """Return whether a loan of the quota would put an unused reserved part below it out of reach (Q8)."""
    request = total(shape for _, shape in model.missing(job))
    used, bounds = model.used(), model.quotas[job.quota].min
    below = [q for q in model.quotas if job.quota in model.path(q)[1:]]
    return any(
        request[i] and bounds[i] is not None and model.quotas[q].spec.reserved[i] > used[q][i]
        for q in below
        for i in range(3)
    )


def passes_guard(model: Model, job: JobView) -> bool:
    """Return whether the job may use what a guard keeps: it is the guarded job, or could evict it (S10)."""
    guarded = model.guards.get(model.root(job.quota))
    if guarded is None or guarded[0] == job.id:
        return True
    waiting = model.jobs[guarded[0]]
    as_if_running = Piece(waiting.id, "hold", Claim.REGULAR, ())
    if policies(model, job, as_if_running, Step.SIBLINGS, 0):
        return True
    sibling = model.sibling_above(job.quota, waiting.quota)
    if sibling is None or waiting.priority > job.priority:
        return False
    request = total(shape for _, shape in model.missing(waiting))
    used, kept = model.used()[sibling], kept_from(model, job, sibling)
    if waiting.quota == sibling and kept_from_one(model, job, waiting):
        kept = (kept[0] + request[0], kept[1] + request[1], kept[2] + request[2])
    mins = model.quotas[sibling].min
    return any(m is not None and used[i] + request[i] - m > max(0, kept[i]) for i, m in enumerate(mins))


def kept_from_one(model: Model, taker: JobView, other: JobView) -> bool:
    """Return whether the self-level of the other's quota lets it take the claimant, which waits beside it."""
    return any(
        policy.scope is not Scope.OWN and _names(policy, other, taker)
        for policy in model.quotas[other.quota].spec.self_level
    )


def fits_own_min(model: Model, job: JobView) -> bool:
    request = total(shape for _, shape in model.missing(job))
    used = model.used()[job.quota]
    mins = model.quotas[job.quota].min
    return all(m is None or not request[i] or used[i] + request[i] <= m for i, m in enumerate(mins))


def share_pools(model: Model, first: str, second: str) -> bool:
    def pools(quota: str) -> set[str]:
        return {pool for pool, _ in model.quotas[model.root(quota)].spec.draws}

    return bool(pools(first) & pools(second))


def min_runtime(model: Model, quota: str) -> int:
    """Return the min_runtime of the nearest quota upwards that sets one, in ms; 0 if none does (P11)."""
    found = [model.quotas[q].spec.min_runtime_ms for q in model.path(quota)]
    return next((ms for ms in found if ms is not None), 0)


def preemption_delay(model: Model, quota: str) -> int:
    found = [model.quotas[q].spec.preemption_delay_ms for q in model.path(quota)]
    return next((ms for ms in found if ms is not None), 0)


def ladder(model: Model, piece: Piece) -> int:
    """P5: idle borrowers and surplus count as priority 0."""
    return 0 if piece.claim is Claim.IDLE or piece.kind == "surplus" else model.jobs[piece.job].priority


def lost_work(model: Model, piece: Piece, now_ms: int, outage_ms: int) -> int:
    """Return the work that evicting the piece alone would lose, in milli-GPU x milliseconds (P6)."""
    if piece.kind == "hold":
        return 0
    job = model.jobs[piece.job]
    gpu = piece.size[0] or 100
    lost_ms = 40_000 if gpu <= 8000 else 60_000
    if piece.kind != "surplus":
        if job.module == "EAS":
            lost_ms += outage_ms if piece.kind == "core" else outage_ms // job.running()
        else:
            age = now_ms - max(piece.started_ms, job.checkpoint_ms or 0)
            interval = job.spec.checkpoint_interval_ms
            if job.checkpoint_ms is None and interval is not None:
                age %= interval
            lost_ms += min(age, HOUR_MS) if job.module == "DSW" else age
    return gpu * max(0, lost_ms)


def cost(model: Model, piece: Piece, now_ms: int, outage_ms: int) -> int:
    """Return lost work, doubled with every priority (P5), with that of the replicas a core takes along (P12)."""
    pieces = [piece]
    if piece.kind == "core":
        pieces += [p for p in model.jobs[piece.job].pieces() if p.kind in ("wanted", "surplus")]
    return sum(lost_work(model, p, now_ms, outage_ms) << max(0, ladder(model, p) - 1) for p in pieces)


def over_limit(model: Model, job: JobView) -> bool:
    """Return whether the job would exceed an amount limit of its owner (W3, W4)."""
    request = total(shape for _, shape in model.missing(job))[0]
    for quota, subject, low, high, amount in model.limits:
        subjects = job.spec.subjects
        if quota != job.quota or subject not in subjects or not low <= job.priority <= high:
            continue
        used = sum(
            piece.size[0]
            for piece in model.pieces()
            for owner in [model.jobs[piece.job]]
            if owner.quota == quota and subject in owner.spec.subjects and low <= owner.priority <= high
        )
        if used + request > amount:
            return True
    return False


def can_never_fit(model: Model, job: JobView) -> bool:
    """Return whether the job would not fit if all others left. What runs of it does not leave for its further replicas."""
    regular = [p for p in job.pieces() if p.kind != "hold" and p.claim is Claim.REGULAR]
    stands = [place.shape for piece in regular for place in piece.places]
    request = total([*stands, *(shape for _, shape in model.missing(job))])
    for quota in model.path(job.quota):
        if quota == job.quota and may_borrow(model, job):
            continue
        if any(m is not None and request[i] > m for i, m in enumerate(model.quotas[quota].min)):
            return True
    return not ready_nodes_hold(model, job)


def ready_nodes_hold(model: Model, job: JobView) -> bool:
    """Return whether the replicas of each shape, those that run included, would have room on the ready nodes of the tree, if these
    were empty."""
    pools = {pool for pool, _ in model.quotas[model.root(job.quota)].spec.draws}
    runs = [place.shape for piece in job.pieces() if piece.kind != "hold" for place in piece.places]
    shapes = [*runs, *(shape for _, shape in model.missing(job))]
    for shape in set(shapes):
        slots = 0
        for name, node in model.nodes.items():
            if node.pool not in pools or not suits(model, name, shape):
                continue
            here = [1 << 30]
            if shape.gpu_milli:
                whole, fraction = shape.gpu_milli // 1000, shape.gpu_milli
                well = node.gpus - len(node.shut)
                here.append(well // whole if whole else well * (1000 // fraction))
            if shape.cpu_milli:
                here.append(node.cpu // shape.cpu_milli)
            if shape.memory_mib:
                here.append(node.memory // shape.memory_mib)
            slots += min(here)
        if slots < shapes.count(shape):
            return False
    return True


def is_passed(model: Model, job: JobView) -> bool:
    """Return whether every strategy passes over the job, so that it is no head (S0); a guarded job is passed too (S10)."""
    if model.guards.get(model.root(job.quota), ("",))[0] == job.id:
        return True
    if job.idle is Idle.ONLY or job.hold is not None or over_limit(model, job) or can_never_fit(model, job):
        return True
    wanted = [shape for _, shape in model.missing(job)]  # do they fit on the nodes if all are empty?
    return not devices_fit(model, model.root(job.quota), wanted, model.pieces())
