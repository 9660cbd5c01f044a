"""May this actor do this to that (W2)? And what may they see?

An outsider, who may not even see the target, gets NotFound, as if it did not exist; an insider without the right gets
Forbidden, which names the roles that have it. Which role has which right stands in `roles.TABLE` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quotatree.access.directory import Directory
from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.roles import TABLE, Action, Grant, Role, TargetKind
from quotatree.access.values import QuotaAdmin, TokenInfo

Tree = Mapping[str, str | None]
"""The parent of every quota; None for a root."""


@dataclass(frozen=True, slots=True)
class OnPlatform:
    kind = TargetKind.PLATFORM


@dataclass(frozen=True, slots=True)
class OnQuota:
    """A quota as a target. `path` starts with it and ends with its root; to create a child it is the future parent's."""

    path: tuple[str, ...]
    kind = TargetKind.QUOTA


@dataclass(frozen=True, slots=True)
class OnBinding:
    workspace: str
    path: tuple[str, ...]
    kind = TargetKind.BINDING


@dataclass(frozen=True, slots=True)
class OnWorkspace:
    workspace: str
    kind = TargetKind.WORKSPACE


@dataclass(frozen=True, slots=True)
class OnJob:
    """A job as a target. `job` is the id that an outsider asked for; the answer repeats it."""

    job: str
    workspace: str
    owner: str
    kind = TargetKind.JOB


@dataclass(frozen=True, slots=True)
class OnUser:
    user: str
    kind = TargetKind.USER


Target = OnPlatform | OnQuota | OnBinding | OnWorkspace | OnJob | OnUser

PLATFORM = OnPlatform()


def path_of(quota: str, tree: Tree) -> tuple[str, ...]:
    """The quotas from this one up to its root. Raises NotFound if it is not in the tree, as if it were not visible."""
    if quota not in tree:
        raise NotFound("quota", quota)
    path = [quota]
    while (parent := tree[path[-1]]) is not None:
        path.append(parent)
    return tuple(path)


def check(directory: Directory, actor: str, action: Action, target: Target) -> None:
    """Raise NotFound or Forbidden unless the actor may do this."""
    if may(directory, actor, action, target):
        return
    _check_visible(directory, actor, target)
    needed = tuple(role.value for role in TABLE[action].needed)
    raise Forbidden(
        action.value, needed, f"{action.value} needs one of the roles {', '.join(needed)}{_hint(action)}"
    )


def may(directory: Directory, actor: str, action: Action, target: Target) -> bool:
    row = TABLE[action]
    if row.kind is not target.kind:
        raise ValueError(f"{action.value} is done to a {row.kind.value}, not to {target}")
    if isinstance(target, OnWorkspace | OnJob | OnBinding) and target.workspace not in directory.workspaces:
        return False
    if isinstance(target, OnUser) and target.user not in directory.users:
        return False
    if isinstance(target, OnBinding) and not _sees_binding(directory, actor, target):
        return False
    held = roles_on(directory, actor, target)
    return any(_covers(directory, actor, row.of(role), target) for role in held)


def roles_on(directory: Directory, actor: str, target: Target) -> tuple[Role, ...]:
    """The roles that the actor holds towards the target, highest first. A disabled user holds none."""
    user = directory.users.get(actor)
    if user is None or user.disabled:
        return ()
    held = {Role.USER}
    if user.platform_admin:
        held.add(Role.PLATFORM_ADMIN)
    if isinstance(target, OnPlatform):
        if any(admin.user == actor for admin in directory.quota_admins):
            held.add(Role.QUOTA_ADMIN)
    elif isinstance(target, OnQuota | OnBinding) and _is_admin(directory, actor, target.path):
        held.add(Role.QUOTA_ADMIN)
    if isinstance(target, OnQuota):
        for workspace in directory.bound_to(target.path[0]):
            held.update(directory.workspaces[workspace].roles_of(actor))
    elif isinstance(target, OnWorkspace | OnJob | OnBinding):
        workspace_found = directory.workspaces.get(target.workspace)
        held.update(workspace_found.roles_of(actor) if workspace_found is not None else ())
    return tuple(role for role in Role if role in held)


def check_role_given(directory: Directory, actor: str, workspace: str, role: Role) -> None:
    """Raise unless the actor may give or take this role: admins the lower ones, owners also owner and admin."""
    high = role in (Role.OWNER, Role.ADMIN)
    action = Action.MANAGE_OWNERS if high else Action.MANAGE_MEMBERS
    check(directory, actor, action, OnWorkspace(workspace))


def check_token(token: TokenInfo, action: Action) -> None:
    """Raise Forbidden if the token is read-only and the action is not a read, whatever the user's rights."""
    if token.read_only and not action.reads:
        raise Forbidden(action.value, (), f"{action.value} changes something and the token is read-only")


def visible_workspaces(directory: Directory, actor: str) -> frozenset[str]:
    return _workspaces_where(directory, actor, Action.SEE_WORKSPACE)


def workspaces_with_visible_jobs(directory: Directory, actor: str) -> frozenset[str]:
    return _workspaces_where(directory, actor, Action.SEE_JOB)


def visible_quotas(directory: Directory, actor: str, tree: Tree) -> frozenset[str]:
    """The quotas whose figures the actor may read: the same answer as `may` for each, computed at once."""
    row = TABLE[Action.SEE_QUOTA]
    held = roles_on(directory, actor, PLATFORM)
    if Role.PLATFORM_ADMIN in held and row.of(Role.PLATFORM_ADMIN) is Grant.YES:
        return frozenset(tree)
    mine = _workspaces_where(directory, actor, Action.SEE_QUOTA)
    seen = {quota for name in mine for quota in directory.workspaces[name].quotas if quota in tree}
    if Role.QUOTA_ADMIN in held and row.of(Role.QUOTA_ADMIN) is Grant.YES:
        seen.update(quota for quota in tree if _is_admin(directory, actor, path_of(quota, tree)))
    return frozenset(seen)


def named_quotas(directory: Directory, actor: str, tree: Tree) -> frozenset[str]:
    """The quotas whose names the actor may read: the visible ones and their ancestors, which explain waits."""
    seen = visible_quotas(directory, actor, tree)
    return frozenset(above for quota in seen for above in path_of(quota, tree))


def visible_users(directory: Directory, actor: str) -> frozenset[str]:
    """The actor and everybody they share a workspace with; for a platform admin all users."""
    if Role.PLATFORM_ADMIN in roles_on(directory, actor, PLATFORM):
        return frozenset(directory.users)
    seen = visible_workspaces(directory, actor)
    shared = {member.user for name in seen for member in directory.workspaces[name].members}
    return frozenset(shared | {actor})


def _workspaces_where(directory: Directory, actor: str, action: Action) -> frozenset[str]:
    """The workspaces in which a role of the actor, there or on the platform, has the right without conditions."""
    row = TABLE[action]
    held = roles_on(directory, actor, PLATFORM)
    if Role.PLATFORM_ADMIN in held and row.of(Role.PLATFORM_ADMIN) is Grant.YES:
        return frozenset(directory.workspaces)
    if not held:
        return frozenset()
    granted = {role for role in Role if row.of(role) is Grant.YES}
    return frozenset(
        workspace.id
        for workspace in directory.workspaces.values()
        if any(member.user == actor and member.role in granted for member in workspace.members)
    )


def _is_admin(directory: Directory, actor: str, quotas: tuple[str, ...]) -> bool:
    return any(QuotaAdmin(actor, quota) in directory.quota_admins for quota in quotas)


def _covers(directory: Directory, actor: str, grant: Grant, target: Target) -> bool:
    if grant is Grant.BELOW:
        return isinstance(target, OnQuota) and _is_admin(directory, actor, target.path[1:])
    if grant is Grant.OWN:
        if isinstance(target, OnJob):
            return target.owner == actor
        return isinstance(target, OnUser) and target.user == actor
    return grant is Grant.YES


def _check_visible(directory: Directory, actor: str, target: Target) -> None:
    """Raise NotFound if the actor may not see the target, with the same message as for a missing one."""
    if isinstance(target, OnQuota):
        if not may(directory, actor, Action.SEE_QUOTA, target):
            raise NotFound("quota", target.path[0])
    elif isinstance(target, OnWorkspace):
        if not may(directory, actor, Action.SEE_WORKSPACE, target):
            raise NotFound("workspace", target.workspace)
    elif isinstance(target, OnJob):
        if not may(directory, actor, Action.SEE_JOB, target):
            raise NotFound("job", target.job)
    elif isinstance(target, OnUser):
        if not may(directory, actor, Action.SEE_USER, target):
            raise NotFound("user", target.user)
    elif isinstance(target, OnBinding):
        _check_visible(directory, actor, OnQuota(target.path))
        if not _sees_binding(directory, actor, target):
            raise NotFound("workspace", target.workspace)


def _sees_binding(directory: Directory, actor: str, target: OnBinding) -> bool:
    """True if the actor sees both sides of the binding.

    A quota admin sees the workspace through the binding once it exists; before, they must see it by another role.
    """
    if not may(directory, actor, Action.SEE_QUOTA, OnQuota(target.path)):
        return False
    if may(directory, actor, Action.SEE_WORKSPACE, OnWorkspace(target.workspace)):
        return True
    workspace = directory.workspaces.get(target.workspace)
    stands = workspace is not None and target.path[0] in workspace.quotas
    return stands and _is_admin(directory, actor, target.path)


def _hint(action: Action) -> str:
    grants = TABLE[action].grants
    if Grant.BELOW in grants:
        return "; a quota admin has it for the quotas below their own"
    if Grant.OWN in grants:
        return "; a developer has it for their own jobs"
    return ""
