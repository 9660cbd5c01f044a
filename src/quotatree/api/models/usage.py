"""Who uses a quota."""

from __future__ import annotations

from typing_extensions import TypedDict

from quotatree.api.models.fields import number
from quotatree.control.quota_users import UserTotal


class QuotaUserOut(TypedDict):
    """What the jobs of a user in one workspace have and wait for now. `user` and `workspace` are null in the one row that sums
    everybody whose jobs the reader may not see.

    `regular_gpus` counts holds, as the quota does; `waiting_gpus` is the least that would do. Over all rows they add up to
    the figures of the quota. `oldest_waiting_since_ms` is null while nothing waits.
    """

    user: str | None
    workspace: str | None
    running_jobs: int
    regular_gpus: float
    idle_gpus: float
    waiting_jobs: int
    waiting_gpus: float
    oldest_waiting_since_ms: int | None


class QuotaUsers(TypedDict):
    """Largest use first."""

    items: list[QuotaUserOut]


def quota_user_out(total: UserTotal) -> QuotaUserOut:
    return {
        "user": total.user,
        "workspace": total.workspace,
        "running_jobs": total.running_jobs,
        "regular_gpus": number(total.regular_milli),
        "idle_gpus": number(total.idle_milli),
        "waiting_jobs": total.waiting_jobs,
        "waiting_gpus": number(total.waiting_milli),
        "oldest_waiting_since_ms": total.waiting_since_ms,
    }
