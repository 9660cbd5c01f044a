"""What may this actor do to each of many things? The same answers as `check.may`, worked out once for a whole page (W2).

A console shows a control only where its action is allowed, so it needs no table of roles of its own. What is allowed here may
still be refused for other reasons: a job that is over cannot be cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from quotatree.access.check import PLATFORM, roles_on
from quotatree.access.directory import Directory
from quotatree.access.roles import TABLE, Action, Grant, Role, TargetKind
from quotatree.access.values import TokenInfo

_ACTIONS: Final = {
    kind: tuple(action for action in Action if TABLE[action].kind is kind) for kind in TargetKind
}


class Allowed:
    """What an actor may do, read from the directory once. With a read-only token only reads are allowed."""

    def __init__(self, directory: Directory, actor: str, token: TokenInfo | None = None) -> None:
        self._directory = directory
        self._actor = actor
        self._reads_only = token is not None and token.read_only
        self._platform = frozenset(roles_on(directory, actor, PLATFORM))
        """Roles towards everything; empty for a user who is disabled."""
        self._everywhere = self._platform - {Role.QUOTA_ADMIN}
        self._in: dict[str, frozenset[Role]] = {}
        bound: dict[str, set[Role]] = {}
        for workspace in directory.workspaces.values() if self._platform else ():
            held = workspace.roles_of(actor)
            if held:
                self._in[workspace.id] = frozenset(held)
                for quota in workspace.quotas:
                    bound.setdefault(quota, set()).update(held)
        self._bound = bound
        self._admin_of = {admin.quota for admin in directory.quota_admins if admin.user == actor}
        self._jobs: dict[tuple[str, bool], list[str]] = {}

    def on_platform(self) -> list[str]:
        return self._names(_ACTIONS[TargetKind.PLATFORM], self._platform)

    def on_quota(self, path: tuple[str, ...]) -> list[str]:
        """Actions on the quota that the path begins with; binding it counts if some workspace could be bound or freed."""
        if not self._platform:
            return []
        held = self._everywhere | self._bound.get(path[0], set())
        if not self._admin_of.isdisjoint(path):
            held |= {Role.QUOTA_ADMIN}
        below = not self._admin_of.isdisjoint(path[1:])
        own = self._names(_ACTIONS[TargetKind.QUOTA], held, below=below)
        return own + self._names(_ACTIONS[TargetKind.BINDING], held & {Role.PLATFORM_ADMIN, Role.QUOTA_ADMIN})

    def on_workspace(self, workspace: str) -> list[str]:
        """Actions on a workspace; binding counts by the roles that are held in it."""
        if workspace not in self._directory.workspaces:
            return []
        held = self._everywhere | self._in.get(workspace, frozenset())
        return self._names((*_ACTIONS[TargetKind.WORKSPACE], *_ACTIONS[TargetKind.BINDING]), held)

    def on_job(self, workspace: str, owner: str) -> list[str]:
        key = workspace, owner == self._actor
        if key not in self._jobs:
            found: list[str] = []
            if workspace in self._directory.workspaces:
                held = self._everywhere | self._in.get(workspace, frozenset())
                found = self._names(_ACTIONS[TargetKind.JOB], held, own=owner == self._actor)
            self._jobs[key] = found
        return self._jobs[key]

    def _names(
        self, actions: Iterable[Action], held: Iterable[Role], *, own: bool = False, below: bool = False
    ) -> list[str]:
        granted = {Grant.YES} | ({Grant.OWN} if own else set()) | ({Grant.BELOW} if below else set())
        roles = tuple(held)
        return [
            action.value
            for action in actions
            if (action.reads or not self._reads_only)
            and any(TABLE[action].of(role) in granted for role in roles)
        ]
