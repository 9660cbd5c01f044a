"""What does an actor see of the live state? A Reader that hides the rest (W2, P13)."""

from __future__ import annotations

from quotatree.access.redaction import JobFacts, Reader, reader
from quotatree.control.world import World
from quotatree.core import JobId


def eyes(world: World, actor: str) -> Reader:
    """A Reader that hides what the actor may not read of the live state."""

    def facts(job_id: str) -> JobFacts | None:
        job = world.state.jobs.get(JobId(job_id))
        if job is None:
            return None
        size = sum(group.replicas * group.shape.gpu_milli for group in job.spec.groups)
        return JobFacts(job.spec.workspace, job.spec.quota, job.priority, size)

    return reader(world.directory, actor, parents(world), facts)


def parents(world: World) -> dict[str, str | None]:
    return {quota.id: quota.spec.parent for quota in world.state.quotas.values()}
