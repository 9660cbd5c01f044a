"""May this job be submitted here, and which limits will it meet (W1, W3, W4)?

Amount limits go to the core, which counts; they are told apart by subjects such as "vision/user:ann": the workspace is
part of the name, so that two workspaces on one quota have limits of their own. A limit on a role is shared by all who
hold it. A job keeps the subjects it was submitted with.
"""

from __future__ import annotations

from quotatree.access.check import OnJob, OnWorkspace, check
from quotatree.access.directory import Directory
from quotatree.access.errors import Forbidden
from quotatree.access.roles import Action
from quotatree.core import HIGHEST_PRIORITY, LOWEST_PRIORITY, AmountLimit, JobRequest, Refused
from quotatree.core.sentences import Sentence, a_quota, a_user, a_workspace


def check_submit(directory: Directory, actor: str, asked: JobRequest) -> None:
    """Check the right to submit (W2), the binding (W1), the centre's modules and roles (W3), and the ceiling (W4).

    A quota that is not bound is refused in the same words whether it exists or not.
    """
    workspace, quota, module = asked.workspace, asked.quota, asked.module
    check(directory, actor, Action.SUBMIT_JOB, OnWorkspace(workspace))
    bound = directory.workspace(workspace).quotas
    if quota not in bound:
        allowed = map(a_quota, bound) if bound else "none yet"
        raise Refused(
            "quota", quota, "W1", Sentence("is not bound to ", a_workspace(workspace), "; bound: ", allowed)
        )
    centre = directory.centre(workspace, quota)
    if module not in centre.modules:
        allowed = ", ".join(sorted(m.value for m in centre.modules))
        raise Refused(
            "module",
            module.value,
            "W3",
            Sentence(a_workspace(workspace), " allows in ", a_quota(quota), f" only {allowed}"),
        )
    roles = directory.workspace(workspace).roles_of(actor)
    if (workspace, quota) in directory.centres and not centre.roles.intersection(roles):
        needed = tuple(sorted(role.value for role in centre.roles))
        message = f"{workspace} lets only these roles submit to {quota}: {', '.join(needed)}"
        raise Forbidden(Action.SUBMIT_JOB.value, needed, message)
    _check_ceiling(directory, actor, workspace, quota, asked.priority)


def check_priority(directory: Directory, actor: str, job: OnJob, quota: str, priority: int) -> None:
    """Check a change of priority: the right to it, and the ceiling of the actor who asks (W4).

    That the job still waits (W5) is checked by the core.
    """
    check(directory, actor, Action.SET_PRIORITY, job)
    _check_ceiling(directory, actor, job.workspace, quota, priority)


def subjects_of(directory: Directory, actor: str, workspace: str) -> tuple[str, ...]:
    """The subjects that amount limits look at (`JobSpec.subjects`): the member and each of their roles."""
    return tuple(f"{workspace}/{who}" for who in _whos(directory, actor, workspace))


def limits_of(directory: Directory, quota: str) -> tuple[AmountLimit, ...]:
    """All amount limits of one quota, from every workspace bound to it, for the core's LimitsSet."""
    smallest: dict[tuple[str, int, int], int] = {}
    for (workspace, bound), centre in sorted(directory.centres.items()):
        for who, priorities, gpu_milli in centre.amounts if bound == quota else ():
            key = (f"{workspace}/{who}", priorities.low, priorities.high)
            smallest[key] = min(gpu_milli, smallest.get(key, gpu_milli))
    return tuple(AmountLimit(quota, *key, gpu_milli) for key, gpu_milli in sorted(smallest.items()))


def ceiling_of(directory: Directory, actor: str, workspace: str, quota: str) -> int:
    """The highest priority this actor may ask for: the lowest ceiling on them or on any of their roles."""
    whos = _whos(directory, actor, workspace)
    centre = directory.centre(workspace, quota)
    return min((c.priority for c in centre.ceilings if c.who in whos), default=HIGHEST_PRIORITY)


def _whos(directory: Directory, actor: str, workspace: str) -> tuple[str, ...]:
    roles = directory.workspace(workspace).roles_of(actor)
    return (f"user:{actor}", *(f"role:{role.value}" for role in roles))


def _check_ceiling(directory: Directory, actor: str, workspace: str, quota: str, priority: int) -> None:
    if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        raise Refused("priority", priority, "J2", "must be 1..9")
    ceiling = ceiling_of(directory, actor, workspace, quota)
    if priority > ceiling:
        raise Refused(
            "priority",
            priority,
            "W4",
            Sentence(
                "the ceiling of ",
                a_user(actor),
                " for ",
                a_workspace(workspace),
                " in ",
                a_quota(quota),
                f" is {ceiling}",
            ),
        )
