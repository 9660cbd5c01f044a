"""What has a replica printed? The log of its pod, from an offset on, as far as the kubelet keeps it."""

from __future__ import annotations

from typing import Final

from quotatree.engines.base import LogPiece
from quotatree.engines.kubernetes.client import Cluster
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.kinds import PODS, Key

MOST_READ: Final = 64 * 1024 * 1024


def read_log(
    cluster: Cluster, key: Key, offset: int, limit: int, *, over: bool, container: str = ""
) -> LogPiece | None:
    """At most `limit` bytes of a pod's output from `offset` on; a negative offset counts from the end. None: not kept.

    `over`: the pod has ended, so nothing more will come. The API gives a log from its beginning only, so what is before the offset is read and dropped.
    """
    most = MOST_READ if offset < 0 else min(MOST_READ, offset + limit)
    try:
        text = cluster.read(
            PODS.path(key.namespace, key.name, "log"),
            {"limitBytes": most, **({"container": container} if container else {})},
        )
    except ClusterError as error:
        if error.status == 400:  # no container has started yet
            return LogPiece(max(0, offset), b"", max(0, offset), False)
        return None
    begin = max(0, len(text) + offset) if offset < 0 else min(offset, len(text))
    data = text[begin : begin + limit]
    end = len(text)
    return LogPiece(begin, data, end, over and begin + len(data) >= end and len(text) < most)
