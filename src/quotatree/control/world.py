"""Everything the loop knows: the core's state, the directory, and the facts of jobs that the core need not know.

A batch changes what is here, except deadlines, through the state's undo log (`put_entry`, `drop_entry`), so that one
rollback takes everything back: a refused command, or a commit that failed (A6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from quotatree.access.directory import Directory
from quotatree.access.errors import NotFound
from quotatree.control.commands.values import Answer
from quotatree.control.deadlines import Deadlines
from quotatree.control.errors import Conflict
from quotatree.core import Demand, Job, JobId, Node, Quota, QuotaId, State
from quotatree.store.load import Counters
from quotatree.store.rows import Card, PlacementRow, RunRow, UsageRow, WebhookRow

ANSWERS_AT_HAND: Final = 100_000
ANSWERS_KEPT_MS: Final = 24 * 3_600_000
"""How long the answer to a request with an idempotency key is kept: a day."""
SYSTEM: Final = "(server)"
"""The actor of changes that the server makes by itself; no user can have this name."""
RESOURCES: Final = "(resources)"
"""The actor of changes that resources of a cluster ask for. Whoever may write them there has every right here (E6)."""
ITSELF: Final = frozenset({SYSTEM, RESOURCES})
"""The actors that are no users."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer to a request that carried an idempotency key, and the fingerprint of that request."""

    fingerprint: str
    answer: Answer
    at_ms: int


class Share(NamedTuple):
    """What a replica occupies, and how: idle, or regular with `loan_milli` of it on loan."""

    gpu_milli: int
    idle: bool
    loan_milli: int = 0


class Usage(NamedTuple):
    """What a run occupies now: by replica, and as the stretches by claim that are open in the store."""

    shares: dict[int, Share]
    stretches: dict[str, UsageRow]


@dataclass(slots=True, eq=False)
class World:
    state: State
    directory: Directory
    cards: dict[JobId, Card] = field(default_factory=dict)
    runs: dict[JobId, RunRow] = field(default_factory=dict)  # open runs
    places: dict[JobId, dict[int, PlacementRow]] = field(default_factory=dict)  # open placements, by replica
    usage: dict[JobId, Usage] = field(default_factory=dict)  # of open runs
    on_loan: dict[QuotaId, dict[JobId, None]] = field(default_factory=dict)  # jobs with a loan that run
    versions: dict[tuple[str, str], int] = field(
        default_factory=dict
    )  # ("quota", id), ("node", …), ("pool", …)
    webhooks: dict[str, WebhookRow] = field(default_factory=dict)
    answers: dict[tuple[str, str], Kept] = field(default_factory=dict)  # by (actor, key)
    has_all_answers: bool = True  # False: the store may have more answers
    counters: Counters = field(default_factory=Counters)
    deadlines: Deadlines = field(default_factory=Deadlines)
    demands: dict[JobId, Demand] = field(
        default_factory=dict
    )  # of services that follow theirs (P16); seen anew after a restart

    def job(self, job_id: str) -> tuple[Job, Card]:
        """The job and its card. Raises NotFound also for a job that is over, which only the store still has."""
        job = self.state.jobs.get(JobId(job_id))
        if job is None:
            raise NotFound("job", job_id)
        return job, self.cards[job.id]

    def quota(self, quota_id: str) -> Quota:
        quota = self.state.quotas.get(QuotaId(quota_id))
        if quota is None:
            raise NotFound("quota", quota_id)
        return quota

    def node(self, name: str) -> Node:
        """The node; one that is gone is not there any more. Raises NotFound."""
        node = self.state.node_by_name.get(name)
        if node is None or node.gone:
            raise NotFound("node", name)
        return node

    def path(self, quota_id: str) -> tuple[str, ...]:
        """Ids of the quota and all above it, the root last, as checks of rights want them."""
        return tuple(above.id for above in self.quota(quota_id).path)

    def active_jobs(self, workspace: str, quota: str | None = None) -> list[str]:
        """Ids of a workspace's unfinished jobs in one quota, or in all if `quota` is None (W1)."""
        quotas = self.state.quotas.values() if quota is None else [self.quota(quota)]
        return [job.id for q in quotas for job in q.jobs.values() if job.spec.workspace == workspace]

    def set_directory(self, directory: Directory) -> None:
        self.directory = directory

    def version(self, kind: str, name: str) -> int:
        return self.versions.get((kind, name), 0)

    def match(self, kind: str, name: str, expected: int | None) -> None:
        """Raise Conflict unless the thing has the `expected` version (If-Match). None: any version will do."""
        check_match(kind, name, expected, self.version(kind, name))

    def bump(self, kind: str, name: str) -> int:
        new = self.version(kind, name) + 1
        self.state.put_entry(self.versions, (kind, name), new)
        return new


def check_match(kind: str, name: str, expected: int | None, found: int) -> None:
    if expected is not None and expected != found:
        raise Conflict(kind, name, expected, found)
