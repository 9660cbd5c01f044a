"""Who may do what: one literal table of actions and roles (W2, ADR 0018).

A role is held towards something: an owner is owner of one workspace, a quota admin has one quota and what is below it.
The columns of the table are the roles; `check.py` finds out which of them an actor holds towards a target.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Role(Enum):
    """A role. A user may hold several; USER is held by everyone who is signed in."""

    PLATFORM_ADMIN = "platform-admin"
    QUOTA_ADMIN = "quota-admin"
    OWNER = "owner"
    ADMIN = "admin"
    OPERATOR = "operator"
    DEVELOPER = "developer"
    VIEWER = "viewer"
    USER = "user"


WORKSPACE_ROLES: Final = (Role.OWNER, Role.ADMIN, Role.OPERATOR, Role.DEVELOPER, Role.VIEWER)
SUBMITTING_ROLES: Final = (Role.OWNER, Role.ADMIN, Role.OPERATOR, Role.DEVELOPER)


class Grant(Enum):
    NO = "-"
    YES = "yes"
    OWN = "own"  # the actor's own job or own account
    BELOW = "below"  # quotas below the one they are admin of, not that one itself


class TargetKind(Enum):
    """The kind of target that an action has."""

    PLATFORM = "platform"
    QUOTA = "quota"
    BINDING = "binding"
    WORKSPACE = "workspace"
    JOB = "job"
    USER = "user"


class Action(Enum):
    # the platform
    SEE_POOLS = "see-pools"
    SEE_NODES = "see-nodes"
    MANAGE_NODES = "manage-nodes"  # pools and nodes: join, cordon, drain
    CREATE_ROOT_QUOTA = "create-root-quota"
    CREATE_WORKSPACE = "create-workspace"
    MANAGE_USERS = "manage-users"
    SEE_AUDIT = "see-audit"
    SEE_METRICS = "see-metrics"  # those with names of quotas, nodes and jobs
    NAME_PRIORITIES = "name-priorities"
    OPERATE = "operate"  # settings, backup, snapshot, platform-wide webhooks
    # a quota
    SEE_QUOTA = "see-quota"
    SEE_LEDGER = "see-ledger"
    SEE_QUOTA_ADMINS = "see-quota-admins"
    CREATE_CHILD_QUOTA = "create-child-quota"
    UPDATE_QUOTA = "update-quota"
    SCALE_QUOTA = "scale-quota"
    DELETE_QUOTA = "delete-quota"
    RETURN_LOAN = "return-loan"
    SIMULATE = "simulate"  # replay the history of a tree, of all its teams
    APPOINT_QUOTA_ADMIN = "appoint-quota-admin"
    # a workspace and a quota
    BIND_QUOTA = "bind-quota"
    UNBIND_QUOTA = "unbind-quota"
    # a workspace
    SEE_WORKSPACE = "see-workspace"
    SEE_WORKSPACE_AUDIT = "see-workspace-audit"
    UPDATE_WORKSPACE = "update-workspace"
    DELETE_WORKSPACE = "delete-workspace"
    MANAGE_MEMBERS = "manage-members"
    MANAGE_OWNERS = "manage-owners"  # give or take the roles owner and admin
    SET_CENTRE = "set-centre"
    MANAGE_WEBHOOKS = "manage-webhooks"
    SUBMIT_JOB = "submit-job"
    # a job
    SEE_JOB = "see-job"
    EXPLAIN_JOB = "explain-job"
    SEE_EXPOSURE = "see-exposure"
    SEE_ENDPOINT = "see-endpoint"
    SEE_LOGS = "see-logs"
    OPEN_JOB = "open-job"  # the token of a notebook: it allows to run commands as the job
    CANCEL_JOB = "cancel-job"
    STOP_JOB = "stop-job"
    HOLD_JOB = "hold-job"
    RESIZE_JOB = "resize-job"
    RESTART_JOB = "restart-job"
    CHECKPOINT_JOB = "checkpoint-job"
    SET_PRIORITY = "set-priority"
    # a user
    SEE_USER = "see-user"
    UPDATE_USER = "update-user"
    CHANGE_PASSWORD = "change-password"
    SEE_TOKENS = "see-tokens"
    MANAGE_TOKENS = "manage-tokens"

    @property
    def reads(self) -> bool:
        """True if the action changes nothing, so that a read-only token may do it."""
        return self.value.startswith(("see-", "explain-"))


class Row(NamedTuple):
    """The kind of target of one action and its grants, in the order of Role."""

    kind: TargetKind
    grants: tuple[Grant, ...]

    def of(self, role: Role) -> Grant:
        return self.grants[_COLUMN[role]]

    @property
    def needed(self) -> tuple[Role, ...]:
        """The roles that have the right, at least on their own targets."""
        return tuple(role for role in Role if self.of(role) is not Grant.NO)


_COLUMN: Final = {role: column for column, role in enumerate(Role)}


def _row(kind: TargetKind, grants: str) -> Row:
    found = tuple(Grant(word) for word in grants.split())
    if len(found) != len(Role):
        raise ValueError(f"{grants!r}: a row has {len(Role)} columns")
    return Row(kind, found)


# fmt: off
TABLE: Final[dict[Action, Row]] = {
    #                                                 platform  quota  owner  admin  operator  developer  viewer  user
    Action.SEE_POOLS:           _row(TargetKind.PLATFORM,  "yes       yes    -      -      -         -          -       yes"),
    Action.SEE_NODES:           _row(TargetKind.PLATFORM,  "yes       yes    -      -      -         -          -       -"),
    Action.MANAGE_NODES:        _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),
    Action.CREATE_ROOT_QUOTA:   _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),
    Action.CREATE_WORKSPACE:    _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),
    Action.MANAGE_USERS:        _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),
    Action.SEE_AUDIT:           _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),
    Action.SEE_METRICS:         _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),
    Action.NAME_PRIORITIES:     _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),
    Action.OPERATE:             _row(TargetKind.PLATFORM,  "yes       -      -      -      -         -          -       -"),

    Action.SEE_QUOTA:           _row(TargetKind.QUOTA,     "yes       yes    yes    yes    yes       yes        yes     -"),
    Action.SEE_LEDGER:          _row(TargetKind.QUOTA,     "yes       yes    yes    yes    yes       yes        yes     -"),
    Action.SEE_QUOTA_ADMINS:    _row(TargetKind.QUOTA,     "yes       yes    -      -      -         -          -       -"),
    Action.CREATE_CHILD_QUOTA:  _row(TargetKind.QUOTA,     "yes       yes    -      -      -         -          -       -"),
    Action.UPDATE_QUOTA:        _row(TargetKind.QUOTA,     "yes       below  -      -      -         -          -       -"),
    Action.SCALE_QUOTA:         _row(TargetKind.QUOTA,     "yes       below  -      -      -         -          -       -"),
    Action.DELETE_QUOTA:        _row(TargetKind.QUOTA,     "yes       below  -      -      -         -          -       -"),
    Action.RETURN_LOAN:         _row(TargetKind.QUOTA,     "yes       yes    -      -      -         -          -       -"),
    Action.SIMULATE:            _row(TargetKind.QUOTA,     "yes       yes    -      -      -         -          -       -"),
    Action.APPOINT_QUOTA_ADMIN: _row(TargetKind.QUOTA,     "yes       below  -      -      -         -          -       -"),

    Action.BIND_QUOTA:          _row(TargetKind.BINDING,   "yes       yes    -      -      -         -          -       -"),
    Action.UNBIND_QUOTA:        _row(TargetKind.BINDING,   "yes       yes    yes    -      -         -          -       -"),

    Action.SEE_WORKSPACE:       _row(TargetKind.WORKSPACE, "yes       -      yes    yes    yes       yes        yes     -"),
    Action.SEE_WORKSPACE_AUDIT: _row(TargetKind.WORKSPACE, "yes       -      yes    yes    -         -          -       -"),
    Action.UPDATE_WORKSPACE:    _row(TargetKind.WORKSPACE, "yes       -      yes    yes    -         -          -       -"),
    Action.DELETE_WORKSPACE:    _row(TargetKind.WORKSPACE, "yes       -      yes    -      -         -          -       -"),
    Action.MANAGE_MEMBERS:      _row(TargetKind.WORKSPACE, "yes       -      yes    yes    -         -          -       -"),
    Action.MANAGE_OWNERS:       _row(TargetKind.WORKSPACE, "yes       -      yes    -      -         -          -       -"),
    Action.SET_CENTRE:          _row(TargetKind.WORKSPACE, "yes       -      yes    yes    -         -          -       -"),
    Action.MANAGE_WEBHOOKS:     _row(TargetKind.WORKSPACE, "yes       -      yes    yes    -         -          -       -"),
    Action.SUBMIT_JOB:          _row(TargetKind.WORKSPACE, "yes       -      yes    yes    yes       yes        -       -"),

    Action.SEE_JOB:             _row(TargetKind.JOB,       "yes       -      yes    yes    yes       yes        yes     -"),
    Action.EXPLAIN_JOB:         _row(TargetKind.JOB,       "yes       -      yes    yes    yes       yes        yes     -"),
    Action.SEE_EXPOSURE:        _row(TargetKind.JOB,       "yes       -      yes    yes    yes       yes        yes     -"),
    Action.SEE_ENDPOINT:        _row(TargetKind.JOB,       "yes       -      yes    yes    yes       yes        yes     -"),
    Action.SEE_LOGS:            _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.OPEN_JOB:            _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.CANCEL_JOB:          _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.STOP_JOB:            _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.HOLD_JOB:            _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.RESIZE_JOB:          _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.RESTART_JOB:         _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.CHECKPOINT_JOB:      _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),
    Action.SET_PRIORITY:        _row(TargetKind.JOB,       "yes       -      yes    yes    yes       own        -       -"),

    Action.SEE_USER:            _row(TargetKind.USER,      "yes       -      -      -      -         -          -       own"),
    Action.UPDATE_USER:         _row(TargetKind.USER,      "yes       -      -      -      -         -          -       own"),
    Action.CHANGE_PASSWORD:     _row(TargetKind.USER,      "yes       -      -      -      -         -          -       own"),
    Action.SEE_TOKENS:          _row(TargetKind.USER,      "yes       -      -      -      -         -          -       own"),
    Action.MANAGE_TOKENS:       _row(TargetKind.USER,      "yes       -      -      -      -         -          -       own"),
}
# fmt: on
