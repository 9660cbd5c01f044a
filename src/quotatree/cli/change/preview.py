"""`quotatree preview` asks a server what a change would do, `quotatree preview FILE [JOB]` plays a
scenario.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quotatree.cli.naming import job_id
from quotatree.cli.output import EXIT_BAD_INPUT, at_option, echo_json, echo_lines, fail, output_option
from quotatree.cli.place import Places
from quotatree.cli.remote import Remote, bare, remote_options

if TYPE_CHECKING:
    from quotatree.client import Client


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.argument("job", required=False)
@click.option(
    "--submit", type=click.Path(path_type=Path), metavar="JOBFILE", help="Submit the job in this file."
)
@click.option("--scale", metavar="QUOTA=GPUS[:MODE]", help="Scale a quota; MODE is refuse, lazy or reclaim.")
@click.option(
    "--policy", metavar="[QUOTA=]FILE",
    help="Save the policies of a quota that stand in this file, as `policy set` does, and tell whose running work they expose.",
)  # fmt: skip
@click.option(
    "--transfer", metavar="SOURCE:TARGET=GPUS[:MODE]", help="Server only: move capacity to a sibling."
)
@click.option("--delete", metavar="QUOTA", help="Server only: delete a quota.")
@click.option("--cancel", metavar="JOB", help="Server only: cancel a job.")
@click.option("--drain", metavar="NODE", help="Server only: drain a node.")
@at_option("With FILE: ask at this time; without it, at the last time the file mentions.")
@output_option
@remote_options
def preview(
    file: Path | None,
    job: str | None,
    submit: Path | None,
    scale: str | None,
    policy: str | None,
    at_ms: int | None,
    output: str,
    remote: Remote,
    **only_server: str | None,
) -> None:
    """Say what would be decided; nothing is changed (X3).

    With FILE, a scenario is played and JOB is a [[preview]] of it; otherwise the server is asked.
    Several questions may be asked at once: scaling and policies come first, then the jobs.
    """
    if file is not None:
        for name, value in only_server.items():
            if value is not None:
                fail(f"--{name}: not with FILE", EXIT_BAD_INPUT)
        from quotatree.cli.try_out.preview_file import preview_file

        preview_file(
            file,
            job,
            submit=submit,
            scale=scale,
            policy=None if policy is None else Path(policy),
            at_ms=at_ms,
            output=output,
        )
        return
    if at_ms is not None:
        fail("--at: only with FILE", EXIT_BAD_INPUT)
    with remote.client() as client:
        changes = _changes(client, Places(client, remote.target()), submit, scale, policy, **only_server)
        if not changes:
            fail("nothing to preview: use --submit, --scale, --policy, --transfer, --delete, --cancel or --drain",
                 EXIT_BAD_INPUT)  # fmt: skip
        seen = client.preview(changes, estimate=submit is not None)
    if output == "json":
        echo_json(seen)
        return
    from quotatree.cli.decided import echo_preview

    click.echo("this would be decided now; nothing has been changed:")
    echo_preview(seen)
    if seen["estimate"] is not None:
        from quotatree.cli.look.explain import estimate_lines

        echo_lines(estimate_lines(seen["estimate"]))
    if policy is not None and not seen["exposed"]:
        click.echo("no running work becomes exposed that is not exposed now")


def _changes(
    client: Client,
    places: Places,
    submit: Path | None,
    scale: str | None,
    policy: str | None,
    transfer: str | None,
    delete: str | None,
    cancel: str | None,
    drain: str | None,
) -> list[Any]:
    changes: list[Any] = []
    if scale is not None:
        changes.append(_scaling(client, scale))
    if transfer is not None:
        pair, amount, mode = _amount("--transfer", "SOURCE:TARGET", transfer)
        source, _, target = pair.partition(":")
        changes.append(
            {
                "change": "transfer",
                "source": source,
                "target": target,
                "amount": {"gpus": amount},
                "mode": mode,
            }
        )
    if policy is not None:
        from quotatree.cli.change.policy_file import named_policy_file

        changes.append(named_policy_file(policy).preview())
    if drain is not None:
        changes.append({"change": "node-state", "node": bare(drain, "node"), "state": "Draining"})
    if delete is not None:
        changes.append({"change": "delete-quota", "quota": bare(delete, "quota")})
    if cancel is not None:
        changes.append({"change": "cancel", "job": job_id(client, cancel)})
    if submit is not None:
        from quotatree.cli.change.job_file import read_jobs

        changes += [{"change": "submit", "job": places.filled(one)} for one in read_jobs(submit)]
    return changes


def _amount(option: str, shape: str, text: str) -> tuple[str, float, str]:
    """Read QUOTA=56 or QUOTA=56:lazy into name, GPUs and mode; the mode is "refuse" if none is
    given.
    """
    name, equals, rest = text.partition("=")
    number, _, mode = rest.partition(":")
    try:
        amount = float(number)
    except ValueError:
        amount = -1
    if not equals or not name or amount < 0:
        fail(f"{option} {text}: must be {shape}=GPUS[:MODE], such as {shape}=56:lazy", EXIT_BAD_INPUT)
    return name, amount, mode or "refuse"


def _scaling(client: Client, text: str) -> Any:
    from quotatree.cli.change.quota_verbs import scaled

    name, amount, mode = _amount("--scale", "QUOTA", text)
    return {
        "change": "scale", "quota": name, "mode": mode, **scaled(client.quotas.get(name), {"gpus": amount}, None)
    }  # fmt: skip
