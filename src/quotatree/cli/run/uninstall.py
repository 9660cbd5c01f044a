"""`quotatree uninstall` and `quotatree crds`: leave a cluster as it was, and bring its custom
resources up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quotatree.cli.decided import ask
from quotatree.cli.output import EXIT_BAD_INPUT, EXIT_FAILED, EXIT_UNAVAILABLE, fail

if TYPE_CHECKING:
    from quotatree.kubernetes_edge.removal import Step

BY_HAND = """\
What is left, for you to delete if you mean it:
  kubectl delete pods,services,secrets -A -l quotatree.io/job
  kubectl delete namespaces -l app.kubernetes.io/managed-by=quotatree
  kubectl delete crd quotas.quotatree.io workspaces.quotatree.io
Jobs that waited are still suspended. To start one: kubectl patch job NAME --type merge -p '{"spec":{"suspend":false}}'"""


@click.command()
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The cluster; else the pod's own, or yours.",
)
@click.option("--context", help="The context of that file.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="NAME",
    help="Another kind that was queued, such as pytorchjobs.kubeflow.org.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be taken off.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Also while a server runs, which may put things back.")
def uninstall(
    kubeconfig: Path | None,
    context: str | None,
    kinds: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Take finalizers, gates, labels and annotations of QuotaTree off a cluster. Nothing is
    started, stopped or deleted.

    Run it after the server is gone (`helm uninstall` does it by a hook). Doing it twice changes
    nothing.
    """
    from quotatree.engines.kubernetes.adopted import sorts_of
    from quotatree.engines.kubernetes.client import connect
    from quotatree.engines.kubernetes.errors import ClusterError, NoClient
    from quotatree.kubernetes_edge.removal import servers, steps

    try:
        sorts = sorts_of(("jobs.batch", *kinds), ())
    except KeyError as unknown:
        fail(f"--kind {unknown.args[0]}: not a kind that QuotaTree knows", EXIT_BAD_INPUT)
    try:
        cluster = connect(kubeconfig, context)
        running = servers(cluster)
        found = list(steps(cluster, sorts))
    except (ClusterError, NoClient) as error:
        fail(str(error), EXIT_UNAVAILABLE)
    for step in found:
        click.echo(step.text)
    if running and not (dry_run or force):
        fail(
            f"a server still runs ({', '.join(running)}) and would put it back: helm uninstall it first, or use --force",
            EXIT_FAILED,
        )
    if not found:
        click.echo("nothing of QuotaTree is on the objects of this cluster")
    elif dry_run:
        click.echo(f"{len(found)} objects would be changed; nothing was")
        return
    else:
        if not yes:
            ask(f"Change these {len(found)} objects at {cluster.host}?")
        _take_off(found)
    click.echo(BY_HAND)


def _take_off(found: Sequence[Step]) -> None:
    from quotatree.engines.kubernetes.errors import ClusterError

    failed = 0
    for step in found:
        try:
            left = step.do()
        except ClusterError as error:
            failed += 1
            click.echo(f"{step.text}: {error}", err=True)
            continue
        if left:
            click.echo(left)
    click.echo(f"{len(found) - failed} objects changed")
    if failed:
        fail(f"{failed} were not; the same command goes on where this one stopped", EXIT_FAILED)


@click.command()
def crds() -> None:
    """Print the definitions of Quota and Workspace of this version, for `kubectl apply
    --server-side -f -`.
    """
    texts = [
        (files("quotatree.kubernetes_edge") / "crds" / f"{name}.yaml").read_text(encoding="utf-8")
        for name in ("quotas", "workspaces")
    ]
    click.echo("---\n".join(texts), nl=False)
