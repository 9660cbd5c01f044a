"""One cluster for all stories of a pytest process: it takes some seconds to start, and each story has namespaces of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.binary import CannotBuild, program
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.manifests import granted
from tests.kubernetes.serving import Server
from tests.kubernetes.story import Story


@pytest.fixture(scope="session")
def empty_cluster() -> Iterator[Cluster]:
    """A control plane; whoever uses it makes the nodes and takes them away again."""
    try:
        program()
    except CannotBuild as problem:
        pytest.exit(str(problem), returncode=1)
    with Cluster.started() as cluster:
        yield cluster


@pytest.fixture
def cluster(empty_cluster: Cluster) -> Iterator[Cluster]:
    """The control plane with whatever nodes and namespaces a story makes; all of them are gone afterwards."""
    before = set(namespaces(empty_cluster))
    yield empty_cluster
    empty_cluster.clear(keep=before)


@pytest.fixture(scope="session")
def account(empty_cluster: Cluster) -> Path:
    """Kubeconfig of the chart's service account: stories run with the rights that an installation has, and no more."""
    return granted(empty_cluster)


@pytest.fixture
def story(cluster: Cluster, account: Path, tmp_path: Path) -> Iterator[Callable[..., Story]]:
    """Starts a server on so many new nodes of 8 GPUs and returns it as a story to be told."""
    begun: list[Server] = []

    def begin(nodes: int = 2, **more: Any) -> Story:
        cluster.nodes.add(nodes, 8, labels={"nvidia.com/gpu.product": "A100"})
        server = Server(tmp_path / f"server-{len(begun)}", account, **more)
        begun.append(server)
        server.start()
        told = Story(cluster, server)
        told.nodes_known(nodes)
        return told

    yield begin
    for server in begun:
        server.stop()


def namespaces(cluster: Cluster) -> list[str]:
    return [one["metadata"]["name"] for one in cluster.api.items("/api/v1/namespaces")]
