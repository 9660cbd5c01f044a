"""Which kinds of events are told? What a webhook may ask for; a name that is not here would be waited for in vain (E4)."""

from __future__ import annotations

from typing import Final

KINDS: Final = frozenset(
    [
        "engine.orphan_stopped",
        "job.alarm",
        "job.altered",
        "job.autoscale_set",
        "job.autoscaled",
        "job.cancelled",
        "job.checkpointed",
        "job.demoted",
        "job.does_not_leave",
        "job.ended",
        "job.evicted",
        "job.failed",
        "job.grown",
        "job.hindered",
        "job.idle",
        "job.lost",
        "job.moved",
        "job.not_as_planned",
        "job.did_not_begin",
        "job.on_hold",
        "job.priority",
        "job.promised",
        "job.promoted",
        "job.ran_too_long",
        "job.released",
        "job.resized",
        "job.restarting",
        "job.resubmitted",
        "job.started",
        "job.stopped",
        "job.stopping",
        "job.submitted",
        "job.unplanned",
        "job.unpromised",
        "job.waited_too_long",
        "node.altered",
        "node.changed",
        "node.device",
        "node.gone",
        "node.joined",
        "node.refused",
        "pool.declared",
        "pool.removed",
        "priorities.named",
        "quota.created",
        "quota.deleted",
        "quota.loan_returned",
        "quota.owned",
        "quota.scaled",
        "quota.updated",
        "workspace.bound",
        "workspace.centre_set",
        "workspace.created",
        "workspace.deleted",
        "workspace.described",
        "workspace.member_added",
        "workspace.member_removed",
        "workspace.unbound",
    ]
)


def unknown_kind(kinds: tuple[str, ...]) -> tuple[str, str] | None:
    """The first of these that is no kind of event, with what to say about it; None if all are."""
    for kind in kinds:
        if kind not in KINDS:
            family = kind.partition(".")[0]
            near = sorted(one for one in KINDS if one.startswith(f"{family}.")) or sorted(KINDS)
            return kind, f"there is no such event; there are {', '.join(near)}"
    return None
