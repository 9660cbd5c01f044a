"""A cluster to try things out on: `python -m tests.kubernetes.scratch --nodes 16` runs until Ctrl-C and leaves nothing behind."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click

from tests.kubernetes.binary import CannotBuild
from tests.kubernetes.cluster import Cluster, Speed


@click.command()
@click.option("--nodes", default=16, show_default=True, help="Number of nodes.")
@click.option("--gpus", default=8, show_default=True, help="GPUs of each.")
@click.option("--resource", default="nvidia.com/gpu", show_default=True, help="Name of the GPU resource.")
@click.option(
    "--model",
    default="NVIDIA-A100-SXM4-80GB",
    show_default=True,
    help="GPU model, as the label nvidia.com/gpu.product.",
)
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Also write the admin's kubeconfig here.")
def main(nodes: int, gpus: int, resource: str, model: str, kubeconfig: Path | None) -> None:
    """Start a control plane with fake nodes on 127.0.0.1."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with Cluster.started(Speed() if nodes <= 100 else Speed(40, 50)) as cluster:
            labels = {"nvidia.com/gpu.product": model, "topology.kubernetes.io/zone": "zone-a"}
            cluster.nodes.add(nodes, gpus, resource=resource, labels=labels)
            if kubeconfig is not None:
                kubeconfig.write_text(cluster.kubeconfig.read_text())
            click.echo(f"export KUBECONFIG={kubeconfig or cluster.kubeconfig}")
            click.echo(
                f"# {nodes} nodes × {gpus} GPUs are Ready; logs of all parts: {cluster.home}/*.log", err=True
            )
            click.echo("# Ctrl-C ends it all.", err=True)
            signal.pause()
    except CannotBuild as problem:
        raise click.ClickException(str(problem)) from None
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
