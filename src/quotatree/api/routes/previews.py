"""What would happen (X3)? The very commands are done, planned and taken back. One needs the rights for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from starlette.responses import JSONResponse, Response

from quotatree.api.caller import Caller, needs
from quotatree.api.estimates import estimate_submission
from quotatree.api.models import previews as m
from quotatree.api.models.quotas import draws_of
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do
from quotatree.control.queries import Preview, preview
from quotatree.control.world import World
from quotatree.core import NodeState, QuotaId, QuotaSpec
from quotatree.core.decisions import Start
from quotatree.core.events import ScaleMode

routes = router("previews")


@routes.post("/previews", response_model=m.PreviewOut, responses=problems(409, 413, 415))
async def preview_changes(
    body: m.PreviewIn,
    caller: Annotated[Caller, needs(None)],
    estimate: Annotated[
        bool, Query(description="also when a job that is submitted would start; this takes seconds")
    ] = False,
) -> Response:
    """Who would start, wait, be evicted and at which cost, and whose work would become exposed. Nothing is changed.

    Rights are those of the changes themselves. Other teams' jobs have a priority, a size and a level, no names.
    """

    def query(world: World, now_ms: int) -> Preview:
        commands = commands_of(world, caller.user, body.changes)
        return preview(caller.services.engine, *commands)(world, now_ms)

    seen = await caller.ask(query)
    told = m.preview_out(seen)
    starts = any(isinstance(one, Start) and one.job in seen.ids for one in seen.decisions)
    if estimate and seen.submitted is not None and not starts:
        told["estimate"] = await estimate_submission(caller, seen.submitted)
    return JSONResponse(told)


def commands_of(world: World, actor: str, changes: Sequence[m.Change]) -> list[do.Command]:
    """The commands of these changes, each as if those before it had been made."""
    commands: list[do.Command] = []
    for one in changes:
        commands.append(_command(world, actor, one, commands))
    return commands


def _command(world: World, actor: str, change: m.Change, before: list[do.Command]) -> do.Command:
    """The command of a change that comes after these others."""
    if isinstance(change, m.SubmitChange):
        return change.job.command(actor)
    if isinstance(change, m.CancelChange):
        return do.CancelJob(actor=actor, job=change.job)
    if isinstance(change, m.PriorityChange):
        return do.SetPriority(actor=actor, job=change.job, priority=change.priority)
    if isinstance(change, m.ResizeChange):
        return change.command(actor, change.job)
    if isinstance(change, m.DropAutoscaleChange):
        return do.AutoscaleJob(actor=actor, job=change.job, autoscale=None)
    if isinstance(change, m.CreateQuotaChange):
        return do.CreateQuota(actor=actor, spec=change.quota.spec())
    if isinstance(change, m.UpdateQuotaChange | m.PoliciesChange):
        return do.UpdateQuota(actor=actor, spec=change.to.applied_to(_spec(world, change.quota, before)))
    if isinstance(change, m.TransferChange):
        return do.TransferQuota(
            actor=actor,
            source=change.source,
            target=change.target,
            amount=change.amount.bounds(),
            mode=ScaleMode(change.mode),
        )
    if isinstance(change, m.ScaleChange):
        return do.ScaleQuota(
            actor=actor,
            quota=change.quota,
            min=change.bounds(),
            draws=draws_of(change.draws),
            mode=change.scale_mode(),
        )
    if isinstance(change, m.DeleteQuotaChange):
        return do.DeleteQuota(actor=actor, quota=change.quota)
    if isinstance(change, m.ReturnLoanChange):
        return do.ReturnLoan(actor=actor, quota=change.quota)
    if isinstance(change, m.CentreChange):
        return do.SetCentre(actor=actor, centre=change.centre(change.workspace, change.quota))
    if isinstance(change, m.JoinNodeChange):
        return do.JoinNode(actor=actor, spec=change.node.spec())
    return do.SetNodeState(actor=actor, node=change.node, state=NodeState(change.state))


def _spec(world: World, quota: str, before: list[do.Command]) -> QuotaSpec:
    """The spec of a quota as the changes before leave it; an empty one if it is not there, and the update is refused then."""
    for command in reversed(before):
        if isinstance(command, do.CreateQuota | do.UpdateQuota) and command.spec.id == quota:
            return command.spec
    found = world.state.quotas.get(QuotaId(quota))
    return QuotaSpec(QuotaId(quota)) if found is None else found.spec
