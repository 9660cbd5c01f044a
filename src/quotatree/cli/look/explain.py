"""`quotatree explain JOB` asks a server, `quotatree explain FILE JOB` a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from quotatree.cli.naming import job_id
from quotatree.cli.output import EXIT_BAD_INPUT, at_option, echo_json, echo_lines, fail, output_option
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.words import age, gpu_seconds, holder_line, moment, why

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t

OVER: Final = ("Succeeded", "Failed", "Cancelled")
ENDED: Final = "ended"
"""The reason of a notebook that is stopped because its program ended by itself; the last decision
was to start it.
"""


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[FILE] JOB")
@at_option("With FILE: look at this time; without it, at the last time the file mentions.")
@click.option(
    "--estimate/--no-estimate",
    default=True,
    show_default=True,
    help="Of a waiting job, say when it will start.",
)
@output_option
@remote_options
def explain(words: tuple[str, ...], at_ms: int | None, estimate: bool, output: str, remote: Remote) -> None:
    """Explain the state of JOB: why it waits (X1), who preempted it (X2), who could (X4), how it
    ended.

    With FILE, a scenario is played and JOB is one of its jobs; otherwise the server is asked.
    """
    if len(words) == 2:
        from quotatree.cli.try_out.explain_file import explain_file

        explain_file(Path(words[0]), words[1], at_ms, output)
        return
    if len(words) > 2 or at_ms is not None:
        fail("say explain JOB, or explain FILE JOB [--at TIME]", EXIT_BAD_INPUT)
    with remote.client() as client:
        job = client.jobs.get(job_id(client, words[0]))
        if job["phase"] in OVER:
            _echo_over(job, output)
            return
        told = client.jobs.explain(job["id"], estimate=estimate)
        risks = client.jobs.exposure(job["id"]) if told["phase"] == "Running" else ()
        stopped = why_stopped(client, job)
        served = told["phase"] == "Running" and job["module"] == "EAS"
        unready = client.jobs.endpoint(job["id"])["unready"] if served else []
    if output == "json":
        echo_json({**told, "exposure": list(risks), **({"unready": unready} if served else {})})
    else:
        echo_lines(explanation_lines(told, list(risks), job["name"], stopped))
        echo_lines(f"  {line}" for line in unready_lines(unready))


def _echo_over(job: t.JobOut, output: str) -> None:
    """Tell how a job that is over ended: nothing is decided about it any more."""
    if output == "json":
        echo_json(job)
        return
    echo_lines([_headline(job["id"], job["name"], job["phase"], job["quota"])])
    echo_lines(_section("because", [job["ending"]] if job["ending"] else []))
    click.echo(f"  it is over since {moment(job['ended_ms'])} UTC")
    click.echo(f"  its runs: quotatree describe job {job['id']}; its output: quotatree logs {job['id']}")


def unready_lines(unready: Sequence[t.UnreadyOut]) -> list[str]:
    """Which replicas of a service are not ready, for how long, and what is wrong with them."""
    return [
        f"replica {one['replica']} is not ready for {age(one['since_ms'])}: {one['why']}" for one in unready
    ]


def why_stopped(client: Client, job: t.JobOut) -> str | None:
    """Why a stopped job was stopped, by the last decision about it, or how its run ended; None if
    that is not known.
    """
    if job["phase"] != "Stopped":
        return None
    if job["reason_code"] == ENDED:
        return _end_of_run(client.jobs.runs(job["id"]))
    newest = [one["decision"] for one in client.jobs.history(job["id"], most=1)]
    return why(newest[0]["reason"]) if newest else None


def _end_of_run(runs: Sequence[t.RunOut]) -> str | None:
    ended = [run for run in runs if run["outcome"]]
    if not ended:
        return None
    last = max(ended, key=lambda run: run["run"])
    return f"its program ended: {last['outcome']}" + (f", {last['detail']}" if last["detail"] else "")


def _headline(job: str, name: str, phase: str, quota: str) -> str:
    return f"{name} ({job}) is {phase} in {quota}" if name else f"{job} is {phase} in {quota}"


def explanation_lines(
    told: t.ExplanationOut, risks: list[t.ExposureOut], name: str = "", stopped: str | None = None
) -> list[str]:
    lines = [_headline(told["job"], name, told["phase"], told["quota"])]
    lines += _section("because", [stopped] if stopped else [])
    if told["position"] is not None:
        more = told["position"] - 1 - len(told["ahead"])
        others = [f"{more} more"] if more > 0 else []
        ahead = ", ".join([*(one["job"] for one in told["ahead"]), *others])
        ahead = f", behind {ahead}" if ahead else ""
        lines.append(f"  position {told['position']}{ahead}")
    lines += _section("because", [why(reason) for reason in told["reasons"]])
    lines += _section("it was started and has not begun", [told["hindered"]] if told["hindered"] else [])
    lines += _section("the capacity is held by", [holder_line(one, one["gpus"]) for one in told["holders"]])
    lines += _section("the nodes", [_group(group) for group in told["nodes"]])
    lines += _section("tried", [f"{one['step'].lower()}: {one['reason']['text']}" for one in told["tried"]])
    lines += _section("what would help", [one["text"] for one in told["helps"]])
    if told["preempted_by"] is not None:
        lost = told["lost_gpu_seconds"]
        lines.append(
            f"  preempted by {told['preempted_by']}"
            + ("" if lost is None else f", losing {gpu_seconds(lost)}")
        )
    if told["next_try"]:
        lines.append(f"  next try: {told['next_try']}")
    if told["estimate"] is not None:
        lines += estimate_lines(told["estimate"])
    return lines + _section("could be taken by", [f"{risk['who']} [{risk['rule']}]" for risk in risks])


def estimate_lines(told: t.EstimateOut) -> list[str]:
    """When a job will start, or why that cannot be told."""
    if told["likely_ms"] is None:
        return [f"  when it will start cannot be told: {told['why']}"]
    earliest, latest = (moment(told[name]) or "open" for name in ("earliest_ms", "latest_ms"))
    line = f"  it will probably start at {moment(told['likely_ms'])} UTC ({earliest} to {latest})"
    return [line, *_section("that rests on", list(told["rests_on"]))]


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"  {title}:", *(f"    - {line}" for line in lines)] if lines else []


def _group(group: t.NodeGroupOut) -> str:
    state = "" if group["state"] == "Ready" else f", {group['state']}"
    fits = f"room for {group['replicas_fit']} replica(s)" if group["replicas_fit"] else "no room"
    return f"{group['nodes']} x {group['model']} of pool {group['pool']}{state}: {group['free_gpus']} GPU free on each, {fits}"
