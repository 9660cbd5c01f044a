"""What was, will or would be decided, in the words of the reader: their own jobs by name, others by priority and size."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from quotatree.api.models.jobs import PlaceOut, ReasonOut, reason_out
from quotatree.api.models.quota_views import AmountsOut, shown
from quotatree.codec import tag_of
from quotatree.control.queries import Preview
from quotatree.core import GPU_SECOND, Explanation, Exposure
from quotatree.core import decisions as say


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


class ExposedOut(TypedDict):
    job: str
    exposure: ExposureOut


class PreviewOut(TypedDict):
    """`ids`: what the changes would have made or touched; `hidden`: others' jobs that would merely wait on.

    `exposed`: running work that could be taken in a way in which it cannot be taken now (P2).
    """

    ids: list[str]
    decisions: list[DecisionOut]
    hidden: int
    exposed: list[ExposedOut]


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


class ExplanationOut(TypedDict):
    """Where a job stands and why (X1, X2)."""

    job: str
    phase: str
    quota: str
    position: int | None
    ahead: list[str]
    reasons: list[ReasonOut]
    holders: list[HolderOut]
    nodes: list[NodeGroupOut]
    tried: list[TriedOut]
    helps: list[str]
    preempted_by: str | None
    lost_gpu_seconds: float | None
    next_try: str


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
    }


def exposure_out(told: Exposure) -> ExposureOut:
    return {"quota": told.quota, "rule": told.rule, "who": told.who}


def explanation_out(told: Explanation) -> ExplanationOut:
    return {
        "job": told.job,
        "phase": told.phase.value,
        "quota": told.quota,
        "position": told.position,
        "ahead": list(told.ahead),
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
        "helps": list(told.helps),
        "preempted_by": told.preempted_by,
        "lost_gpu_seconds": None if told.lost_work is None else told.lost_work / GPU_SECOND,
        "next_try": told.next_try,
    }


def _tried(tried: tuple[say.StepTried, ...]) -> list[TriedOut]:
    return [{"step": one.step.name, "reason": reason_out(one.reason)} for one in tried]


class DecidedOut(TypedDict):
    seq: int
    at_ms: int
    decision: DecisionOut


class DecidedPage(TypedDict):
    items: list[DecidedOut]
    next: str | None


class LedgerOut(TypedDict):
    """`quota` and `workspace` of the preemptor are told as far as the reader may know them."""

    seq: int
    at_ms: int
    preemption: PreemptionOut


class LedgerPage(TypedDict):
    items: list[LedgerOut]
    next: str | None
