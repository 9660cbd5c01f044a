"""How do clients in a cluster find the server that leads? Its own pod says so by a label, by which the Service selects.

A pod that stands by is ready too, for it answers questions; so readiness cannot tell them apart. Which pod this is comes from
the variables POD_NAME and POD_NAMESPACE, which the chart sets; without them nothing is labelled.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final, Protocol

import structlog

from quotatree.api.settings import ServerSettings
from quotatree.engines.kubernetes.errors import ClusterError
from quotatree.engines.kubernetes.kinds import PODS, Kind, Object

ROLE_LABEL: Final = "quotatree.io/role"
LEADER: Final = "leader"
STANDBY: Final = "standby"
LOOKS_EVERY_SECONDS: Final = 0.5
log = structlog.get_logger(__name__)


class Labels(Protocol):
    """What is needed of a cluster."""

    def merge(self, kind: Kind, namespace: str | None, name: str, patch: Object) -> Object: ...


def own_pod() -> tuple[str, str] | None:
    """Namespace and name of the pod that this process runs in; None outside of one."""
    namespace, name = os.environ.get("POD_NAMESPACE"), os.environ.get("POD_NAME")
    return (namespace, name) if namespace and name else None


def label_of(settings: ServerSettings, leads: Callable[[], bool]) -> LeaderLabel | None:
    """The label of this process's pod; None outside of one, and for engines that need no cluster."""
    pod = own_pod()
    if settings.engine != "kubernetes" or pod is None:
        return None
    from quotatree.engines.kubernetes.client import connect

    return LeaderLabel(connect(settings.kubernetes.kubeconfig, settings.kubernetes.context), pod, leads)


class LeaderLabel:
    """Keeps the label as `leads` says. A cluster that does not answer is asked again; nothing else waits for it."""

    def __init__(self, cluster: Labels, pod: tuple[str, str], leads: Callable[[], bool]) -> None:
        self._cluster = cluster
        self._namespace, self._name = pod
        self._leads = leads
        self._written: str | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leader-label", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take the label of a leader away, so that nobody is sent to a server that ends."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._written == LEADER:
            self._write(STANDBY)

    def look(self) -> None:
        """Write the label if it is not what it should be."""
        role = LEADER if self._leads() else STANDBY
        if role != self._written:
            self._write(role)

    def _run(self) -> None:
        while not self._over.is_set():
            self.look()
            self._over.wait(LOOKS_EVERY_SECONDS)

    def _write(self, role: str) -> None:
        try:
            self._cluster.merge(
                PODS, self._namespace, self._name, {"metadata": {"labels": {ROLE_LABEL: role}}}
            )
        except ClusterError as error:
            log.warning("role_not_written", role=role, error=str(error))
        else:
            self._written = role
            log.info("role", role=role)
