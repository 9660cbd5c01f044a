"""Why a job waits, who is ahead of it, what would help and when it will start, in the words of the reader (X1, X2)."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from quotatree.api.models.decisions import TriedOut, tried_out
from quotatree.api.models.fields import amounts, number, priority_name
from quotatree.api.models.policies import policies_out
from quotatree.api.models.reasons import ReasonOut, reason_out
from quotatree.control.queries import Explained
from quotatree.core import GPU_SECOND, Claim, Help


class HolderOut(TypedDict):
    """Jobs of a quota that hold the capacity, regular or idle; `held` of them do not run yet: their places are promised (P9)."""

    quota: str
    claim: Literal["regular", "idle"]
    jobs: int
    held: int
    gpus: float
    lowest_priority: int
    lowest_priority_name: str | None
    highest_priority: int
    highest_priority_name: str | None


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
    priority_name: str | None
    gpus: float


class HelpOut(TypedDict):
    """`text`; and what could be done: `arguments` with `change` set to `action` are a change that `/previews` takes.

    `action`: `scale`, `policies` or `cancel`; null where nothing can be done, or not by this reader.
    """

    text: str
    action: Literal["scale", "policies", "cancel"] | None
    arguments: dict[str, Any]


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


def explanation_out(explained: Explained) -> ExplanationOut:
    told = explained.told
    return {
        "job": told.job,
        "phase": told.phase.value,
        "quota": told.quota,
        "position": told.position,
        "ahead": [
            {
                "job": one.job,
                "name": one.name,
                "priority": one.priority,
                "priority_name": priority_name(one.priority),
                "gpus": number(one.gpu_milli),
            }
            for one in explained.ahead
        ],
        "reasons": [reason_out(reason) for reason in told.reasons],
        "holders": [
            {
                "quota": holder.quota,
                "claim": "idle" if holder.claim is Claim.IDLE else "regular",
                "jobs": holder.jobs,
                "held": holder.held,
                "gpus": holder.gpu_milli / 1000,
                "lowest_priority": holder.lowest_priority,
                "lowest_priority_name": priority_name(holder.lowest_priority),
                "highest_priority": holder.highest_priority,
                "highest_priority_name": priority_name(holder.highest_priority),
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
        "tried": tried_out(told.tried),
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
