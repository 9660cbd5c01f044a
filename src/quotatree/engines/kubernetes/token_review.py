"""Whose token is this? The cluster is asked (TokenReview), as it would be for a request of its own."""

from __future__ import annotations

from typing import Final, Protocol

from quotatree.engines.kubernetes.kinds import Kind, Object

TOKEN_REVIEWS: Final = Kind("authentication.k8s.io/v1", "tokenreviews", "TokenReview", namespaced=False)


class Cluster(Protocol):
    def create(self, kind: Kind, namespace: str | None, body: Object) -> Object: ...


def reviewed(cluster: Cluster, token: str) -> str | None:
    """The name of the token's user in the cluster; None if the token is not valid there. Raises ClusterError."""
    answer = cluster.create(TOKEN_REVIEWS, None, {"spec": {"token": token}})
    status = answer.get("status") or {}
    name = (status.get("user") or {}).get("username")
    return str(name) if status.get("authenticated") is True and name else None
