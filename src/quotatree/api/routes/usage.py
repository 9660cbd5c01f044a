"""Use: who uses a quota now, and how much GPU time was used and lost in a stretch of time."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from starlette.responses import JSONResponse, Response

from quotatree.access.check import OnQuota, check, visible_quotas
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.models.fields import WHOLE_NAME, InPath, Moment
from quotatree.api.models.usage import BY, GpuTime, QuotaUsers, gpu_time, keys_asked, quota_user_out
from quotatree.api.problems import ApiError
from quotatree.api.route import router
from quotatree.control.queries import Query as Asked
from quotatree.control.quota_users import quota_users
from quotatree.control.world import World
from quotatree.store import UsageFilter

routes = router("quotas")
USUAL_MS: Final = 7 * 86_400_000
"""How far back it goes without `since`."""


@routes.get("/quotas/{quota}/users", response_model=QuotaUsers)
async def get_quota_users(
    quota: InPath,
    caller: Annotated[Caller, needs(Action.SEE_QUOTA)],
    below: Annotated[bool, Query(description="also the quotas below")] = False,
) -> Response:
    """Who uses the quota and waits for how much of it, largest use first; those of other teams as one row without names."""
    found = await caller.ask(quota_users(caller.user, quota, below=below))
    return JSONResponse(QuotaUsers(items=[quota_user_out(one) for one in found]))


@routes.get("/usage", response_model=GpuTime)
async def get_gpu_time(
    caller: Annotated[Caller, needs(Action.SEE_QUOTA)],
    since: Moment = None,
    until: Moment = None,
    by: Annotated[
        str, Query(max_length=100, description=f"some of {','.join(BY)}, with commas; empty: one row in all")
    ] = "quota",
    quota: Annotated[
        str | None, Query(pattern=WHOLE_NAME, max_length=63, description="only of this quota")
    ] = None,
    below: Annotated[bool, Query(description="with `quota`: also of the quotas below")] = False,
) -> Response:
    """GPU-hours from `since` (7 days ago) to `until` (now): used, and lost by preemption. Without `quota`, of all quotas that one
    sees and of one's workspaces anywhere."""
    now_ms = caller.services.clock()
    until_ms = now_ms if until is None else until
    since_ms = max(0, until_ms - USUAL_MS) if since is None else since
    if since_ms >= until_ms:
        raise ApiError("Invalid", "query.since: must be before `until`, which is now if it is not given")
    if below and quota is None:
        raise ApiError("Invalid", "query.below: needs `quota`; without, all quotas that you see are summed")
    names = _names(by)
    reads = await caller.eyes()
    if quota is not None:
        quotas: tuple[str, ...] | None = await caller.ask(_counted(caller.user, quota, below))
        workspaces: tuple[str, ...] = ()
    else:
        seen = visible_quotas(caller.directory, caller.user, reads.tree)
        quotas = None if reads.everything else tuple(sorted(seen))
        workspaces = tuple(sorted(reads.jobs_of))
    asked = UsageFilter(since_ms, until_ms, now_ms, quotas, workspaces)
    found = await caller.read(lambda store: store.usage(asked, keys_asked(names)))
    return JSONResponse(gpu_time(found, reads, names, since_ms, until_ms))


def _names(by: str) -> list[str]:
    """What rows are by, each once, in the order asked for."""
    names = list(dict.fromkeys(name.strip() for name in by.split(",") if name.strip()))
    for name in names:
        if name not in BY:
            raise ApiError("Invalid", f"query.by: {name[:40]!r} is none of {', '.join(BY)}")
    return names


def _counted(actor: str, quota: str, below: bool) -> Asked[tuple[str, ...]]:
    def query(world: World, now_ms: int) -> tuple[str, ...]:
        del now_ms
        check(world.directory, actor, Action.SEE_QUOTA, OnQuota(world.path(quota)))
        found = world.quota(quota)
        return tuple(one.id for one in found.subtree()) if below else (found.id,)

    return query
