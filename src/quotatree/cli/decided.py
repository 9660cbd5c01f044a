"""How is a decision of the server told, and what would jobs lose by it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from quotatree.cli.output import EXIT_FAILED, echo_table, fail
from quotatree.cli.words import called, gpu_seconds, span

if TYPE_CHECKING:
    from quotatree.client import Client
    from quotatree.client import types as t

TAKING: Final = ("Evict", "Demote", "Stop", "Fail")


def decision_row(decision: t.DecisionOut, names: Mapping[str, str]) -> tuple[str, str, str]:
    """Kind of a decision, its job with its name if that is known, and the details with the reason."""
    parts = []
    if decision.get("places"):
        parts.append("on " + ", ".join(_place(place) for place in decision["places"]))
    if decision.get("waiting_on"):
        parts.append("waits for " + ", ".join(decision["waiting_on"]))
    if "lost_gpu_seconds" in decision:
        parts.append(
            f"loses {gpu_seconds(decision['lost_gpu_seconds'])}, cost {gpu_seconds(decision['cost_gpu_seconds'])}"
        )
    if "grace_ms" in decision:
        parts.append(f"{span(decision['grace_ms'] / 1000)} to leave")
    parts.append(decision["reason"]["text"])
    return kind_word(decision), called(decision["job"], names), "; ".join(parts)


def kind_word(decision: t.DecisionOut) -> str:
    """Kind of a decision in the words of files and reasons: a start that joins a run is `grow`, a
    replica that leaves `shrink`.
    """
    if decision["kind"] == "Start" and (decision.get("grows") or decision.get("surplus")):
        return "grow"
    if decision["kind"] == "Evict":
        if decision.get("what") == "hold":
            return "release"
        if decision.get("what") in ("wanted", "surplus"):
            return "shrink"
        return "move" if decision.get("moved") else "evict"
    return decision["kind"].lower()


def _place(place: t.PlaceOut) -> str:
    devices = place["devices"]
    if not devices:
        return place["node"]
    whole = devices == list(range(devices[0], devices[-1] + 1)) and len(devices) > 1
    return f"{place['node']}:" + (f"{devices[0]}-{devices[-1]}" if whole else ",".join(map(str, devices)))


def echo_preview(seen: t.PreviewOut) -> None:
    if seen["decisions"]:
        echo_table(
            ("DECISION", "JOB", "WHY"), [decision_row(one, seen["names"]) for one in seen["decisions"]]
        )
    else:
        click.echo("nothing")
    if seen["hidden"]:
        click.echo(f"and {seen['hidden']} job(s) of others would go on waiting")
    echo_exposed(seen)


def echo_exposed(seen: t.PreviewOut) -> None:
    if seen["exposed"]:
        click.echo("running work that becomes exposed:")
        rows = [
            (called(one["job"], seen["names"]), f"{one['exposure']['who']} [{one['exposure']['rule']}]")
            for one in seen["exposed"]
        ]
        echo_table(("JOB", "COULD BE TAKEN BY"), rows)


def agreed(client: Client, changes: Sequence[Any], yes: bool, of: str | None = None) -> None:
    """If jobs would lose something by these changes, show it and ask; without a yes the command
    ends here.

    `of`: the job that is changed; you are not asked about what it loses itself.
    """
    if yes:
        return
    seen = client.preview(changes)
    taken = echo_taken(seen, of)
    echo_exposed(seen)
    if taken or seen["exposed"]:
        ask("Go on?")


def echo_taken(seen: t.PreviewOut, of: str | None = None) -> bool:
    """Show what jobs but this one would lose; return whether any would."""
    taken = [
        decision_row(one, seen["names"])
        for one in seen["decisions"]
        if one["kind"] in TAKING and one["job"] != of
    ]
    if taken:
        click.echo("this would be taken:")
        echo_table(("DECISION", "JOB", "WHY"), taken)
    return bool(taken)


def ask(question: str) -> None:
    try:
        said = click.confirm(question)
    except click.Abort:
        fail("no answer: use -y to go on without being asked; nothing was changed", EXIT_FAILED)
    if not said:
        fail("nothing was changed", EXIT_FAILED)
