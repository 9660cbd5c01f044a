"""Commands about users, quota admins, tokens and sessions (W2). Secrets come here as hashes only and are never told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from quotatree.access.check import PLATFORM, OnQuota, OnUser
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action
from quotatree.control.commands import values as do
from quotatree.control.commands.values import Answer
from quotatree.control.turn import Turn
from quotatree.control.world import check_match
from quotatree.core import Refused


def put_user(turn: Turn, command: do.PutUser) -> Answer:
    """Create or change an account, but not its password.

    Users may change their own display name and e-mail; anything else needs the right to manage users (W2).
    """
    user = command.user
    before = turn.directory.users.get(user.name)
    plain = before is not None and replace(
        user, display=before.display, email=before.email, version=before.version
    ) == replace(before, password=user.password)
    if plain:
        turn.allow(command.actor, Action.UPDATE_USER, OnUser(user.name))
    else:
        turn.allow(command.actor, Action.MANAGE_USERS, PLATFORM)
    check_match("user", user.name, command.if_match, before.version if before is not None else 0)
    kept = user if before is None else replace(user, password=before.password)
    turn.replace_directory(turn.directory.with_user(kept))
    body = {"platform_admin": user.platform_admin, "disabled": user.disabled}
    return _done(turn, command, "user.changed" if before is not None else "user.created", user.name, body)


def set_password(turn: Turn, command: do.SetPassword) -> Answer:
    """Set a user's password, and end all their sessions except `keep_session`, the one in which it was changed."""
    turn.allow(command.actor, Action.CHANGE_PASSWORD, OnUser(command.user))
    user = replace(turn.directory.user(command.user), password=command.password_hash)
    over = [
        key
        for key, s in turn.directory.sessions.items()
        if s.user == user.name and key != command.keep_session
    ]
    turn.replace_directory(turn.directory.with_user(user).without_sessions(over))
    return _done(turn, command, "user.password", command.user, {})


def appoint(turn: Turn, command: do.AppointQuotaAdmin) -> Answer:
    turn.allow(command.actor, Action.APPOINT_QUOTA_ADMIN, OnQuota(turn.world.path(command.quota)))
    turn.replace_directory(turn.directory.with_quota_admin(command.user, command.quota))
    return _done(turn, command, "user.appointed", command.user, {"quota": command.quota})


def dismiss(turn: Turn, command: do.DismissQuotaAdmin) -> Answer:
    turn.allow(command.actor, Action.APPOINT_QUOTA_ADMIN, OnQuota(turn.world.path(command.quota)))
    turn.replace_directory(turn.directory.without_quota_admin(command.user, command.quota))
    return _done(turn, command, "user.dismissed", command.user, {"quota": command.quota})


def name_priorities(turn: Turn, command: do.NamePriorities) -> Answer:
    turn.allow(command.actor, Action.NAME_PRIORITIES, PLATFORM)
    turn.replace_directory(turn.directory.with_priority_names(command.names))
    body = {"names": dict(turn.directory.priority_names)}
    turn.tell("priorities.named", body)
    turn.audit(command.actor, "priorities.named", "priorities", body)
    return Answer()


def make_token(turn: Turn, command: do.MakeToken) -> Answer:
    token = command.token
    turn.allow(command.actor, Action.MANAGE_TOKENS, OnUser(token.user))
    if token.id in turn.directory.tokens:
        raise Refused("token", token.id, "W2", "the id is taken")
    turn.replace_directory(turn.directory.with_token(token))
    turn.audit(command.actor, "token.made", f"token:{token.id}", {"user": token.user, "name": token.name})
    return Answer(token.id)


def revoke_token(turn: Turn, command: do.RevokeToken) -> Answer:
    token = turn.directory.tokens.get(command.token)
    if token is None:
        raise NotFound("token", command.token)
    try:
        turn.allow(command.actor, Action.MANAGE_TOKENS, OnUser(token.user))
    except NotFound:
        raise NotFound("token", command.token) from None
    turn.replace_directory(turn.directory.token_revoked(command.token, turn.now_ms))
    turn.audit(command.actor, "token.revoked", f"token:{token.id}", {"user": token.user})
    return Answer(token.id)


def open_session(turn: Turn, command: do.OpenSession) -> Answer:
    user = turn.directory.user(command.session.user)
    if user.disabled:
        raise Refused("user", user.name, "W2", "is disabled")
    over = [key for key, s in turn.directory.sessions.items() if s.expires_ms <= turn.now_ms]
    turn.replace_directory(turn.directory.without_sessions(over).with_session(command.session))
    turn.audit(command.actor, "session.opened", f"user:{user.name}", {})
    return Answer(user.name)


def edit_directory(turn: Turn, command: do.EditDirectory) -> Answer:
    turn.allow(command.actor, Action.OPERATE, PLATFORM)
    directory, answer = command.change(turn.directory)
    if directory is not turn.directory:
        turn.replace_directory(directory)
        turn.audit(command.actor, command.action, answer, {})
    return Answer(answer)


def close_sessions(turn: Turn, command: do.CloseSessions) -> Answer:
    """Close sessions by the hashes of their keys. No right is checked: only the holder of a key can hash it."""
    turn.replace_directory(turn.directory.without_sessions(command.id_hashes))
    turn.audit(command.actor, "session.closed", f"user:{command.actor}", {})
    return Answer(command.actor)


def _done(turn: Turn, command: do.Command, kind: str, user: str, body: Mapping[str, object]) -> Answer:
    turn.audit(command.actor, kind, f"user:{user}", body)
    return Answer(user, turn.directory.user(user).version)
