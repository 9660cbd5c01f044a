"""What was, will or would be decided, in the words of the reader: their own jobs by name, others by priority and size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from quotatree.access.redaction import Reader
from quotatree.api.models.fields import amounts, number
from quotatree.api.models.jobs import PlaceOut, ReasonOut, reason_out
from quotatree.api.models.policies import policies_out
from quotatree.api.models.quota_views import AmountsOut, shown
from quotatree.codec import decode, tag_of
from quotatree.control.queries import Explained, Preview
from quotatree.core import GPU_SECOND, Exposure, Help
from quotatree.core import decisions as say
from quotatree.core.decisions import Preemption
from quotatree.store import LedgerEntry
from quotatree.store.rows import JobRow, PreemptionRow


class VictimOut(TypedDict):
    """`what` leaves: a core, a wanted or a surplus replica, an idle claim, a hold."""

    job: str
    what: str
    quota: str
    priority: int
    lost_gpu_seconds: float
    cost_gpu_seconds: float
    freed: AmountsOut


class TriedOut(TypedDict):
    step: str
    reason: ReasonOut


class PreemptionOut(TypedDict):
    """P13: who took what from whom, by which step, at which cost, and what was tried before."""

    preemptor: str
    step: str
    victims: list[VictimOut]
    demoted: list[str]
    cost_gpu_seconds: float
    cost_without_ladder_gpu_seconds: float
    highest_priority: int
    tried: list[TriedOut]


class DecisionOut(TypedDict):
    """`kind`: Start, Hold, Evict, Demote, Promote, Release, Stop, Fail, Alarm or Wait; the rest as far as it applies."""

    kind: str
    job: str
    reason: ReasonOut
    run: NotRequired[int]
    claim: NotRequired[str]
    step: NotRequired[str]
    surplus: NotRequired[bool]
    grows: NotRequired[bool]
    places: NotRequired[list[PlaceOut]]
    waiting_on: NotRequired[list[str]]
    expires_ms: NotRequired[int | None]
    what: NotRequired[str]
    replicas: NotRequired[list[int]]
    preemptor: NotRequired[str | None]
    cost_gpu_seconds: NotRequired[float]
    lost_gpu_seconds: NotRequired[float]
    grace_ms: NotRequired[int]
    requeued: NotRequired[bool]
    moved: NotRequired[bool]
    preemption: NotRequired[PreemptionOut | None]


class ExposureOut(TypedDict):
    quota: str
    rule: str
    who: str


class Exposures(TypedDict):
    items: list[ExposureOut]


class JobExposures(TypedDict):
    job: str
    items: list[ExposureOut]


class ManyExposures(TypedDict):
    """Jobs that do not run, or are not for the reader, are left out."""

    items: list[JobExposures]


class ExposedOut(TypedDict):
    job: str
    exposure: ExposureOut


class EstimateOut(TypedDict):
    """When a waiting job is expected to start, in milliseconds since the epoch. `likely_ms` is null if that cannot be told; then
    `why` says why not. From `earliest_ms` to `latest_ms` it starts if durations are as they were for the middle half of
    the jobs alike; either is null if that end is open. `rests_on`: what it is made from, in sentences.
    """

    earliest_ms: int | None
    likely_ms: int | None
    latest_ms: int | None
    why: str
    rests_on: list[str]


class PreviewOut(TypedDict):
    """`ids`: what the changes would have made or touched; `hidden`: others' jobs that would merely wait on.

    `exposed`: running work that could be taken in a way in which it cannot be taken now (P2). `names`: of the jobs in it that
    the reader may see, by id. `estimate` is null unless it was asked for, a submission is all that is previewed, and it would wait.
    """

    ids: list[str]
    decisions: list[DecisionOut]
    hidden: int
    exposed: list[ExposedOut]
    names: dict[str, str]
    estimate: EstimateOut | None


class HolderOut(TypedDict):
    quota: str
    jobs: int
    gpus: float
    lowest_priority: int
    highest_priority: int


class NodeGroupOut(TypedDict):
    pool: str
    model: str
    state: str
    nodes: int
    free_gpus: int
    replicas_fit: int


class AheadOut(TypedDict):
    """A job that is tried before. Other teams' jobs have a priority and a size, no name."""

    job: str
    name: str | None
    priority: int
    gpus: float


class HelpOut(TypedDict):
    """`text`; and what could be done: `arguments` with `change` set to `action` are a change that `/previews` takes.

    `action`: `scale`, `policies` or `cancel`; null where nothing can be done, or not by this reader.
    """

    text: str
    action: Literal["scale", "policies", "cancel"] | None
    arguments: dict[str, Any]


class ExplanationOut(TypedDict):
    """Where a job stands and why (X1, X2). `ahead`: the first 50; `position` tells how many there are.

    `hindered`: why a run that was started has not begun, in the words of what runs it. `estimate` is null unless it was asked for
    and the job waits.
    """

    job: str
    phase: str
    quota: str
    position: int | None
    ahead: list[AheadOut]
    reasons: list[ReasonOut]
    holders: list[HolderOut]
    nodes: list[NodeGroupOut]
    tried: list[TriedOut]
    helps: list[HelpOut]
    preempted_by: str | None
    lost_gpu_seconds: float | None
    next_try: str
    hindered: str | None
    estimate: EstimateOut | None


def preemption_out(entry: say.Preemption) -> PreemptionOut:
    return {
        "preemptor": entry.preemptor,
        "step": entry.step.name,
        "victims": [
            {
                "job": victim.job,
                "what": victim.kind.value,
                "quota": victim.quota,
                "priority": victim.priority,
                "lost_gpu_seconds": victim.lost_work / GPU_SECOND,
                "cost_gpu_seconds": victim.cost / GPU_SECOND,
                "freed": shown(victim.freed),
            }
            for victim in entry.victims
        ],
        "demoted": list(entry.demoted),
        "cost_gpu_seconds": entry.cost / GPU_SECOND,
        "cost_without_ladder_gpu_seconds": entry.cost_without_ladder / GPU_SECOND,
        "highest_priority": entry.highest_priority,
        "tried": _tried(entry.tried),
    }


def decision_out(decision: say.Decision) -> DecisionOut:
    said: DecisionOut = {
        "kind": tag_of(type(decision)),
        "job": decision.job,
        "reason": reason_out(decision.reason),
    }
    if isinstance(decision, say.Start | say.Hold):
        surplus = isinstance(decision, say.Start) and decision.surplus
        said["step"] = decision.step.name
        said["places"] = [
            {"replica": place.replica, "node": place.node, "devices": list(place.devices), "surplus": surplus}
            for place in decision.replicas
        ]
        taken = decision.preemption
        said["preemption"] = None if taken is None else preemption_out(taken)
    if isinstance(decision, say.Start):
        said["run"], said["claim"], said["surplus"] = decision.run, decision.claim.value, decision.surplus
        said["grows"] = decision.grows
    if isinstance(decision, say.Hold):
        said["waiting_on"], said["expires_ms"] = list(decision.waiting_on), decision.expires_ms
    if isinstance(decision, say.Evict | say.Stop):
        said["run"], said["replicas"], said["grace_ms"] = (
            decision.run,
            list(decision.replicas),
            decision.grace_ms,
        )
    if isinstance(decision, say.Evict | say.Demote):
        said["preemptor"] = decision.preemptor
    if isinstance(decision, say.Promote | say.Demote):
        said["replicas"] = list(decision.replicas)
    if isinstance(decision, say.Promote) and decision.preemption is not None:
        said["preemption"] = preemption_out(decision.preemption)
    if isinstance(decision, say.Evict):
        said["what"], said["requeued"], said["moved"] = decision.kind.value, decision.requeued, decision.moved
        said["cost_gpu_seconds"] = decision.cost / GPU_SECOND
        said["lost_gpu_seconds"] = decision.lost_work / GPU_SECOND
    return said


def preview_out(seen: Preview) -> PreviewOut:
    return {
        "ids": list(seen.ids),
        "decisions": [decision_out(decision) for decision in seen.decisions],
        "hidden": seen.hidden,
        "exposed": [{"job": job, "exposure": exposure_out(risk)} for job, risk in seen.exposed],
        "names": seen.names,
        "estimate": None,
    }


def exposure_out(told: Exposure) -> ExposureOut:
    return {"quota": told.quota, "rule": told.rule, "who": told.who}


def explanation_out(explained: Explained) -> ExplanationOut:
    told = explained.told
    return {
        "job": told.job,
        "phase": told.phase.value,
        "quota": told.quota,
        "position": told.position,
        "ahead": [
            {"job": one.job, "name": one.name, "priority": one.priority, "gpus": number(one.gpu_milli)}
            for one in explained.ahead
        ],
        "reasons": [reason_out(reason) for reason in told.reasons],
        "holders": [
            {
                "quota": holder.quota,
                "jobs": holder.jobs,
                "gpus": holder.gpu_milli / 1000,
                "lowest_priority": holder.lowest_priority,
                "highest_priority": holder.highest_priority,
            }
            for holder in told.holders
        ],
        "nodes": [
            {
                "pool": group.pool,
                "model": group.model,
                "state": group.state,
                "nodes": group.nodes,
                "free_gpus": group.free_gpus,
                "replicas_fit": group.replicas_fit,
            }
            for group in told.nodes
        ],
        "tried": _tried(told.tried),
        "helps": [_help_out(one) for one in told.helps],
        "preempted_by": told.preempted_by,
        "lost_gpu_seconds": None if told.lost_work is None else told.lost_work / GPU_SECOND,
        "next_try": told.next_try,
        "hindered": explained.hindered or None,
        "estimate": None,
    }


def _help_out(told: Help) -> HelpOut:
    if told.change == "cancel":
        return {"text": told.text, "action": "cancel", "arguments": {"job": told.job}}
    if told.change == "policies" and told.spec is not None:
        to = {"quota": told.quota, "to": policies_out(told.spec)}
        return {"text": told.text, "action": "policies", "arguments": to}
    if told.change == "scale":
        size: dict[str, Any] = {} if told.min is None else {"min": amounts(told.min)}
        if told.draws:
            size["draws"] = {pool: amounts(drawn) for pool, drawn in told.draws}
        return {"text": told.text, "action": "scale", "arguments": {"quota": told.quota, **size}}
    return {"text": told.text, "action": None, "arguments": {}}


def _tried(tried: tuple[say.StepTried, ...]) -> list[TriedOut]:
    return [{"step": one.step.name, "reason": reason_out(one.reason)} for one in tried]


class DecidedOut(TypedDict):
    seq: int
    at_ms: int
    decision: DecisionOut


class DecidedPage(TypedDict):
    items: list[DecidedOut]
    next: str | None


class PreemptorOut(TypedDict):
    """Who took it. Of other teams' jobs the reader learns priority, size and the level of the quota; the rest is null."""

    job: str
    name: str | None
    workspace: str | None
    owner: str | None
    module: str | None
    quota: str
    priority: int
    gpus: float


class LedgerOut(TypedDict):
    """`names`: of the jobs in it that the reader may see, by id."""

    seq: int
    at_ms: int
    preemptor: PreemptorOut
    names: dict[str, str]
    preemption: PreemptionOut


class SinceOut(TypedDict):
    """What became of a job that was part of a preemption. `role`: preemptor, victim or demoted."""

    job: str
    name: str
    role: Literal["preemptor", "victim", "demoted"]
    quota: str
    phase: str
    reason_code: str
    position: int | None
    run: int
    started_ms: int | None
    ended_ms: int | None


class LedgerDetail(LedgerOut):
    """`since`: what became of the jobs that the reader may see."""

    since: list[SinceOut]


class LedgerPage(TypedDict):
    items: list[LedgerOut]
    next: str | None


def preemptor_out(entry: PreemptionRow, row: JobRow | None, reads: Reader) -> PreemptorOut:
    """The preemptor as it is now; `row` None: it is no longer known."""
    seen = reads.sees(entry.preemptor)
    return {
        "job": reads.job(entry.preemptor),
        "name": row.card.name if row is not None and seen else None,
        "workspace": entry.workspace if seen else None,
        "owner": row.owner if row is not None and seen else None,
        "module": row.record.spec.module.value if row is not None and seen else None,
        "quota": reads.quota(entry.quota),
        "priority": 0 if row is None else row.priority,
        "gpus": 0 if row is None else number(row.gpu_milli),
    }


def ledger_out(entry: LedgerEntry, rows: Mapping[str, JobRow], reads: Reader) -> LedgerOut:
    told = decode(Preemption, entry.preemption.body)
    return {
        "seq": entry.preemption.seq,
        "at_ms": entry.preemption.at_ms,
        "preemptor": preemptor_out(entry.preemption, rows.get(entry.preemption.preemptor), reads),
        "names": {job: rows[job].card.name for job, _ in jobs_in(entry) if job in rows and reads.sees(job)},
        "preemption": preemption_out(reads.preemption(told)),
    }


def jobs_in(entry: LedgerEntry) -> list[tuple[str, Literal["preemptor", "victim", "demoted"]]]:
    """The jobs of an entry, each once, with what they were in it."""
    found: dict[str, Literal["preemptor", "victim", "demoted"]] = {entry.preemption.preemptor: "preemptor"}
    for victim in entry.victims:
        found.setdefault(victim.job, "victim")
    for job in decode(Preemption, entry.preemption.body).demoted:
        found.setdefault(job, "demoted")
    return list(found.items())


def since_out(row: JobRow, role: Literal["preemptor", "victim", "demoted"], position: int | None) -> SinceOut:
    return {
        "job": row.id,
        "name": row.card.name,
        "role": role,
        "quota": row.quota,
        "phase": row.phase,
        "reason_code": row.reason_code,
        "position": position,
        "run": row.run,
        "started_ms": row.started_ms,
        "ended_ms": row.card.ended_ms,
    }
