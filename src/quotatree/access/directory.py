"""All users, workspaces, bindings, centres, quota admins, tokens, sessions and names of priorities in one immutable value.

Every change returns a new Directory or raises; nothing is ever written in place, so readers need no lock. Methods
check the rules that hold whoever asks (W1, W2); who may ask is the business of `check.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from quotatree.access.centre import Centre
from quotatree.access.errors import NotFound
from quotatree.access.names import check_name
from quotatree.access.roles import Role
from quotatree.access.values import Member, QuotaAdmin, SessionInfo, TokenInfo, User, Workspace
from quotatree.core import PriorityNames, Refused, check_names, in_order
from quotatree.core.sentences import Sentence, a_job, a_workspace


@dataclass(frozen=True, slots=True)
class Directory:
    users: Mapping[str, User] = field(default_factory=dict)
    workspaces: Mapping[str, Workspace] = field(default_factory=dict)
    centres: Mapping[tuple[str, str], Centre] = field(default_factory=dict)
    """Keys are (workspace, quota). A binding without an entry has no rules."""
    quota_admins: frozenset[QuotaAdmin] = frozenset()
    tokens: Mapping[str, TokenInfo] = field(default_factory=dict)
    sessions: Mapping[str, SessionInfo] = field(default_factory=dict)
    """By `id_hash`."""
    priority_names: PriorityNames = field(default_factory=dict)
    """Names that may be written for priorities, in the whole installation (W6)."""

    # -- looking up ------------------------------------------------------------------------------------------

    def user(self, name: str) -> User:
        return _found(self.users, "user", name)

    def workspace(self, name: str) -> Workspace:
        return _found(self.workspaces, "workspace", name)

    def centre(self, workspace: str, quota: str) -> Centre:
        """The rules of a binding; if none were set, a Centre that allows everything."""
        return self.centres.get((workspace, quota)) or Centre(workspace, quota)

    def bound_to(self, quota: str) -> tuple[str, ...]:
        """The workspaces whose jobs may name this quota (W1)."""
        return tuple(w.id for w in self.workspaces.values() if quota in w.quotas)

    # -- priorities ------------------------------------------------------------------------------------------

    def with_priority_names(self, names: PriorityNames) -> Directory:
        """Replace all names of priorities. Jobs, policies and limits have numbers and stay as they are (W6)."""
        check_names(names)
        return replace(self, priority_names=dict(in_order(names)))

    # -- users -----------------------------------------------------------------------------------------------

    def with_user(self, user: User) -> Directory:
        """Add or replace an account. A user who is disabled by it loses all sessions."""
        before = self.users.get(user.name)
        users = {**self.users, user.name: replace(user, version=before.version + 1 if before else 1)}
        if before is not None and _rules(before) and not any(_rules(u) for u in users.values()):
            raise Refused("user", user.name, "W2", "is the last platform admin that is not disabled")
        sessions = self.sessions
        if user.disabled:
            sessions = {key: s for key, s in sessions.items() if s.user != user.name}
        return replace(self, users=users, sessions=sessions)

    def with_quota_admin(self, user: str, quota: str) -> Directory:
        self.user(user)
        return replace(self, quota_admins=self.quota_admins | {QuotaAdmin(user, quota)})

    def without_quota_admin(self, user: str, quota: str) -> Directory:
        if QuotaAdmin(user, quota) not in self.quota_admins:
            raise NotFound("quota admin", user)
        return replace(self, quota_admins=self.quota_admins - {QuotaAdmin(user, quota)})

    def without_quota(self, quota: str) -> Directory:
        """Drop the admins of a deleted quota (Q6), so that a new one of that name starts without any.

        Refused while workspaces are bound to it.
        """
        bound = self.bound_to(quota)
        if bound:
            raise Refused(
                "quota", quota, "Q6", Sentence("is bound to workspaces: ", map(a_workspace, sorted(bound)))
            )
        return replace(self, quota_admins=frozenset(a for a in self.quota_admins if a.quota != quota))

    # -- workspaces ------------------------------------------------------------------------------------------

    def with_workspace(self, workspace: str, description: str = "", owners: Sequence[str] = ()) -> Directory:
        """Add a workspace. One without owners is open to platform admins only.

        The accounts of its namespaces, from before it was deleted, are its developers again.
        """
        check_name("workspace", workspace)
        if workspace in self.workspaces:
            raise Refused("workspace", workspace, "E1", "the name is taken")
        for owner in owners:
            self.user(owner)
        accounts = {
            Member(one.name, Role.DEVELOPER) for one in self.users.values() if one.submits_for(workspace)
        }
        members = {Member(owner, Role.OWNER) for owner in owners} | accounts
        return self._put(Workspace(workspace, description, tuple(sorted(members, key=_order))))

    def described(self, workspace: str, description: str) -> Directory:
        return self._put(replace(self.workspace(workspace), description=description))

    def without_workspace(self, workspace: str, active_jobs: Sequence[str] = ()) -> Directory:
        self.workspace(workspace)
        if active_jobs:
            raise Refused("workspace", workspace, "W1", Sentence("has active jobs: ", _listed(active_jobs)))
        return replace(
            self,
            workspaces=_without(self.workspaces, [workspace]),
            centres=_without(self.centres, [key for key in self.centres if key[0] == workspace]),
        )

    def member_added(self, workspace: str, user: str, role: Role) -> Directory:
        self.user(user)
        found = self.workspace(workspace)
        members = tuple(sorted({*found.members, Member(user, role)}, key=_order))
        return self._put(replace(found, members=members)) if members != found.members else self

    def member_removed(self, workspace: str, user: str, role: Role | None = None) -> Directory:
        """Take one role of a member, or all if `role` is None. The member's jobs are not touched."""
        found = self.workspace(workspace)
        gone = {m for m in found.members if m.user == user and role in (None, m.role)}
        if not gone:
            raise NotFound("member", user)
        left = tuple(m for m in found.members if m not in gone)
        had_owner = any(m.role is Role.OWNER for m in found.members)
        if had_owner and not any(m.role is Role.OWNER for m in left):
            raise Refused(
                "member",
                user,
                "W2",
                Sentence("is the last owner of ", a_workspace(workspace), "; name another one first"),
            )
        return self._put(replace(found, members=left))

    # -- bindings and their centres --------------------------------------------------------------------------

    def bound(self, workspace: str, quota: str) -> Directory:
        found = self.workspace(workspace)
        quotas = tuple(sorted({*found.quotas, quota}))
        return self._put(replace(found, quotas=quotas)) if quotas != found.quotas else self

    def unbound(self, workspace: str, quota: str, active_jobs: Sequence[str] = ()) -> Directory:
        """Remove a binding and its centre. Refused while the workspace has active jobs in the quota (W1)."""
        found = self._bound_workspace(workspace, quota)
        if active_jobs:
            raise Refused(
                "quota",
                quota,
                "W1",
                Sentence(a_workspace(workspace), " has active jobs there: ", _listed(active_jobs)),
            )
        left = self._put(replace(found, quotas=tuple(q for q in found.quotas if q != quota)))
        return replace(left, centres=_without(self.centres, [(workspace, quota)]))

    def with_centre(self, centre: Centre) -> Directory:
        found = self._bound_workspace(centre.workspace, centre.quota)
        members = {member.user for member in found.members}
        for who in (*(a.who for a in centre.amounts), *(c.who for c in centre.ceilings)):
            kind, _, name = who.partition(":")
            if kind == "user" and name not in members:
                raise Refused(
                    "who", who, "W3", Sentence("is not a member of ", a_workspace(centre.workspace))
                )
        key = (centre.workspace, centre.quota)
        before = self.centres.get(key)
        new = replace(centre, version=before.version + 1 if before else 1)
        return replace(self, centres={**self.centres, key: new})

    # -- tokens and sessions ---------------------------------------------------------------------------------

    def with_token(self, token: TokenInfo) -> Directory:
        self.user(token.user)
        if token.id in self.tokens:
            raise Refused("token", token.id, "W2", "the id is taken")
        return replace(self, tokens={**self.tokens, token.id: token})

    def token_revoked(self, token: str, now_ms: int) -> Directory:
        """Revoke a token as of `now_ms`. Revoking it again keeps the first time."""
        found = _found(self.tokens, "token", token)
        if found.revoked_ms is not None:
            return self
        return replace(self, tokens={**self.tokens, token: replace(found, revoked_ms=now_ms)})

    def with_session(self, session: SessionInfo) -> Directory:
        self.user(session.user)
        return replace(self, sessions={**self.sessions, session.id_hash: session})

    def without_sessions(self, id_hashes: Iterable[str]) -> Directory:
        return replace(self, sessions=_without(self.sessions, id_hashes))

    # -- parts -----------------------------------------------------------------------------------------------

    def _put(self, workspace: Workspace) -> Directory:
        new = replace(workspace, version=workspace.version + 1)
        return replace(self, workspaces={**self.workspaces, new.id: new})

    def _bound_workspace(self, workspace: str, quota: str) -> Workspace:
        found = self.workspace(workspace)
        if quota not in found.quotas:
            raise Refused("quota", quota, "W1", Sentence("is not bound to ", a_workspace(workspace)))
        return found


K = TypeVar("K")
V = TypeVar("V")


def _found(table: Mapping[str, V], kind: str, name: str) -> V:
    found = table.get(name)
    if found is None:
        raise NotFound(kind, name)
    return found


def _without(table: Mapping[K, V], keys: Iterable[K]) -> Mapping[K, V]:
    gone = set(keys)
    return {key: value for key, value in table.items() if key not in gone}


def _rules(user: User) -> bool:
    return user.platform_admin and not user.disabled


def _order(member: Member) -> tuple[str, str]:
    return member.user, member.role.value


def _listed(jobs: Sequence[str]) -> Sentence:
    shown = Sentence(map(a_job, sorted(jobs)[:20]))
    return shown if len(jobs) <= 20 else Sentence(shown, f" and {len(jobs) - 20} more")
