"""Who uses a quota, and who used how much GPU time in a stretch of time?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NotRequired

from typing_extensions import TypedDict

from quotatree.access.redaction import Reader
from quotatree.api.models.fields import number
from quotatree.control.quota_users import UserTotal
from quotatree.core import GPU_SECOND
from quotatree.store import UsageSum
from quotatree.store.usage import KEYS

UNRECORDED: Final = "before this version"
"""The cause of what was lost before causes were recorded."""
GPU_HOUR: Final = 3600 * GPU_SECOND
"""One GPU-hour in the unit of the store, milli-GPU x milliseconds."""
BY: Final = {
    "quota": ("quota",),
    "workspace": ("workspace",),
    "user": ("owner",),
    "module": ("module",),
    "claim": ("claim",),
    "taker": ("taker_quota", "taker_workspace"),
    "cause": ("cause",),
}
"""What rows may be by, and the keys of the store that this means."""


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


class GpuTimeOut(TypedDict):
    """`gpu_hours`: GPUs times the hours that replicas occupied them, from their start until they had left, idle ones too.
    `lost_gpu_hours`: work that decisions destroyed, whoever wanted it, as the ledger has it (P6, P13). `runs` began in the time; `preempted`: how
    often a run was taken for another job, if that counts as a preemption (P11).
    """

    gpu_hours: float
    lost_gpu_hours: float
    runs: int
    preempted: int


class UsageRowOut(GpuTimeOut):
    """Has the keys that the rows are by. A key is null where the reader may not know it; everything of which that is so is one
    row. `claim`: guaranteed, loan or idle. `taker_quota`, `taker_workspace`: for whom it was lost; null in the row of the use, and where no
    job took its place. `cause`: the code of the reason why it was lost, "before this version" where none was recorded; null in the row
    of the use.
    """

    quota: NotRequired[str | None]
    workspace: NotRequired[str | None]
    user: NotRequired[str | None]
    module: NotRequired[str | None]
    claim: NotRequired[str | None]
    taker_quota: NotRequired[str | None]
    taker_workspace: NotRequired[str | None]
    cause: NotRequired[str | None]


class GpuTime(TypedDict):
    """Use from `since_ms` on and before `until_ms`, largest first; what still runs counts up to now. `total` is of all rows."""

    since_ms: int
    until_ms: int
    by: list[str]
    rows: list[UsageRowOut]
    total: GpuTimeOut


def keys_asked(by: Sequence[str]) -> tuple[str, ...]:
    """The keys by which the store must sum, so that a reader gets rows `by` these: also the workspace, to hide users of others."""
    keys = {key for name in by for key in BY[name]} | ({"workspace"} if "user" in by else set())
    return tuple(key for key in KEYS if key in keys)


def gpu_time(
    found: Iterable[UsageSum], reads: Reader, by: Sequence[str], since_ms: int, until_ms: int
) -> GpuTime:
    """The answer for a reader: names they may not know are left out, and rows that are then alike are one."""
    keys, shown = keys_asked(by), [key for name in by for key in BY[name]]
    sums: dict[tuple[str | None, ...], list[int]] = {}
    total = [0, 0, 0, 0]
    for one in found:
        seen = _seen(_named(dict(zip(keys, one.keys, strict=True))), reads)
        row = sums.setdefault(tuple(seen[key] for key in shown), [0, 0, 0, 0])
        for i, figure in enumerate((one.used, one.lost, one.runs, one.preempted)):
            row[i] += figure
            total[i] += figure
    names = ["user" if key == "owner" else key for key in shown]
    ordered = sorted(
        sums.items(), key=lambda item: ([-x for x in item[1][:2]], [key or "" for key in item[0]])
    )
    rows: list[UsageRowOut] = [
        {**dict(zip(names, values, strict=True)), **_figures(figures)}  # type: ignore[typeddict-item]  # `by` names the keys
        for values, figures in ordered
    ]
    return {
        "since_ms": since_ms,
        "until_ms": until_ms,
        "by": list(by),
        "rows": rows,
        "total": _figures(total),
    }


def _named(keys: dict[str, str | None]) -> dict[str, str | None]:
    """The keys with words for what the store has no name for."""
    nothing = {"taker_quota": None, "taker_workspace": None, "cause": UNRECORDED}
    return {key: nothing.get(key, value) if value == "" else value for key, value in keys.items()}


def _seen(keys: dict[str, str | None], reads: Reader) -> dict[str, str | None]:
    if reads.everything:
        return keys
    hidden = "workspace" in keys and keys["workspace"] not in reads.jobs_of
    knows = {
        "quota": keys.get("quota") in reads.quotas,
        "workspace": not hidden,
        "owner": not hidden,
        "taker_quota": keys.get("taker_quota") in reads.quotas,
        "taker_workspace": keys.get("taker_workspace") in reads.jobs_of,
    }
    return {key: value if knows.get(key, True) else None for key, value in keys.items()}


def _figures(of: Sequence[int]) -> GpuTimeOut:
    used, lost, runs, preempted = of
    return {
        "gpu_hours": used / GPU_HOUR, "lost_gpu_hours": lost / GPU_HOUR, "runs": runs, "preempted": preempted,
    }  # fmt: skip
