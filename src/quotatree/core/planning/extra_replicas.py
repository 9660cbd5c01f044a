"""Which running jobs could have more replicas on what nobody uses: idle ones (I1), and surplus (P12)?"""

from __future__ import annotations

from quotatree.core.model.job import Claim, Idle, Job
from quotatree.core.model.quota_arithmetic import over_while_ending, shortage
from quotatree.core.model.tree import Tree
from quotatree.core.planning.attempt_facts import idle_refusal
from quotatree.core.state import State, limits_on


def short_of_idle(state: State, trees: tuple[Tree, ...]) -> list[Job]:
    """Return the running jobs that may have replicas idle and want more, in the order in which they get them."""
    elastic = _elastic(trees)
    if not elastic:
        return []
    wanting = [
        job
        for job in elastic
        if job.spec.idle is not Idle.NEVER and job.missing_replicas and not _over_one(state, job)
    ]
    return _in_order(state, wanting)


def short_of_surplus(state: State, trees: tuple[Tree, ...]) -> list[Job]:
    """Return the running jobs that have all they want and could use more, in the order in which they get it (P12)."""
    elastic = _elastic(trees)
    if not elastic:
        return []
    contented = [
        job for job in elastic if job.spec.wanted_replicas <= job.running_replicas < job.spec.most_replicas
    ]
    return _in_order(state, contented)


def surplus_allowed(state: State, job: Job) -> bool:
    """Return whether quotas and limits have room for one more replica of this job, which must not be a loan."""
    request = job.spec.groups[0].shape.resources
    if _over_one(state, job):
        return False
    if job.claim is Claim.IDLE:
        return idle_refusal(state, job, request) is None
    return shortage(job.quota, request) is None and not over_while_ending(job.quota, request, request)


def _elastic(trees: tuple[Tree, ...]) -> list[Job]:
    found: list[Job] = []
    for tree in trees:
        if tree.elastic:
            found += tree.elastic.values()
    return found


def _in_order(state: State, jobs: list[Job]) -> list[Job]:
    """Return those of the jobs that have not failed since something was released, by priority, submit time and id."""
    fresh = [
        job
        for job in jobs
        if job.running and job.hold is None and state.surplus_failed.get(job.id) != job.quota.tree.version
    ]
    return sorted(fresh, key=lambda job: (-job.priority, job.spec.submitted_ms, job.id))


def _over_one(state: State, job: Job) -> bool:
    return over_limit(state, job, job.spec.groups[0].shape.gpu_milli)


def over_limit(state: State, job: Job, gpu_milli: int) -> bool:
    """Return whether so much more would be beyond an amount limit of the job (W4)."""
    if not state.limits:
        return False
    used = state.limit_used
    return any(used.get(limit, 0) + gpu_milli > limit.gpu_milli for limit in limits_on(state, job))
