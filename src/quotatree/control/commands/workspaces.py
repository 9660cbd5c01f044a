"""Commands about workspaces: members, bound quotas, the scheduling centre, webhooks (W1-W4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quotatree.access.check import PLATFORM, OnBinding, OnWorkspace
from quotatree.access.errors import NotFound
from quotatree.access.names import check_name
from quotatree.access.roles import Action
from quotatree.access.submitting import limits_of
from quotatree.control.commands import values as do
from quotatree.control.commands.values import Answer
from quotatree.control.decision_effects import watch
from quotatree.control.event_kinds import unknown_kind
from quotatree.control.turn import Turn
from quotatree.control.webhook_places import place_of
from quotatree.control.world import check_match
from quotatree.core import Refused
from quotatree.core import events as ev
from quotatree.store.rows import Drop, WebhookRow


def create(turn: Turn, command: do.CreateWorkspace) -> Answer:
    turn.allow(command.actor, Action.CREATE_WORKSPACE, PLATFORM)
    others = bool(turn.directory.workspaces)
    turn.replace_directory(
        turn.directory.with_workspace(command.workspace, command.description, command.owners)
    )
    made = _done(turn, command, "workspace.created", command.workspace, owners=list(command.owners))
    return replace(made, notice=turn.engine.capabilities.one_team) if others else made


def describe(turn: Turn, command: do.DescribeWorkspace) -> Answer:
    turn.allow(command.actor, Action.UPDATE_WORKSPACE, OnWorkspace(command.workspace))
    _match(turn, command.workspace, command.if_match)
    there = turn.directory.workspace(command.workspace)
    if there.description == command.description:
        return Answer(command.workspace, there.version)
    turn.replace_directory(turn.directory.described(command.workspace, command.description))
    return _done(turn, command, "workspace.described", command.workspace)


def delete(turn: Turn, command: do.DeleteWorkspace) -> Answer:
    turn.allow(command.actor, Action.DELETE_WORKSPACE, OnWorkspace(command.workspace))
    _match(turn, command.workspace, command.if_match)
    quotas = turn.directory.workspace(command.workspace).quotas
    active = turn.world.active_jobs(command.workspace)
    turn.replace_directory(turn.directory.without_workspace(command.workspace, active))
    for quota in quotas:
        _refresh_limits(turn, quota)
    for webhook in [w for w in turn.world.webhooks.values() if w.workspace == command.workspace]:
        _drop_webhook(turn, webhook)
    turn.tell("workspace.deleted", {}, workspace=command.workspace)
    turn.audit(command.actor, "workspace.deleted", f"workspace:{command.workspace}", {}, command.workspace)
    return Answer(command.workspace)


def add_member(turn: Turn, command: do.AddMember) -> Answer:
    turn.allow_role(command.actor, command.workspace, command.role)
    turn.replace_directory(turn.directory.member_added(command.workspace, command.user, command.role))
    return _done(
        turn, command, "workspace.member_added", command.workspace, user=command.user, role=command.role.value
    )


def remove_member(turn: Turn, command: do.RemoveMember) -> Answer:
    """Take one role from a member, or all if `role` is None. The actor needs the right to give each of them."""
    turn.allow(command.actor, Action.MANAGE_MEMBERS, OnWorkspace(command.workspace))
    held = turn.directory.workspace(command.workspace).roles_of(command.user)
    for role in held if command.role is None else [command.role]:
        turn.allow_role(command.actor, command.workspace, role)
    turn.replace_directory(turn.directory.member_removed(command.workspace, command.user, command.role))
    taken = None if command.role is None else command.role.value
    return _done(turn, command, "workspace.member_removed", command.workspace, user=command.user, role=taken)


def bind(turn: Turn, command: do.BindQuota) -> Answer:
    target = OnBinding(command.workspace, turn.world.path(command.quota))
    turn.allow(command.actor, Action.BIND_QUOTA, target)
    turn.replace_directory(turn.directory.bound(command.workspace, command.quota))
    return _done(turn, command, "workspace.bound", command.workspace, quota=command.quota)


def unbind(turn: Turn, command: do.UnbindQuota) -> Answer:
    target = OnBinding(command.workspace, turn.world.path(command.quota))
    turn.allow(command.actor, Action.UNBIND_QUOTA, target)
    active = turn.world.active_jobs(command.workspace, command.quota)
    turn.replace_directory(turn.directory.unbound(command.workspace, command.quota, active))
    _refresh_limits(turn, command.quota)
    return _done(turn, command, "workspace.unbound", command.workspace, quota=command.quota)


def set_centre(turn: Turn, command: do.SetCentre) -> Answer:
    """Set the rules of a workspace in one quota (W3).

    Ceilings and roles bind from the next submit on; amounts and longest times bind at once.
    """
    centre = command.centre
    turn.allow(command.actor, Action.SET_CENTRE, OnWorkspace(centre.workspace))
    found = turn.directory.centres.get((centre.workspace, centre.quota))
    name = f"{centre.workspace}/{centre.quota}"
    check_match("scheduling centre", name, command.if_match, found.version if found is not None else 0)
    wanted = turn.directory.with_centre(centre)
    if found is not None and replace(centre, version=found.version) == found:
        return Answer(name, found.version)
    turn.replace_directory(wanted)
    _refresh_limits(turn, centre.quota)
    for job in turn.world.quota(centre.quota).jobs.values():
        if job.spec.workspace == centre.workspace:
            watch(turn.world, job)
    _done(turn, command, "workspace.centre_set", centre.workspace, quota=centre.quota)
    return Answer(name, turn.directory.centre(centre.workspace, centre.quota).version)


def _refresh_limits(turn: Turn, quota: str) -> None:
    limits = limits_of(turn.directory, quota)
    if limits != turn.state.limits.get(quota, ()):
        turn.apply(ev.LimitsSet(quota, limits))


# -- webhooks ----------------------------------------------------------------------------------------------------


def put_webhook(turn: Turn, command: do.PutWebhook) -> Answer:
    _allow_webhook(turn, command.actor, command.workspace)
    check_name("webhook", command.webhook)
    found = turn.world.webhooks.get(command.webhook)
    if found is not None and found.workspace != command.workspace:
        raise Refused("webhook", command.webhook, "E1", "the name is taken")
    version = found.version if found is not None else 0
    check_match("webhook", command.webhook, command.if_match, version)
    place_of(command.url)
    unknown = unknown_kind(command.kinds)
    if unknown is not None:
        raise Refused("kinds", unknown[0], "E4", unknown[1])
    if len(command.secret) < 16:
        raise Refused("secret", "…", "E4", "must have at least 16 characters")
    row = WebhookRow(
        id=command.webhook,
        workspace=command.workspace,
        url=command.url,
        secret=command.secret,
        kinds=command.kinds,
        active=True,
        version=version + 1,
    )
    turn.state.put_entry(turn.world.webhooks, row.id, row)
    turn.put_row((row.id,), row)
    turn.audit(command.actor, "webhook.put", f"webhook:{row.id}", {"url": row.url}, row.workspace)
    return Answer(row.id, row.version)


def drop_webhook(turn: Turn, command: do.DropWebhook) -> Answer:
    found = turn.world.webhooks.get(command.webhook)
    if found is None:
        raise NotFound("webhook", command.webhook)
    _allow_webhook(turn, command.actor, found.workspace)
    _drop_webhook(turn, found)
    turn.audit(command.actor, "webhook.dropped", f"webhook:{found.id}", {}, found.workspace)
    return Answer(found.id)


def _drop_webhook(turn: Turn, webhook: WebhookRow) -> None:
    turn.state.drop_entry(turn.world.webhooks, webhook.id)
    turn.drop_row(Drop(WebhookRow, (webhook.id,)))


def _allow_webhook(turn: Turn, actor: str, workspace: str | None) -> None:
    if workspace is None:
        turn.allow(actor, Action.OPERATE, PLATFORM)
    else:
        turn.allow(actor, Action.MANAGE_WEBHOOKS, OnWorkspace(workspace))


def _match(turn: Turn, workspace: str, expected: int | None) -> None:
    check_match("workspace", workspace, expected, turn.directory.workspace(workspace).version)


def _done(turn: Turn, command: do.Command, kind: str, workspace: str, **body: Any) -> Answer:
    turn.tell(kind, body, workspace=workspace)
    turn.audit(command.actor, kind, f"workspace:{workspace}", body, workspace)
    return Answer(workspace, turn.directory.workspace(workspace).version)
