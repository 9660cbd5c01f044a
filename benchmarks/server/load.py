"""What is submitted, when, and to whom? Kueue's baseline generator, in QuotaTree's words.

5 groups of 6 quotas with 20 units each. A group is a root quota on one node of 120 CPUs: Kueue counts CPUs and knows no
nodes, so nothing may be lost to their borders. Every quota gets three sets of jobs, each at its own pace, all from the
first moment on:

    350 small    1 unit    0.2 s   every 0.1 s   lowest priority
    100 medium   5 units   0.5 s   every 0.5 s
     50 large   20 units   1.0 s   every 1.2 s   highest priority

15,000 jobs, and 66 s of work for the whole cluster. Borrowing is an idle claim on any unit of the group that nobody uses
(up to the 100 of the five others), reclaiming inside the group is I3 and needs no policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

GROUPS: Final = 5
QUOTAS_PER_GROUP: Final = 6
UNITS: Final = 20
WORKSPACE: Final = "bench"


class JobClass(NamedTuple):
    name: str
    units: int
    run_ms: int
    every_ms: int
    jobs: int
    priority: int


CLASSES: Final = (
    JobClass("small", 1, 200, 100, 350, 2),
    JobClass("medium", 5, 500, 500, 100, 5),
    JobClass("large", 20, 1000, 1200, 50, 8),
)
BY_NAME: Final = {each.name: each for each in CLASSES}


class Policy(NamedTuple):
    """Which priorities may preempt which inside a quota (P1)."""

    name: str
    says: str
    high: str
    low: str


POLICIES: Final = (
    Policy("small-yields", "medium and large may take small", "5-9", "1-4"),
    Policy("large-takes", "large may take medium and small", "7-9", "1-6"),
)
"""The two halves of Kueue's "any lower priority", which is not one policy here: `low` must lie below `high` (P1)."""


class Submission(NamedTuple):
    at_ms: int
    quota: str
    job_class: JobClass
    number: int


def quotas() -> list[str]:
    return [quota for group in range(GROUPS) for quota in quotas_of(group)]


def quotas_of(group: int) -> list[str]:
    return [f"group-{group}-quota-{number}" for number in range(QUOTAS_PER_GROUP)]


def submissions(quota: str, job_class: JobClass) -> Iterator[Submission]:
    """The jobs of one class for one quota, in order."""
    for number in range(job_class.jobs):
        yield Submission(number * job_class.every_ms, quota, job_class, number)


def jobs_in_all() -> int:
    return len(quotas()) * sum(each.jobs for each in CLASSES)


def capacity_seconds() -> float:
    """How long the work takes if no unit is ever unused."""
    return sum(each.jobs * each.units * each.run_ms for each in CLASSES) / UNITS / 1000


def body(quota: str, job_class: JobClass) -> dict[str, Any]:
    """The job as it is posted. Its grace is 0, so an evicted timer leaves at once; its next run begins from zero."""
    return {
        "workspace": WORKSPACE,
        "quota": quota,
        "name": job_class.name,
        "priority": job_class.priority,
        "idle": "allow",
        "grace": "0s",
        "groups": [{"cpu": job_class.units}],
        "program": {"seconds": job_class.run_ms / 1000},
    }
