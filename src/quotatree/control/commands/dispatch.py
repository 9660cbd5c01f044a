"""Who deals with which command: one literal table. And a request sent twice is done once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final

from quotatree.control.commands import jobs, nodes, quotas, sizes, users, workspaces
from quotatree.control.commands import values as do
from quotatree.control.commands.values import Answer
from quotatree.control.errors import KeyReused, Problem
from quotatree.control.turn import Turn
from quotatree.control.world import ANSWERS_AT_HAND, ANSWERS_KEPT_MS, Kept, World
from quotatree.store.rows import IdempotencyRow

HANDLERS: Final[dict[type[Any], Callable[[Turn, Any], Answer]]] = {
    do.SubmitJob: jobs.submit,
    do.SubmitJobs: jobs.submit_many,
    do.CancelJob: jobs.cancel,
    do.StopJob: jobs.stop,
    do.SetPriority: jobs.set_priority,
    do.HoldJob: jobs.hold,
    do.ReleaseJob: jobs.release,
    do.CheckpointJob: jobs.checkpoint,
    do.ResizeJob: sizes.resize,
    do.AlterJob: sizes.alter,
    do.AutoscaleJob: sizes.autoscale,
    do.ResubmitJob: jobs.resubmit,
    do.RestartService: jobs.restart_service,
    do.CreateQuota: quotas.create,
    do.UpdateQuota: quotas.update,
    do.ScaleQuota: quotas.scale,
    do.TransferQuota: quotas.transfer,
    do.DeleteQuota: quotas.delete,
    do.OwnQuota: quotas.own,
    do.ReturnLoan: quotas.return_loan,
    do.DeclarePool: nodes.declare_pool,
    do.JoinNode: nodes.join,
    do.SetNodeState: nodes.set_state,
    do.RemoveNode: nodes.remove,
    do.RemovePool: nodes.remove_pool,
    do.CreateWorkspace: workspaces.create,
    do.DescribeWorkspace: workspaces.describe,
    do.DeleteWorkspace: workspaces.delete,
    do.AddMember: workspaces.add_member,
    do.RemoveMember: workspaces.remove_member,
    do.BindQuota: workspaces.bind,
    do.UnbindQuota: workspaces.unbind,
    do.SetCentre: workspaces.set_centre,
    do.PutWebhook: workspaces.put_webhook,
    do.DropWebhook: workspaces.drop_webhook,
    do.PutUser: users.put_user,
    do.SetPassword: users.set_password,
    do.AppointQuotaAdmin: users.appoint,
    do.DismissQuotaAdmin: users.dismiss,
    do.MakeToken: users.make_token,
    do.RevokeToken: users.revoke_token,
    do.OpenSession: users.open_session,
    do.NamePriorities: users.name_priorities,
    do.EditDirectory: users.edit_directory,
    do.CloseSessions: users.close_sessions,
}


def handle(turn: Turn, command: do.Command) -> Answer:
    """Carry out a command, or return the kept answer if the same request was carried out before."""
    if command.key is None:
        return HANDLERS[type(command)](turn, command)
    key = (command.actor, command.key)
    fingerprint = _fingerprint(command)
    kept = turn.world.answers.get(key)
    if kept is not None and kept.at_ms > turn.now_ms - ANSWERS_KEPT_MS:
        if kept.fingerprint != fingerprint:
            raise KeyReused(command.key)
        return replace(kept.answer, repeated=True)
    answer = HANDLERS[type(command)](turn, command)
    turn.state.put_entry(turn.world.answers, key, Kept(fingerprint, answer, turn.now_ms))
    row = IdempotencyRow(command.actor, command.key, fingerprint, 200, answer_body(answer), turn.now_ms)
    turn.put_row(key, row)
    return answer


def forget_answers(world: World, now_ms: int) -> None:
    """Drop answers from memory, first come first, while they are expired or more than ANSWERS_AT_HAND.

    Called between two batches, when nothing can be taken back.
    """
    answers, expired_ms = world.answers, now_ms - ANSWERS_KEPT_MS
    while answers:
        oldest = next(iter(answers))
        expired = answers[oldest].at_ms <= expired_ms
        if not expired and len(answers) <= ANSWERS_AT_HAND:
            return
        del answers[oldest]
        world.has_all_answers = world.has_all_answers and expired


def recall(world: World, rows: Iterable[IdempotencyRow]) -> None:
    """Put stored answers into memory, without dropping others: `forget_answers` does that."""
    for row in rows:
        world.answers[row.actor, row.key] = Kept(row.fingerprint, answer_from(row.body), row.at_ms)


def answer_body(answer: Answer) -> dict[str, Any]:
    """The answer as the JSON that is stored. Its keys stay as they are, whatever the fields are called."""
    items = [
        {"id": item.id} if item.problem is None else {"problem": _problem_body(item.problem)}
        for item in answer.items
    ]
    notice = {"notice": answer.notice} if answer.notice else {}
    return {"id": answer.id, "version": answer.version, "items": items, **notice}


def _problem_body(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code, "message": problem.message, "field": problem.field, "value": problem.value,
        "rule": problem.rule,
    }  # fmt: skip


def answer_from(body: dict[str, Any]) -> Answer:
    items = tuple(
        do.Item(item.get("id"), _problem_from(item["problem"]) if "problem" in item else None)
        for item in body["items"]
    )
    return Answer(body["id"], body["version"], items, notice=body.get("notice", ""))


def _problem_from(body: dict[str, Any]) -> Problem:
    return Problem(body["code"], body["message"], body["field"], body["value"], body["rule"])


def _fingerprint(command: do.Command) -> str:
    """Hash of a command's fields, equal for the same request in every process.

    The secrets of a program count, since another secret makes another request; the store has the program itself, so the
    hash reveals nothing more. Fields that no repr shows (passwords, salted anew each time) are left out.
    """
    return hashlib.sha256(json.dumps(_told(command), ensure_ascii=True).encode()).hexdigest()


def _told(value: Any) -> Any:
    """The value as JSON-able data that is the same in every process: sets are sorted, enums are names."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = {f.name: _told(getattr(value, f.name)) for f in fields(value) if f.repr}
        return [type(value).__name__, shown]
    if isinstance(value, Mapping):
        return {"of": [[str(name), _told(value[name])] for name in sorted(value, key=str)]}
    if isinstance(value, set | frozenset):
        return sorted((_told(one) for one in value), key=repr)
    if isinstance(value, list | tuple):
        return [_told(one) for one in value]
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, str):
        return str(value)  # of a `Secret`, too, the text itself
    return value if value is None or isinstance(value, bool | int | float) else repr(value)
