"""What can be asked of the server that changes something: values, each with the one who asks.

`if_match` is the version a change was based on (None: whatever is there); `key` makes a create safe to repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quotatree.access.centre import Centre
from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import SessionInfo, TokenInfo, User
from quotatree.control.errors import Problem
from quotatree.core import (
    UNBOUNDED,
    Autoscale,
    Bounds,
    JobRequest,
    NodeSpec,
    NodeState,
    PriorityNames,
    QuotaSpec,
)
from quotatree.core.events import ScaleMode


@dataclass(frozen=True, slots=True)
class Item:
    """The outcome of one item of a bulk command: an id, or a problem and then the id is None."""

    id: str | None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a command that is committed.

    `version` is the new version of a thing that has versions, else None; `items` are the outcomes of a bulk command.
    `repeated`: this is the answer that the same request got before. `notice`: what the one who asked should know.
    """

    id: str = ""
    version: int | None = None
    items: tuple[Item, ...] = ()
    repeated: bool = False
    notice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    actor: str
    key: str | None = None


# -- jobs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitJob(Command):
    """A job as its owner asks for it, not checked yet: rights come first, and then the core's own checks of a `JobSpec`."""

    asked: JobRequest
    name: str = ""
    on_hold: bool = False
    program: Mapping[str, Any] = field(default_factory=dict)
    autoscale: Autoscale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitJobs(Command):
    """Submit many jobs at once, each with its own outcome."""

    jobs: tuple[SubmitJob, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCommand(Command):
    job: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelJob(JobCommand):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class StopJob(JobCommand):
    """Stop a job until its owner starts it again; its state is kept where that is possible (P14)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPriority(JobCommand):
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldJob(JobCommand):
    """Take a waiting job out of the queue until it is released. `wrong`: its request cannot be planned, and why."""

    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseJob(JobCommand):
    """Put a job on hold back into the queue, with the submit time it had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointJob(JobCommand):
    """Note that a checkpoint was written, or a notebook's state saved (P6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResizeJob(JobCommand):
    """Change how many replicas a job insists on, wants, or can use at most (P12); None: as before."""

    min_replicas: int | None = None
    replicas: int | None = None
    max_replicas: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterJob(JobCommand):
    """Replace what a job asks for that does not run: groups, sizes, grace, checkpoints, and its program. It keeps its submit time."""

    asked: JobRequest
    program: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscaleJob(JobCommand):
    """Let the replicas of a service follow its demand within bounds, or no more if None (P16)."""

    autoscale: Autoscale | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResubmitJob(JobCommand):
    """Start a stopped job again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartService(JobCommand):
    """Replace the replicas of a running service one after another, so that it stays reachable."""


# -- quotas --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateQuota(Command):
    spec: QuotaSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateQuota(Command):
    """Replace everything of a quota's spec but parent, pools and min, which stay as they are (Q6)."""

    spec: QuotaSpec
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleQuota(Command):
    quota: str
    min: Bounds = UNBOUNDED
    draws: tuple[tuple[str, Bounds], ...] = ()
    mode: ScaleMode = ScaleMode.REFUSE
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferQuota(Command):
    source: str
    target: str
    amount: Bounds
    mode: ScaleMode = ScaleMode.REFUSE
    if_match: int | None = None  # version of the source


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteQuota(Command):
    quota: str
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuota(Command):
    """Say which resource of a cluster declares a quota (E6). "": none; a root's tree then belongs to the API."""

    quota: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnLoan(Command):
    quota: str


# -- pools and nodes -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarePool(Command):
    pool: str
    mixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinNode(Command):
    spec: NodeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNodeState(Command):
    """Cordon or drain a node, or make it Ready again (R5)."""

    node: str
    state: NodeState
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveNode(Command):
    """Take an empty node out of its pool for good (R5)."""

    node: str
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePool(Command):
    """Take away a pool without nodes from which nobody draws (R4)."""

    pool: str


# -- workspaces ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceCommand(Command):
    workspace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateWorkspace(WorkspaceCommand):
    description: str = ""
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeWorkspace(WorkspaceCommand):
    description: str
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteWorkspace(WorkspaceCommand):
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMember(WorkspaceCommand):
    user: str
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveMember(WorkspaceCommand):
    user: str
    role: Role | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BindQuota(WorkspaceCommand):
    quota: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnbindQuota(WorkspaceCommand):
    quota: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCentre(Command):
    centre: Centre
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutWebhook(Command):
    """Create or replace a webhook for the events of one workspace; None: for all events (platform admins).

    `kinds` are the kinds of events to send; without any, all kinds.
    """

    webhook: str
    url: str
    secret: str = field(repr=False)
    kinds: tuple[str, ...] = ()
    workspace: str | None = None
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWebhook(Command):
    webhook: str


# -- users ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PutUser(Command):
    """Create an account, or change one."""

    user: User
    if_match: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPassword(Command):
    user: str
    password_hash: str | None = field(repr=False)
    keep_session: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaAdminCommand(Command):
    user: str
    quota: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AppointQuotaAdmin(QuotaAdminCommand):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissQuotaAdmin(QuotaAdminCommand):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeToken(Command):
    token: TokenInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeToken(Command):
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession(Command):
    """Open a session for a user who signs in; the API has checked their password, or the identity provider has."""

    session: SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePriorities(Command):
    """Replace all names of priorities (W6). What has been submitted or saved keeps its numbers."""

    names: PriorityNames


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDirectory(Command):
    """A change by the server itself that depends on what is in the directory, such as a first login by OIDC.

    `change` returns the new directory and the id to answer with; it must be pure and quick.
    """

    action: str
    change: Callable[[Directory], tuple[Directory, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseSessions(Command):
    id_hashes: tuple[str, ...] = field(repr=False)
