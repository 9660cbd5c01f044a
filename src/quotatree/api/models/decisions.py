"""What was, will or would be decided: who starts, who leaves, who took what from whom."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from quotatree.api.models.fields import priority_name
from quotatree.api.models.job_views import PlaceOut
from quotatree.api.models.noun_fields import AmountsOut, shown
from quotatree.api.models.reasons import ReasonOut, reason_out
from quotatree.codec import tag_of
from quotatree.core import GPU_SECOND
from quotatree.core import decisions as say


class VictimOut(TypedDict):
    """`what` leaves: a core, a wanted or a surplus replica, an idle claim, a hold. `rule`: the code of the reason why it went; null in
    entries of older versions, and in what a plan tells."""

    job: str
    what: str
    quota: str
    priority: int
    priority_name: str | None
    lost_gpu_seconds: float
    cost_gpu_seconds: float
    freed: AmountsOut
    rule: str | None


class TriedOut(TypedDict):
    step: str
    reason: ReasonOut


class PreemptionOut(TypedDict):
    """P13: who took what from whom, by which step, at which cost, and what was tried before. `kept`: jobs that were to go by this
    step and keep running, since others went in their stead (P8). Where no job takes the place of what left, `preemptor` and
    `step` are null, and `reason` says whose wish it was: a quota that is scaled, a loan that is returned, a node, a limit, an owner."""

    preemptor: str | None
    step: str | None
    reason: ReasonOut | None
    victims: list[VictimOut]
    demoted: list[str]
    kept: list[str]
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


class DecidedOut(TypedDict):
    seq: int
    at_ms: int
    decision: DecisionOut


class DecidedPage(TypedDict):
    items: list[DecidedOut]
    next: str | None


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


def preemption_out(entry: say.Preemption) -> PreemptionOut:
    return {
        "preemptor": entry.preemptor,
        "step": None if entry.step is None else entry.step.name,
        "reason": None if entry.reason is None else reason_out(entry.reason),
        "victims": [
            {
                "job": victim.job,
                "what": victim.kind.value,
                "quota": victim.quota,
                "priority": victim.priority,
                "priority_name": priority_name(victim.priority),
                "lost_gpu_seconds": victim.lost_work / GPU_SECOND,
                "cost_gpu_seconds": victim.cost / GPU_SECOND,
                "freed": shown(victim.freed),
                "rule": None if victim.rule is None else victim.rule.name,
            }
            for victim in entry.victims
        ],
        "demoted": list(entry.demoted),
        "kept": list(entry.kept),
        "cost_gpu_seconds": entry.cost / GPU_SECOND,
        "cost_without_ladder_gpu_seconds": entry.cost_without_ladder / GPU_SECOND,
        "highest_priority": entry.highest_priority,
        "tried": tried_out(entry.tried),
    }


def tried_out(tried: tuple[say.StepTried, ...]) -> list[TriedOut]:
    """The steps that were tried in vain, each with its reason."""
    return [{"step": one.step.name, "reason": reason_out(one.reason)} for one in tried]
