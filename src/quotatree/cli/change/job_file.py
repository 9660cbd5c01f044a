"""Jobs as people write them: in a file, with the fields of the API and a shorter way for jobs of equal replicas."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from quotatree.cli.change.program import PROGRAM_FORM, is_program
from quotatree.cli.documents import read_document
from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.client.types import JobIn

OF_A_GROUP: Final = ("replicas", "gpus", "cpu", "memory", "models", "labels")


def read_jobs(path: Path) -> list[Any]:
    """The jobs of a file, which holds one job, a list of jobs, or a table with `jobs`."""
    data = read_document(path)
    if isinstance(data, dict) and set(data) == {"jobs"}:
        data = data["jobs"]
    jobs = data if isinstance(data, list) else [data]
    if not jobs or not all(isinstance(job, dict) for job in jobs):
        fail(f"{path}: must be a job, or jobs in a list", EXIT_BAD_INPUT)
    return [whole_job(job, str(path)) for job in jobs]


def whole_job(job: dict[str, Any], where: str) -> dict[str, Any]:
    """The job with its `groups`. With one kind of replica, `gpus`, `replicas` and so on may stand beside the other fields."""
    groups = job.get("groups", [])
    if not isinstance(groups, list) or not all(isinstance(one, dict) for one in groups):
        fail(f"{where}: groups: must be a list of tables, such as [{{replicas: 2, gpus: 8}}]", EXIT_BAD_INPUT)
    if not is_program(job.get("program", {})):
        fail(f"{where}: program: {PROGRAM_FORM}", EXIT_BAD_INPUT)
    for name in job:
        near = [] if name in OF_A_GROUP else get_close_matches(str(name), OF_A_GROUP, n=1, cutoff=0.8)
        if near and name not in JobIn.__annotations__:  # the server knows these words in groups only
            fail(f"{where}: there is no field {name}; did you mean {near[0]}?", EXIT_BAD_INPUT)
    group = {name: job[name] for name in OF_A_GROUP if name in job}
    if not group:
        return job
    if "groups" in job:
        fail(f"{where}: {', '.join(group)} belong into groups, if there are groups", EXIT_BAD_INPUT)
    rest = {name: value for name, value in job.items() if name not in group}
    return {**rest, "groups": [group]}
