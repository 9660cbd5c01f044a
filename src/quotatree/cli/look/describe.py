"""`quotatree describe NOUN NAME`: everything about one of them, in sections."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

import click

from quotatree.cli.centre_words import centre_lines
from quotatree.cli.decided import decision_row
from quotatree.cli.documents import yaml_text
from quotatree.cli.look.explain import OVER, explanation_lines, unready_lines, why_stopped
from quotatree.cli.look.noun import Asked
from quotatree.cli.look.nouns import WORDS, found
from quotatree.cli.naming import meant
from quotatree.cli.output import echo_json, echo_lines
from quotatree.cli.policy_words import child_level_words, self_level_words
from quotatree.cli.remote import Remote, remote_options
from quotatree.cli.words import devices_text, moment, with_name
from quotatree.manifest.amounts import amount

if TYPE_CHECKING:
    from quotatree.client import Client

HISTORY: Final = 20
LATER: Final = (
    "groups", "places", "usage", "members", "body", "program", "reason", "preemption", "priority_names", "names",
)  # fmt: skip


@click.command()
@click.argument("noun", type=click.Choice(sorted(WORDS)), metavar="NOUN")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", help="How to print it."
)
@remote_options
def describe(noun: str, names: tuple[str, ...], output: str, remote: Remote) -> None:
    """Tell everything about NAMEs: of jobs also why they wait, their runs and the last decisions
    about them; of quotas their figures, queue and history; of workspaces members, quotas and
    scheduling centres.
    """
    kind = WORDS[noun]
    with remote.client() as client:
        names = meant(client, kind.word, names)
        for item in found(kind, client, names, Asked(finished=True)):
            more = MORE[kind.word](client, item) if kind.word in MORE else {}
            if output == "json":
                echo_json({**item, **more})
            elif output == "yaml":
                click.echo(yaml_text({**item, **more}), nl=False)
            else:
                echo_lines([f"{kind.word} {kind.name(item)}"])
                echo_lines(_field_lines(_in_words(item)))
                echo_lines(LINES[kind.word](item, more) if kind.word in LINES else ())


def _field_lines(item: Any) -> Iterable[str]:
    plain = {key: value for key, value in item.items() if key not in LATER}
    width = max(len(key.removesuffix("_ms")) for key in plain)
    for key, value in plain.items():
        yield f"  {key.removesuffix('_ms').ljust(width)}  {_text(key, value)}".rstrip()


def _in_words(item: Any) -> Any:
    """The item with its policies as `get` tells them, and names of priorities beside their numbers
    (W6).
    """
    if "priority_names" not in item or "self_level" not in item:
        return item
    names = item["priority_names"]
    return {
        **item,
        "self_level": self_level_words(item["self_level"], names),
        "child_level": child_level_words(item["child_level"], names),
    }


def _text(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.endswith("_ms") and isinstance(value, int):
        return f"{moment(value)} UTC"
    if isinstance(value, dict):
        if set(value) <= {"gpus", "cpu", "memory"}:
            return amount(value) or "-"
        return ", ".join(f"{name} {_text('', one)}" for name, one in value.items()) or "-"
    if isinstance(value, list):
        return ", ".join(_text("", one) for one in value) or "-"
    return str(value)


# -- what else is asked for ----------------------------------------------------------------------------------------


def _job_more(client: Client, job: Any) -> dict[str, Any]:
    more: dict[str, Any] = {
        "runs": list(client.jobs.runs(job["id"])),
        "history": list(client.jobs.history(job["id"], most=HISTORY)),
    }
    if job["phase"] == "Running":
        endpoint = client.jobs.endpoint(job["id"])
        if endpoint["address"] is not None:  # its token is told by `open` alone
            more["endpoint"] = {key: endpoint[key] for key in ("address", "ready", "in_flight", "unready")}
    if job["phase"] not in OVER:
        more["explanation"] = client.jobs.explain(job["id"])
        more["exposure"] = list(client.jobs.exposure(job["id"])) if job["phase"] == "Running" else []
        more["stopped"] = why_stopped(client, job)
    return more


def _quota_more(client: Client, quota: Any) -> dict[str, Any]:
    return {
        "queue": list(client.quotas.queue(quota["id"], most=HISTORY)),
        "history": list(client.quotas.history(quota["id"]))[-HISTORY:],
    }


def _workspace_more(client: Client, workspace: Any) -> dict[str, Any]:
    return {"centres": [client.workspaces.centre(workspace["id"], quota) for quota in workspace["quotas"]]}


MORE: Final[dict[str, Callable[[Client, Any], dict[str, Any]]]] = {
    "job": _job_more,
    "quota": _quota_more,
    "workspace": _workspace_more,
}


# -- and how it is told --------------------------------------------------------------------------------------------


def _job_lines(job: Any, more: dict[str, Any]) -> Iterable[str]:
    for group in job["groups"]:
        yield f"  group {group['name']}: {group['replicas']} x {amount(group)}"
    for key, value in job["program"].items():
        yield f"  program {key}: {_program_text(value)}"
    if "endpoint" in more:
        at = more["endpoint"]
        flight = "" if at["in_flight"] is None else f", {at['in_flight']:g} requests in flight"
        yield f"  address: {at['address']} ({at['ready']} ready{flight})"
        yield from (f"  {line}" for line in unready_lines(at["unready"]))
    if job["places"]:
        yield "replicas:"
    for place in job["places"]:
        surplus = ", surplus" if place["surplus"] else ""
        yield f"  {place['replica']}: on {place['node']}{devices_text(place['devices'])}{surplus}"
    if "explanation" in more:
        yield "why:"
        told = explanation_lines(more["explanation"], more["exposure"], job["name"], more["stopped"])
        yield from (f"  {line}" for line in told)
    if more["runs"]:
        yield "runs:"
    for run in more["runs"]:
        ended = "still running" if run["ended_ms"] is None else f"until {moment(run['ended_ms'])}"
        nodes = ", ".join(dict.fromkeys(place["node"] for place in run["places"]))
        outcome = f", {run['outcome']}" if run["outcome"] else ""
        outcome += f" ({run['detail']})" if run["detail"] else ""
        yield f"  {run['run']}: {moment(run['started_ms'])} {ended}{outcome}, {run['claim']}, on {nodes or 'nothing'}"
    yield from _history(more["history"])


def _program_text(value: Any) -> str:
    """A value of a program as text; a command as it would be typed in a shell."""
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return shlex.join(value)
    return _text("", value)


def _history(decided: list[Any]) -> Iterable[str]:
    if decided:
        yield "decisions, newest first:"
    for one in decided:
        kind, _, why = decision_row(one["decision"], {})
        yield f"  {moment(one['at_ms'])}  {kind}: {why}"


def _quota_lines(quota: Any, more: dict[str, Any]) -> Iterable[str]:
    yield "figures:"
    for key, value in quota["usage"].items():
        if key == "stood_on_by":
            value = {one["quota"]: amount(one["amount"]) for one in value}
        yield f"  {key.ljust(13)}  {_text(key, value)}"
    if more["queue"]:
        yield "queue:"
    for place in more["queue"]:
        yield f"  {place['position']}  {place['job']}  priority {with_name(place['priority'], place['priority_name'])}  {place['reason_code']}"
    if more["history"]:
        yield "history:"
    for event in more["history"]:
        by = event["body"].get("by")
        yield f"  {moment(event['at_ms'])}  {event['kind']}{f' by {by}' if by else ''}"
        for change in event["body"].get("changes", ()):
            yield f"    {change['what']}: {change['before']} -> {change['after']}"


def _workspace_lines(workspace: Any, more: dict[str, Any]) -> Iterable[str]:
    if workspace["members"]:
        yield "members:"
    for member in workspace["members"]:
        yield f"  {member['user']}  {member['role']}"
    for centre in more["centres"]:
        yield f"scheduling centre of {centre['quota']}:"
        yield from (f"  {line}" for line in centre_lines(centre))


LINES: Final[dict[str, Callable[[Any, dict[str, Any]], Iterable[str]]]] = {
    "job": _job_lines,
    "quota": _quota_lines,
    "workspace": _workspace_lines,
}
