"""Commands about quotas: create, update, scale, transfer, delete, own, return a loan (Q1, Q5, Q6, P15, E6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quotatree.access.check import PLATFORM, OnQuota
from quotatree.access.names import check_name
from quotatree.access.roles import Action
from quotatree.control.commands import values as do
from quotatree.control.commands.ownership import check_labels, check_owner, owned
from quotatree.control.commands.quota_changes import settings_changed, size_changed
from quotatree.control.commands.values import Answer
from quotatree.control.turn import Turn
from quotatree.control.world import RESOURCES
from quotatree.core import QUOTA_SETTINGS, Bounds, QuotaSpec, Refused
from quotatree.core import events as ev
from quotatree.core.sentences import Sentence, a_job


def create(turn: Turn, command: do.CreateQuota) -> Answer:
    spec = command.spec
    if spec.parent is None:
        turn.allow(command.actor, Action.CREATE_ROOT_QUOTA, PLATFORM)
    else:
        turn.allow(command.actor, Action.CREATE_CHILD_QUOTA, OnQuota(turn.world.path(spec.parent)))
        check_owner(turn.world, command.actor, spec.parent)
    check_name("id", spec.id)
    check_labels(command.actor, spec)
    turn.apply(ev.QuotaCreated(spec))
    return _done(turn, command, "quota.created", spec.id, parent=spec.parent, min=_amounts(spec.id, turn))


def update(turn: Turn, command: do.UpdateQuota) -> Answer:
    quota_id = command.spec.id
    _allow(turn, command, Action.UPDATE_QUOTA, quota_id)
    check_owner(turn.world, command.actor, quota_id)
    turn.world.match("quota", quota_id, command.if_match)
    before = turn.world.quota(quota_id).spec
    check_labels(command.actor, command.spec, before)
    if command.spec.parent not in (None, before.parent):
        raise Refused("parent", command.spec.parent, "Q1", "fixed after creation")
    spec = replace(command.spec, parent=before.parent)
    changed = [one.attribute for one in QUOTA_SETTINGS if one.of(before) != one.of(spec)]
    if not changed:
        return _as_before(turn, quota_id)
    turn.apply(ev.QuotaUpdated(spec))
    return _done(
        turn, command, "quota.updated", quota_id, changed=changed, changes=settings_changed(before, spec)
    )


def scale(turn: Turn, command: do.ScaleQuota) -> Answer:
    _allow(turn, command, Action.SCALE_QUOTA, command.quota)
    check_owner(turn.world, command.actor, command.quota)
    turn.world.match("quota", command.quota, command.if_match)
    before, decided = _sized(command.quota, turn), len(turn.decisions)
    turn.apply(ev.QuotaScaled(command.quota, command.min, command.draws, command.mode))
    changes = size_changed(*before, *_sized(command.quota, turn))
    if not changes and len(turn.decisions) == decided:
        return _as_before(turn, command.quota)
    return _done(
        turn, command, "quota.scaled", command.quota,
        before=list(before[1]), after=_amounts(command.quota, turn), mode=command.mode.value, changes=changes,
    )  # fmt: skip


def transfer(turn: Turn, command: do.TransferQuota) -> Answer:
    """Move capacity between two quotas. The actor needs the right to scale each of them (W2)."""
    for quota in (command.source, command.target):
        _allow(turn, command, Action.SCALE_QUOTA, quota)
        check_owner(turn.world, command.actor, quota)
    turn.world.match("quota", command.source, command.if_match)
    before = {quota: _sized(quota, turn) for quota in (command.source, command.target)}
    turn.apply(ev.QuotaTransferred(command.source, command.target, command.amount, command.mode))
    changes = {quota: size_changed(*sized, *_sized(quota, turn)) for quota, sized in before.items()}
    amount = list(command.amount)
    _done(
        turn, command, "quota.scaled", command.target,
        source=command.source, amount=amount, changes=changes[command.target],
    )  # fmt: skip
    return _done(
        turn, command, "quota.scaled", command.source,
        target=command.target, amount=amount, changes=changes[command.source],
    )  # fmt: skip


def delete(turn: Turn, command: do.DeleteQuota) -> Answer:
    _allow(turn, command, Action.DELETE_QUOTA, command.quota)
    check_owner(turn.world, command.actor, command.quota)
    turn.world.match("quota", command.quota, command.if_match)
    ending = [job.id for job in turn.state.jobs.values() if job.spec.quota == command.quota]
    if ending and not turn.world.quota(command.quota).jobs:
        raise Refused(
            "quota", command.quota, "Q6", Sentence(a_job(ending[0]), " is just coming to its end; try again")
        )
    turn.replace_directory(turn.directory.without_quota(command.quota))
    turn.apply(ev.QuotaDeleted(command.quota))
    answer = _done(turn, command, "quota.deleted", command.quota)
    turn.state.drop_entry(turn.world.versions, ("quota", command.quota))
    return answer


def own(turn: Turn, command: do.OwnQuota) -> Answer:
    """Note which resource declares a quota, or that none does any more. Only the resources themselves say that (E6)."""
    if command.actor != RESOURCES:
        raise Refused("owner", command.owner, "E6", "is said by resources alone")
    spec = turn.world.quota(command.quota).spec
    turn.apply(ev.QuotaUpdated(replace(spec, labels=owned(spec, command.owner))))
    return _done(turn, command, "quota.owned", command.quota, owner=command.owner)


def return_loan(turn: Turn, command: do.ReturnLoan) -> Answer:
    _allow(turn, command, Action.RETURN_LOAN, command.quota)
    turn.apply(ev.LoanReturned(command.quota))
    _tell(turn, command, "quota.loan_returned", command.quota)
    return _as_before(turn, command.quota)


def _allow(turn: Turn, command: do.Command, action: Action, quota: str) -> None:
    turn.allow(command.actor, action, OnQuota(turn.world.path(quota)))


def _amounts(quota: str, turn: Turn) -> list[int | None]:
    return list(_sized(quota, turn)[1])


def _sized(quota: str, turn: Turn) -> tuple[QuotaSpec, Bounds]:
    """The quota as it is declared, and the min that it has now."""
    found = turn.world.quota(quota)
    return found.spec, Bounds(*found.min)


def _done(turn: Turn, command: do.Command, kind: str, quota: str, **body: Any) -> Answer:
    _tell(turn, command, kind, quota, **body)
    return Answer(quota, turn.world.bump("quota", quota))


def _as_before(turn: Turn, quota: str) -> Answer:
    """The answer to a change that changes nothing: no new version, and nothing to tell."""
    return Answer(quota, turn.world.version("quota", quota))


def _tell(turn: Turn, command: do.Command, kind: str, quota: str, **body: Any) -> None:
    turn.tell(kind, {"quota": quota, "by": command.actor, **body}, quota=quota)
    turn.audit(command.actor, kind, f"quota:{quota}", body)
