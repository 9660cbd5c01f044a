"""`quotatree submit`: queue jobs, by options or from a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.change.autoscale_option import AUTOSCALE, AUTOSCALE_FORM
from quotatree.cli.change.changing import Manner, Step, changes_option, make
from quotatree.cli.change.job_file import OF_A_GROUP, read_jobs
from quotatree.cli.change.program import program_options, with_program
from quotatree.cli.change.repeat import job_again, template_jobs
from quotatree.cli.change.repeat import save_template as save_template_of
from quotatree.cli.number_option import NUMBER
from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, echo_json, echo_lines, fail
from quotatree.cli.place import Places
from quotatree.cli.priority_option import PRIORITY
from quotatree.cli.remote import Remote, patiently, problem_text, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client

AT_ONCE = 1000
GROUPS_MISSING = "--gpus (or --cpu, for a job without GPUs) is missing"
ENDED = ("Succeeded", "Failed", "Cancelled", "Stopped")


@click.command()
@click.option("-f", "--file", type=click.Path(path_type=Path), help="Read jobs from this file; - is stdin.")
@click.option("--template", metavar="NAME", help="Read jobs from this template.")
@click.option("--again", metavar="JOB", help="Submit this job once more, as it was.")
@click.option("--save-template", metavar="NAME", help="Keep the job as this template, and submit nothing.")
@click.option("--workspace", envvar="QUOTATREE_WORKSPACE", metavar="NAME", help="In this workspace.")
@click.option("--quota", envvar="QUOTATREE_QUOTA", metavar="NAME", help="Out of this quota.")
@click.option("--name", metavar="TEXT", help="A name by which you call it.")
@click.option("--gpus", type=NUMBER, metavar="N", help="GPUs of each replica; 0.5 is half of one.")
@click.option("--cpu", type=NUMBER, metavar="N", help="CPUs of each replica.")
@click.option("--memory", metavar="AMOUNT", help="Memory of each replica, such as 64Gi.")
@click.option("--replicas", type=int, metavar="N", help="How many replicas it wants.")
@click.option("--min-replicas", type=int, metavar="N", help="How many of them start together or not at all.")
@click.option("--max-replicas", type=int, metavar="N", help="How many it can use while other jobs do not.")
@click.option(
    "--autoscale",
    type=AUTOSCALE,
    metavar=AUTOSCALE_FORM,
    help="Let a service's replicas follow its requests.",
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="On this GPU model; may be repeated.")
@click.option(
    "--module",
    type=click.Choice(["DLC", "DSW", "EAS"], case_sensitive=False),
    help="Training, notebook or service.",
)
@click.option("--priority", type=PRIORITY, metavar="1-9", help="9 is the highest; or the name of one.")
@click.option(
    "--idle", type=click.Choice(["never", "allow", "only"]), help="May it run on what others leave?"
)
@click.option("--grace", metavar="TIME", help="How long it may take to leave, such as 30s.")
@click.option("--checkpoint-interval", metavar="TIME", help="How often it saves its work.")
@click.option("--max-preemptions", type=int, metavar="N", help="After so many evictions it fails.")
@click.option("--requeue", is_flag=True, help="Queue it again when its node is lost, or it is evicted.")
@click.option("--on-hold", is_flag=True, help="Do not queue it before it is released.")
@program_options
@click.option("--count", type=click.IntRange(1, 100_000), default=1, help="Submit it so many times.")
@click.option(
    "--key", metavar="TEXT", help="Do it once, however often this command is repeated with this key."
)
@click.option("--wait", is_flag=True, help="Wait until it has ended; exit 1 unless it succeeded.")
@changes_option
@remote_options
@click.pass_context
def submit(
    context: click.Context,
    /,
    file: Path | None,
    template: str | None,
    again: str | None,
    save_template: str | None,
    models: tuple[str, ...],
    requeue: bool,
    on_hold: bool,
    program: dict[str, Any],
    count: int,
    key: str | None,
    wait: bool,
    manner: Manner,
    remote: Remote,
    **fields: Any,
) -> None:
    """Queue a job that runs COMMAND, and print its id. What follows -- belongs to the command.

    With -f, --template or --again, options change the jobs that are read; a file may have many
    jobs. Workspace and quota need not be said if the login remembers them, or if there is only one.
    Without --gpus and --cpu, COMMAND gets one GPU.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    usual = _of_the_environment(context, given)
    given |= {name: True for name, value in (("requeue", requeue), ("on_hold", on_hold)) if value}
    if models:
        given["models"] = list(models)
    if sum(source is not None for source in (file, template, again)) > 1:
        fail("only one of -f, --template and --again", EXIT_BAD_INPUT)
    read: list[Any] = [{}]
    if again is not None:
        with remote.client() as client:
            read = [job_again(client, again)]
    elif template is not None:
        read = template_jobs(template)
    elif file is not None:
        read = read_jobs(file)
    jobs = [_sized(with_program(_merged({**usual, **job}, given), program)) for job in read]
    if save_template is not None and not manner.dry_run:
        save_template_of(save_template, jobs)
        return
    with remote.client() as client:
        places = Places(client, remote.target())
        jobs = [places.filled(job) for job in jobs] * count
        if manner.dry_run:
            _show(client, jobs, manner)
            return
        good = _submit(client, jobs, key, manner, wait=wait)
    if not good:
        raise SystemExit(EXIT_FAILED)


def _sized(job: dict[str, Any]) -> dict[str, Any]:
    """The job with its groups: one replica with one GPU for a command that says no size."""
    if "groups" in job:
        return job
    if not (job.get("program") or {}).get("command"):
        fail(GROUPS_MISSING, EXIT_BAD_INPUT)
    click.echo("note: it gets 1 GPU; say --gpus N for another number, or --cpu N for none", err=True)
    return {**job, "groups": [{"gpus": 1}]}


def _show(client: Client, jobs: list[Any], manner: Manner) -> None:
    """Print what the jobs would meet. Nothing is submitted."""
    steps = [
        Step("job", job.get("name") or "new", f"submitted to quota/{job['quota']}", lambda: None)
        for job in jobs
    ]
    make(client, steps, manner, [{"change": "submit", "job": job} for job in jobs])


def _submit(client: Client, jobs: list[Any], key: str | None, manner: Manner, *, wait: bool) -> bool:
    """Submit the jobs and print what became of each; return whether all is well."""
    outcomes = _submitted(client, jobs, key)
    ids = [outcome["id"] for outcome in outcomes if outcome["id"] is not None]
    if manner.output == "json":
        echo_json({"items": outcomes})
    else:
        echo_lines(f"job/{name}" if manner.output == "name" else f"{name} submitted" for name in ids)
    refused = [problem_text(outcome["problem"]) for outcome in outcomes if outcome["problem"] is not None]
    for text in refused:
        click.echo(f"quotatree: {text}", err=True)
    good = _waited(client, ids, manner.output) if wait else True
    return good and not refused


def _of_the_environment(context: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Take out of what is given what a variable says: a file goes before it, unlike before an
    option.
    """
    from click.core import ParameterSource

    said = [name for name in given if context.get_parameter_source(name) is ParameterSource.ENVIRONMENT]
    return {name: given.pop(name) for name in said}


def _merged(job: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The job of the file with the options put over it; options of a replica change its only group."""
    groups = job.get("groups", [{}])
    of_group: dict[str, Any] = {name: given[name] for name in OF_A_GROUP if name in given}
    rest = {name: value for name, value in given.items() if name not in of_group}
    if of_group and len(groups) != 1:
        fail(f"--{next(iter(of_group))}: the job has several groups of replicas", EXIT_BAD_INPUT)
    if not of_group:
        return {**job, **rest}
    return {**job, **rest, "groups": [{**groups[0], **of_group}]}


def _submitted(client: Client, jobs: list[Any], key: str | None) -> list[Any]:
    if len(jobs) == 1:
        made = client.jobs.submit(jobs[0], key=key)
        return [{"id": made["id"], "problem": None}]
    outcomes: list[Any] = []
    for start in range(0, len(jobs), AT_ONCE):
        part_key = None if key is None else f"{key}-{start}"
        outcomes += client.jobs.submit_many(jobs[start : start + AT_ONCE], key=part_key)["items"]
    return outcomes


class _AllOver(Exception):
    pass


def _waited(client: Client, ids: list[str], output: str) -> bool:
    """Wait until all jobs have ended; return whether all succeeded. Events only tell when to ask
    for a job's phase.
    """
    left, good = dict.fromkeys(ids), True

    def look() -> None:
        nonlocal good
        for name in list(left):
            job = patiently(partial(client.jobs.get, name))
            phase = job["phase"]
            if phase in ENDED:
                del left[name]
                good = good and phase == "Succeeded"
                if output == "table":
                    echo_lines([f"{name} {phase}" + (f": {job['ending']}" if job["ending"] else "")])
        if not left:
            raise _AllOver

    try:
        for event in client.events.watch(opened=look):
            if event["job"] in left:
                look()
    except _AllOver:
        pass
    return good
