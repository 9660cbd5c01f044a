"""Jobs as people write them: in a file, with the fields of the API, and with the words of the
options of `submit`.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from quotatree.cli.change.program import OF_A_PROGRAM, PROGRAM_FORM, is_program, program_of, with_program
from quotatree.cli.documents import read_document
from quotatree.cli.output import EXIT_BAD_INPUT, fail
from quotatree.client.types import JobIn

OF_A_GROUP: Final = ("replicas", "gpus", "cpu", "memory", "models", "labels")
EXAMPLE: Final = "{gpus: 1, command: [python, train.py]}"
KUBERNETES: Final = """\
{path}: is a Kubernetes manifest ({kind}), and submit reads jobs of QuotaTree. You can
  queue it as it is, if QuotaTree runs jobs on your cluster: add `suspend: true` and two labels, then
    kubectl apply -f {path}      (docs/how-to/bring-your-kubectl-jobs.md)
  or say the job here:
    quotatree submit --gpus 1 -- COMMAND ARGS..."""


def read_jobs(path: Path) -> list[Any]:
    """The jobs of a file, which holds one job, a list of jobs, or a table with `jobs`. `count`
    repeats a job.
    """
    data = read_document(path)
    if data in (None, "", {}, []):
        fail(f"{path}: is empty; write a job into it, such as {EXAMPLE}", EXIT_BAD_INPUT)
    if isinstance(data, dict) and "apiVersion" in data and "kind" in data:
        fail(KUBERNETES.format(path=path, kind=data["kind"]), EXIT_BAD_INPUT)
    if isinstance(data, dict) and set(data) == {"jobs"}:
        data = data["jobs"]
    jobs = data if isinstance(data, list) else [data]
    if not jobs or not all(isinstance(job, dict) for job in jobs):
        fail(f"{path}: must be a job such as {EXAMPLE}, or jobs in a list", EXIT_BAD_INPUT)
    return [whole for job in jobs for whole in _repeated(job, str(path))]


def _repeated(job: dict[str, Any], where: str) -> list[dict[str, Any]]:
    count = job.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 100_000:
        fail(f"{where}: count: must be a whole number from 1 to 100000", EXIT_BAD_INPUT)
    return [whole_job({name: value for name, value in job.items() if name != "count"}, where)] * count


def whole_job(job: dict[str, Any], where: str) -> dict[str, Any]:
    """The job as the API takes it, with `groups` and `program`.

    With one kind of replica, `gpus`, `replicas` and so on may stand beside the other fields, and so
    may what the options of a program say. A hyphen in a field is an underscore, as options are
    written with hyphens.
    """
    job = {str(name).replace("-", "_"): value for name, value in job.items()}
    _check_forms(job, where)
    if "model" in job:
        models = job.pop("model")
        job["models"] = models if isinstance(models, list) else [models]
    if isinstance(job.get("autoscale"), str):
        job["autoscale"] = _autoscale(job["autoscale"], where)
    program = program_of(job, where)
    group = {name: job[name] for name in OF_A_GROUP if name in job}
    rest = {name: value for name, value in job.items() if name not in (*group, *OF_A_PROGRAM)}
    whole = with_program(rest, program)
    if not group:
        return whole
    if "groups" in job:
        fail(f"{where}: {', '.join(group)} belong into groups, if there are groups", EXIT_BAD_INPUT)
    return {**whole, "groups": [group]}


def _check_forms(job: dict[str, Any], where: str) -> None:
    """End the command if a part has another form, or a field is misspelt that only groups or
    programs know.
    """
    groups = job.get("groups", [])
    if not isinstance(groups, list) or not all(isinstance(one, dict) for one in groups):
        fail(f"{where}: groups: must be a list of tables, such as [{{replicas: 2, gpus: 8}}]", EXIT_BAD_INPUT)
    if not is_program(job.get("program", {})):
        fail(f"{where}: program: {PROGRAM_FORM}", EXIT_BAD_INPUT)
    words = (*OF_A_GROUP, *OF_A_PROGRAM)
    for name in job:
        if name in words or name in JobIn.__annotations__ or name == "model":
            continue
        near = get_close_matches(name, words, n=1, cutoff=0.8)
        if near:
            fail(f"{where}: there is no field {name}; did you mean {near[0]}?", EXIT_BAD_INPUT)


def _autoscale(text: str, where: str) -> Any:
    import click

    from quotatree.cli.change.autoscale_option import AUTOSCALE

    try:
        return AUTOSCALE.convert(text, None, None)
    except click.BadParameter as error:
        fail(f"{where}: autoscale: {error.message}", EXIT_BAD_INPUT)
