"""Use: who uses a quota now."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import JSONResponse, Response

from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.models.fields import InPath
from quotatree.api.models.usage import QuotaUsers, quota_user_out
from quotatree.api.route import router
from quotatree.control.quota_users import quota_users

routes = router("quotas")


@routes.get("/quotas/{quota}/users", response_model=QuotaUsers)
async def get_quota_users(
    quota: InPath,
    caller: Annotated[Caller, needs(Action.SEE_QUOTA)],
    below: Annotated[bool, Query(description="also the quotas below")] = False,
) -> Response:
    """Who uses the quota and waits for how much of it, largest use first; those of other teams as one row without names."""
    found = await caller.ask(quota_users(caller.user, quota, below=below))
    return JSONResponse(QuotaUsers(items=[quota_user_out(one) for one in found]))
