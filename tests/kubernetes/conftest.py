"""One cluster for all stories of a pytest process: it takes some seconds to start, and each story has namespaces of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kubernetes.binary import CannotBuild, program
from tests.kubernetes.cluster import Cluster


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


def namespaces(cluster: Cluster) -> list[str]:
    return [one["metadata"]["name"] for one in cluster.api.items("/api/v1/namespaces")]
