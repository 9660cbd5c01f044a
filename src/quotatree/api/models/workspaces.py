"""A workspace, its members, and the scheduling centre of one of its bindings (W1-W4)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from quotatree.access.allowed import Allowed
from quotatree.access.centre import Amount, Ceiling, Centre, ModuleTime
from quotatree.access.roles import SUBMITTING_ROLES, Role
from quotatree.access.values import Workspace
from quotatree.api.models.fields import (
    WHO,
    Body,
    Duration,
    Gpus,
    Line,
    ModuleName,
    Name,
    Priority,
    Range,
    number,
    span,
)
from quotatree.api.models.policies import ALL_MODULES, ModuleNames, module_names, names_in
from quotatree.core import Module, Priorities, PriorityNames, parse_modules

RoleName = Literal["owner", "admin", "operator", "developer", "viewer"]
SubmittingRole = Literal["owner", "admin", "operator", "developer"]
Who = Annotated[str, StringConstraints(pattern=WHO), Field(examples=["role:developer", "user:ann"])]
ALL_ROLES: list[SubmittingRole] = ["owner", "admin", "operator", "developer"]


class WorkspaceIn(Body):
    id: Name
    description: Line = ""
    owners: Annotated[list[Name], Field(max_length=100)] = Field(default=[])


class WorkspaceChange(Body):
    description: Line


class MemberIn(Body):
    user: Name
    role: RoleName


class AmountIn(Body):
    """All jobs of `who` together use at most so much at these priorities; a job over it waits (W4)."""

    who: Who
    priorities: Range
    gpus: Gpus


class CeilingIn(Body):
    """`who` asks for at most this priority; more is refused (W4)."""

    who: Who
    priority: Priority


Times = Duration | Annotated[dict[ModuleName, Duration], Field(min_length=1)]
"""A time for the jobs of all modules, or one for each module that is named."""


class CentreIn(Body):
    """The rules of a workspace in one of its quotas (W3). What is left out binds nobody."""

    modules: ModuleNames = ALL_MODULES
    roles: Annotated[list[SubmittingRole], Field(min_length=1, max_length=4)] = ALL_ROLES
    amounts: Annotated[list[AmountIn], Field(max_length=200)] = Field(default=[])
    ceilings: Annotated[list[CeilingIn], Field(max_length=200)] = Field(default=[])
    longest_run: Times | None = None
    longest_wait: Times | None = None

    def centre(self, workspace: str, quota: str) -> Centre:
        return Centre(
            workspace=workspace,
            quota=quota,
            modules=parse_modules("modules", self.modules),
            roles=frozenset(Role(role) for role in self.roles),
            amounts=tuple(Amount(one.who, one.priorities, one.gpus) for one in self.amounts),
            ceilings=tuple(Ceiling(one.who, one.priority) for one in self.ceilings),
            longest_run_ms=_of_all(self.longest_run),
            longest_wait_ms=_of_all(self.longest_wait),
            longest_run_of=_of_modules(self.longest_run),
            longest_wait_of=_of_modules(self.longest_wait),
        )


def _of_all(times: int | dict[ModuleName, int] | None) -> int | None:
    return None if isinstance(times, dict) else times


def _of_modules(times: int | dict[ModuleName, int] | None) -> tuple[ModuleTime, ...]:
    if not isinstance(times, dict):
        return ()
    return tuple(ModuleTime(Module(name), ms) for name, ms in sorted(times.items()))


class MemberOut(TypedDict):
    user: str
    role: str


class WorkspaceOut(TypedDict):
    """`allowed`: what the reader's roles let them do to it."""

    id: str
    description: str
    version: int
    members: list[MemberOut]
    quotas: list[str]
    allowed: list[str]


class Workspaces(TypedDict):
    items: list[WorkspaceOut]


class AmountOut(TypedDict):
    who: str
    priorities: str
    gpus: float


class CeilingOut(TypedDict):
    who: str
    priority: int


class CentreOut(TypedDict):
    """`version` 0: never set, so everything is allowed. `priority_names`: the names of priorities that its limits speak of (W6)."""

    workspace: str
    quota: str
    version: int
    modules: list[str]
    roles: list[str]
    amounts: list[AmountOut]
    ceilings: list[CeilingOut]
    longest_run: str | dict[str, str] | None
    longest_wait: str | dict[str, str] | None
    priority_names: dict[str, int]


def workspace_out(workspace: Workspace, allowed: Allowed | None = None) -> WorkspaceOut:
    return {
        "id": workspace.id,
        "description": workspace.description,
        "version": workspace.version,
        "members": [{"user": member.user, "role": member.role.value} for member in workspace.members],
        "quotas": list(workspace.quotas),
        "allowed": [] if allowed is None else allowed.on_workspace(workspace.id),
    }


def centre_out(centre: Centre, names: PriorityNames) -> CentreOut:
    limited = [one.priorities for one in centre.amounts]
    limited += [Priorities(one.priority, one.priority) for one in centre.ceilings]
    return {
        "workspace": centre.workspace,
        "quota": centre.quota,
        "version": centre.version,
        "modules": module_names(centre.modules),
        "roles": [role.value for role in SUBMITTING_ROLES if role in centre.roles],
        "amounts": [
            {"who": one.who, "priorities": str(one.priorities), "gpus": number(one.gpu_milli)}
            for one in centre.amounts
        ],
        "ceilings": [{"who": one.who, "priority": one.priority} for one in centre.ceilings],
        "longest_run": _times(centre.longest_run_ms, centre.longest_run_of),
        "longest_wait": _times(centre.longest_wait_ms, centre.longest_wait_of),
        "priority_names": names_in(limited, names),
    }


def _times(of_all: int | None, of_modules: tuple[ModuleTime, ...]) -> str | dict[str, str] | None:
    if not of_modules:
        return span(of_all)
    return {one.module.value: span(one.ms) or "" for one in of_modules}
