"""`quotatree policies`: the strategy and preemption policies of one quota, in our spelling or in PAI's."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from quotatree.cli.documents import read_document, yaml_text
from quotatree.cli.output import EXIT_BAD_INPUT, echo_json, fail
from quotatree.cli.remote import Remote, bare, remote_options


@click.group()
def policies() -> None:
    """Show and set a quota's strategy and preemption policies. `apply` sets them together with everything else."""


@policies.command()
@click.argument("quota")
@click.option("--pai", is_flag=True, help="In the spelling of Alibaba Cloud PAI.")
@click.option(
    "-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True,
    help="How to print it.",
)  # fmt: skip
@remote_options
def show(quota: str, pai: bool, output: str, remote: Remote) -> None:
    """Print the policies of QUOTA, so that `policies set` can read them.

    PAI has no word for some of what our policies can say; such a quota is refused with --pai.
    """
    name = bare(quota, "quota")
    with remote.client() as client:
        found: Any = client.quotas.pai_policies(name) if pai else client.quotas.policies(name)
        written = {key: value for key, value in found.items() if key not in ("quota", "version")}
    if output == "json":
        echo_json(written)
    else:
        click.echo(yaml_text(written), nl=False)


@policies.command("set")
@click.argument("quota")
@click.option(
    "-f", "--file", required=True, type=click.Path(path_type=Path), metavar="FILE",
    help="YAML, TOML or JSON; - is YAML from stdin.",
)  # fmt: skip
@remote_options
def set_policies(quota: str, file: Path, remote: Remote) -> None:
    """Replace the policies of QUOTA by those in a file, in either spelling.

    `preview` says beforehand who would be exposed.
    """
    wanted = read_document(file)
    if not isinstance(wanted, dict):
        fail(f"{file}: must be a table of policies", EXIT_BAD_INPUT)
    name = bare(quota, "quota")
    with remote.client() as client:
        client.quotas.set_policies(name, cast("Any", wanted))
    click.echo(f"policies of {name} set")
