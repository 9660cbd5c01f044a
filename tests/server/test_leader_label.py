"""The pod of the server that leads says so, and no other does."""

from __future__ import annotations

import pytest

from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.kinds import Kind, Object
from quotatree.server.leader_label import ROLE_LABEL, LeaderLabel, own_pod


class Cluster:
    """Keeps what was written last, and fails as often as it is told."""

    def __init__(self) -> None:
        self.roles: list[str] = []
        self.fails = 0

    def merge(self, kind: Kind, namespace: str | None, name: str, patch: Object) -> Object:
        assert (kind.plural, namespace, name) == ("pods", "quotatree", "server-0")
        if self.fails:
            self.fails -= 1
            raise ClusterError(503, "ServiceUnavailable", "not now")
        self.roles.append(patch["metadata"]["labels"][ROLE_LABEL])
        return {}


def test_the_label_follows_who_leads_and_is_written_once():
    cluster, leads = Cluster(), [False]
    label = LeaderLabel(cluster, ("quotatree", "server-0"), lambda: leads[0])
    label.look()
    label.look()
    leads[0] = True
    label.look()
    label.look()
    assert cluster.roles == ["standby", "leader"]
    label.stop()
    assert cluster.roles[-1] == "standby"


def test_what_could_not_be_written_is_written_later():
    cluster = Cluster()
    cluster.fails = 1
    label = LeaderLabel(cluster, ("quotatree", "server-0"), lambda: True)
    label.look()
    assert cluster.roles == []
    label.look()
    assert cluster.roles == ["leader"]


def test_outside_of_a_pod_there_is_nothing_to_label(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("POD_NAME", raising=False)
    monkeypatch.setenv("POD_NAMESPACE", "quotatree")
    assert own_pod() is None
    monkeypatch.setenv("POD_NAME", "server-0")
    assert own_pod() == ("quotatree", "server-0")
