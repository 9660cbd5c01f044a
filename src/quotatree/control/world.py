"""Everything the loop knows: the core's state, the directory, and the facts of jobs that the core need not know.

Whoever writes here does it through the state's journal (`put_entry`, `set`), so that one rollback takes everything
back: a refused command, or a commit that failed (A6).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from quotatree.access.directory import Directory
from quotatree.access.errors import NotFound
from quotatree.control.commands.values import Answer
from quotatree.control.deadlines import Deadlines
from quotatree.control.errors import Conflict
from quotatree.core import Job, JobId, Quota, QuotaId, State
from quotatree.store.load import Counters
from quotatree.store.rows import Card, PlacementRow, RunRow, WebhookRow

ANSWERS_AT_HAND: Final = 100_000
ANSWERS_KEPT_MS: Final = 24 * 3_600_000
"""A request that is repeated within a day is known again."""
SYSTEM: Final = "(server)"
"""The actor of what the server does by itself; no user can have this name."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer to a request that carried a key."""

    fingerprint: str
    answer: Answer
    at_ms: int


@dataclass(slots=True, eq=False)
class World:
    state: State
    directory: Directory
    cards: dict[JobId, Card] = field(default_factory=dict)
    runs: dict[JobId, RunRow] = field(default_factory=dict)  # open ones
    places: dict[JobId, dict[int, PlacementRow]] = field(default_factory=dict)  # open ones, by replica
    versions: dict[tuple[str, str], int] = field(
        default_factory=dict
    )  # ("quota", id), ("node", …), ("pool", …)
    webhooks: dict[str, WebhookRow] = field(default_factory=dict)
    answers: dict[tuple[str, str], Kept] = field(default_factory=dict)  # the newest, oldest first
    has_all_answers: bool = True  # False: there may be more of them in the store
    counters: Counters = field(default_factory=Counters)
    deadlines: Deadlines = field(default_factory=Deadlines)

    def job(self, job_id: str) -> tuple[Job, Card]:
        """An active job; a finished one has left the loop and stands in the store."""
        job = self.state.jobs.get(JobId(job_id))
        if job is None:
            raise NotFound("job", job_id)
        return job, self.cards[job.id]

    def quota(self, quota_id: str) -> Quota:
        quota = self.state.quotas.get(QuotaId(quota_id))
        if quota is None:
            raise NotFound("quota", quota_id)
        return quota

    def path(self, quota_id: str) -> tuple[str, ...]:
        """The quota first, its root last, as the rights want it."""
        return tuple(above.id for above in self.quota(quota_id).path)

    def active_jobs(self, workspace: str, quota: str | None = None) -> list[str]:
        """Not yet finished jobs of a workspace (W1)."""
        quotas = self.state.quotas.values() if quota is None else [self.quota(quota)]
        return [job.id for q in quotas for job in q.jobs.values() if job.spec.workspace == workspace]

    def set_directory(self, directory: Directory) -> None:
        self.directory = directory

    def version(self, kind: str, name: str) -> int:
        return self.versions.get((kind, name), 0)

    def match(self, kind: str, name: str, expected: int | None) -> None:
        """If-Match: refuse to overwrite what somebody else has changed since."""
        check_match(kind, name, expected, self.version(kind, name))

    def bump(self, kind: str, name: str) -> int:
        new = self.version(kind, name) + 1
        self.state.put_entry(self.versions, (kind, name), new)
        return new


def check_match(kind: str, name: str, expected: int | None, found: int) -> None:
    if expected is not None and expected != found:
        raise Conflict(kind, name, expected, found)
