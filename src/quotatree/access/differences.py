"""What changed from one directory to the next? The rows that a commit has to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from quotatree.access.centre import Centre
from quotatree.access.directory import Directory
from quotatree.access.values import QuotaAdmin, SessionInfo, TokenInfo, User, Workspace
from quotatree.core import PriorityNames

K = TypeVar("K")
V = TypeVar("V")


class Differences(NamedTuple):
    """Rows to write and keys to delete. A workspace is always written whole, with its members and bindings."""

    users: tuple[User, ...] = ()
    workspaces: tuple[Workspace, ...] = ()
    workspaces_gone: tuple[str, ...] = ()
    centres: tuple[Centre, ...] = ()
    centres_gone: tuple[tuple[str, str], ...] = ()
    quota_admins: tuple[QuotaAdmin, ...] = ()
    quota_admins_gone: tuple[QuotaAdmin, ...] = ()
    tokens: tuple[TokenInfo, ...] = ()
    sessions: tuple[SessionInfo, ...] = ()
    sessions_gone: tuple[str, ...] = ()
    priority_names: PriorityNames | None = None
    """All names of priorities, if one has changed (W6)."""


def differences(before: Directory, after: Directory) -> Differences:
    """What changed between two directories. Users and tokens are never deleted, so they have no `_gone`."""
    return Differences(
        users=_written(before.users, after.users),
        workspaces=_written(before.workspaces, after.workspaces),
        workspaces_gone=_gone(before.workspaces, after.workspaces),
        centres=_written(before.centres, after.centres),
        centres_gone=_gone(before.centres, after.centres),
        quota_admins=tuple(sorted(after.quota_admins - before.quota_admins)),
        quota_admins_gone=tuple(sorted(before.quota_admins - after.quota_admins)),
        tokens=_written(before.tokens, after.tokens),
        sessions=_written(before.sessions, after.sessions),
        sessions_gone=_gone(before.sessions, after.sessions),
        priority_names=None if before.priority_names == after.priority_names else after.priority_names,
    )


def _written(before: Mapping[K, V], after: Mapping[K, V]) -> tuple[V, ...]:
    if before is after:
        return ()
    return tuple(value for key, value in after.items() if before.get(key) is not value)


def _gone(before: Mapping[K, V], after: Mapping[K, V]) -> tuple[K, ...]:
    return () if before is after else tuple(key for key in before if key not in after)
