"""What must be written so that a crash right after the commit loses nothing: the rows of one batch.

Numbers of events, decisions and audit entries are given here, by counters that only the loop has, so that they rise
without a gap even when a commit fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from quotatree.codec import encode, tag_of
from quotatree.control.accounting import claim_of
from quotatree.control.decision_effects import lost_work
from quotatree.control.turn import Turn
from quotatree.control.world import World
from quotatree.core import (
    GPU,
    Code,
    Job,
    JobId,
    Phase,
    job_record,
    ledger_entries,
    node_record,
    pool_record,
    quota_record,
)
from quotatree.core import decisions as say
from quotatree.store.load import Counters
from quotatree.store.rows import (
    AuditRow,
    Batch,
    DecisionRow,
    DeliveryRow,
    Drop,
    EventRow,
    JobRow,
    LossRow,
    NodeRow,
    PoolRow,
    PreemptionRow,
    QuotaRow,
    Row,
    VictimRow,
)


def gather(turn: Turn, holder: str, epoch: int) -> tuple[Batch, Counters]:
    """The batch to commit, and the counters as they will be after it."""
    counters = replace(turn.world.counters)
    counters.batch += 1
    rows: list[Row] = [*_state_rows(turn), *turn.rows.values()]
    rows += _decision_rows(turn, counters)
    rows += _event_rows(turn, counters)
    rows += _audit_rows(turn, counters)
    drops = [*turn.drops, *_drops(turn)]
    batch = Batch(
        at_ms=turn.now_ms,
        holder=holder,
        epoch=epoch,
        number=counters.batch,
        puts=tuple(rows),
        drops=tuple(drops),
        directory=turn.directory_differences(),
    )
    return batch, counters


def _state_rows(turn: Turn) -> Iterator[Row]:
    state, world, touched = turn.state, turn.world, turn.state.touched
    assert touched is not None
    for job_id in {**touched.jobs, **turn.cards}:
        job = state.jobs.get(job_id)
        if job is not None:  # a job that was submitted and refused is still among the touched
            yield JobRow(job_record(state, job), world.cards[job_id], _reason_code(world, job))
    for quota_id in touched.quotas:
        quota = state.quotas.get(quota_id)
        if quota is not None:
            yield QuotaRow(quota_id, quota_record(state, quota), world.version("quota", quota_id))
    for name in touched.nodes:
        node = state.node_by_name.get(name)
        if node is not None:
            yield NodeRow(name, node_record(node), world.version("node", name))
    for pool in touched.pools:
        if pool in state.pools:
            yield PoolRow(pool, pool_record(state, pool), world.version("pool", pool))


def _reason_code(world: World, job: Job) -> str:
    """Public reason code of the job's phase; for a waiting job, that of its last Wait decision, if it has one.

    A waiting job over an amount limit gets OverAmountLimit: plans pass it over without a decision (W4). A running one
    that misses replicas gets ReplicasRun, unless places are promised to it: what was decided last is not why (P12).
    """
    if job.phase is not Phase.WAITING:
        return Code.ReplicasRun.name if job.missing_replicas and job.hold is None else job.reason
    waits = job.quota.queue.of_job.get(job.id)
    if waits is not None:
        wanted, used = waits.request.gpu_milli, world.state.limit_used
        if any(used.get(limit, 0) + wanted > limit.gpu_milli for limit in waits.limits):
            return Code.OverAmountLimit.name
    return job.told.code.name if job.told is not None else job.reason


def _drops(turn: Turn) -> Iterator[Drop]:
    touched = turn.state.touched
    assert touched is not None
    for quota_id in touched.quotas:
        if quota_id not in turn.state.quotas:
            yield Drop(QuotaRow, (quota_id,))
    for pool in touched.pools:
        if pool not in turn.state.pools:
            yield Drop(PoolRow, (pool,))


def _decision_rows(turn: Turn, counters: Counters) -> Iterator[Row]:
    """Rows of the decisions and their preemptions, kept for ever (P13). A Wait has none: the job's row says why."""
    counted = {
        (one.job, one.preemptor, one.replicas[:1]) for one in turn.decisions if isinstance(one, say.Evict) and one.counts
    }  # fmt: skip
    for decision in turn.decisions:
        if isinstance(decision, say.Wait):
            continue
        counters.decision += 1
        spec = turn.state.jobs[decision.job].spec
        yield DecisionRow(
            seq=counters.decision,
            at_ms=turn.now_ms,
            kind=tag_of(type(decision)),
            job=decision.job,
            workspace=spec.workspace,
            quota=spec.quota,
            reason_code=decision.reason.code.name,
            body=encode(decision, say.Decision),
        )
    for entry in ledger_entries(turn.state, turn.decisions):
        yield from _preemption_rows(turn, entry, counters)
        yield from _loss_rows(turn, entry, counters.preemption, counted)


def _taker(turn: Turn, entry: say.Preemption) -> tuple[str, str]:
    """For which workspace and quota work was ended; without a job that takes its place, the quota is that of the reason, if any."""
    if entry.preemptor is not None:
        spec = turn.state.jobs[entry.preemptor].spec
        return spec.workspace, spec.quota
    return "", "" if entry.reason is None else dict(entry.reason.facts).get("quota", "")


def _preemption_rows(turn: Turn, entry: say.Preemption, counters: Counters) -> Iterator[Row]:
    counters.preemption += 1
    jobs = turn.state.jobs
    workspace, quota = _taker(turn, entry)
    yield PreemptionRow(
        seq=counters.preemption,
        at_ms=turn.now_ms,
        preemptor=entry.preemptor or "",
        workspace=workspace,
        quota=quota,
        step="" if entry.step is None else encode(entry.step),
        cost=entry.cost,
        body=encode(entry),
    )
    for position, victim in enumerate(entry.victims):
        yield VictimRow(
            preemption=counters.preemption,
            position=position,
            job=victim.job,
            workspace=jobs[victim.job].spec.workspace,
            quota=victim.quota,
            priority=victim.priority,
            gpu_milli=victim.freed[GPU],
            lost_work=lost_work(turn.world, victim.job, victim.lost_work),
            cost=victim.cost,
        )


def _loss_rows(
    turn: Turn, entry: say.Preemption, number: int, counted: set[tuple[JobId, JobId | None, tuple[int, ...]]]
) -> Iterator[Row]:
    """Rows of what each victim lost. `counted`: (job, preemptor, first replica) of the evictions that count (P11)."""
    jobs, (workspace, quota) = turn.state.jobs, _taker(turn, entry)
    for position, victim in enumerate(entry.victims):
        spec = jobs[victim.job].spec
        yield LossRow(
            preemption=number, position=position, at_ms=turn.now_ms,
            lost_work=lost_work(turn.world, victim.job, victim.lost_work),
            preempted=int((victim.job, entry.preemptor, victim.replicas[:1]) in counted),
            claim=claim_of(turn.world, victim.job, victim.replicas), workspace=spec.workspace, quota=victim.quota,
            owner=turn.world.cards[victim.job].owner, module=spec.module.value, taker_workspace=workspace,
            taker_quota=quota if entry.preemptor is not None else "", cause="" if victim.rule is None else victim.rule.name,
        )  # fmt: skip


def _event_rows(turn: Turn, counters: Counters) -> Iterator[Row]:
    """Rows of the events, each followed by an entry in the outbox for every webhook that wants it."""
    webhooks = [hook for hook in turn.world.webhooks.values() if hook.active]
    for kind, job, workspace, quota, body in turn.told:
        counters.event += 1
        yield EventRow(
            seq=counters.event,
            at_ms=turn.now_ms,
            kind=kind,
            workspace=workspace,
            quota=quota,
            job=job,
            body=dict(body),
        )
        for hook in webhooks:
            if hook.workspace in (None, workspace) and (not hook.kinds or kind in hook.kinds):
                name = f"{counters.event}-{hook.id}"
                yield DeliveryRow(name, hook.id, counters.event, turn.now_ms)


def _audit_rows(turn: Turn, counters: Counters) -> Iterator[Row]:
    for actor, action, target, workspace, body in turn.audited:
        counters.audit += 1
        yield AuditRow(
            seq=counters.audit,
            at_ms=turn.now_ms,
            actor=actor,
            action=action,
            target=target,
            workspace=workspace,
            body=dict(body),
        )


def finished_jobs(turn: Turn) -> list[JobId]:
    """Jobs that are over and have left their devices: memory can forget them once the batch is committed."""
    touched = turn.state.touched
    assert touched is not None
    found = []
    for job_id in touched.jobs:
        job = turn.state.jobs.get(job_id)
        if job is not None and not job.leaving and turn.world.cards[job_id].ended_ms is not None:
            found.append(job_id)
    return found
