"""What runs the jobs of a server, and on which nodes? The engine that the settings name, and the nodes it stands for."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from quotatree.api.settings import ServerSettings
from quotatree.control.commands import values as do
from quotatree.control.loop import Controller
from quotatree.control.world import SYSTEM, World
from quotatree.core import NodeSpec, NodeState, Refused
from quotatree.engines.base import Engine
from quotatree.engines.local.host.virtual import VIRTUAL_LABELS, virtual_nodes
from quotatree.engines.timer import TimerEngine

TIMER_FILE: Final = "timer.log"
LOCAL_DIRECTORY: Final = "engine"
FOUND_LABEL: Final = ("found", "nvml")


class NoEngine(Exception):
    """The engine that the settings name cannot run on this machine; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """The nodes of the engine. `declared`: the settings name them; otherwise they were found on this machine."""

    nodes: tuple[NodeSpec, ...]
    declared: bool
    kept_up: bool
    """Whether nodes that are no longer declared or found are drained; False for timers, which run anywhere."""


def fleet_of(settings: ServerSettings) -> Fleet:
    """The nodes that the settings declare, else, for the local engine, those found. Raises Refused if unreadable."""
    local = settings.engine == "local"
    if settings.nodes is not None:
        return Fleet(virtual_nodes(settings.nodes), True, local)
    return Fleet(_found() if local else (), False, local)


def engine_of(settings: ServerSettings, directory: Path, fleet: Fleet) -> Engine:
    if settings.engine == "timer":
        return TimerEngine(directory / TIMER_FILE)
    if settings.engine == "kubernetes":
        return _kubernetes(settings)
    if not sys.platform.startswith("linux"):
        raise NoEngine("the local engine runs on Linux only; here there is --engine timer")
    from quotatree.engines.local.host.devices import Gpus, HealthWatch
    from quotatree.engines.local.server.disk_use import DiskSettings
    from quotatree.engines.local.server.engine import LocalEngine

    gpus = None if fleet.declared or not fleet.nodes else Gpus.open()
    return LocalEngine(
        directory / LOCAL_DIRECTORY,
        run_as=settings.run_as,
        users=settings.users,
        disk=DiskSettings(settings.jobs_dir, settings.job_disk),
        nodes=fleet.nodes,
        limits=settings.cgroups,
        health=None if gpus is None else HealthWatch(gpus, fleet.nodes[0]),
    )


def _kubernetes(settings: ServerSettings) -> Engine:
    from quotatree.engines.kubernetes.adopted import KNOWN
    from quotatree.engines.kubernetes.client import connect
    from quotatree.engines.kubernetes.engine import KubernetesEngine
    from quotatree.engines.kubernetes.errors import NoClient

    options = settings.kubernetes
    if settings.nodes is not None:
        raise NoEngine("--nodes declares virtual nodes; on Kubernetes the cluster says which nodes there are")
    unknown = sorted(set(options.adopted_kinds) - {*KNOWN, *(one.name for one in options.other_kinds)})
    if unknown:
        known = ", ".join(KNOWN)
        raise NoEngine(
            f"kubernetes.adopted_kinds: {unknown[0]} is not known; there are {known}. Describe it in kubernetes.other_kinds"
        )
    try:
        cluster = connect(options.kubeconfig, options.context)
    except NoClient as error:
        raise NoEngine(str(error)) from error
    return KubernetesEngine(cluster, options)


def keep_up(controller: Controller, fleet: Fleet) -> list[str]:
    """Join the fleet's new nodes and drain those that are gone. Returns notices to show.

    Only a node that a server joined by itself can be gone: one that was found, or a virtual one if the settings declare
    nodes now. It is drained, not lost: the processes on it are still this server's, and get their notice.
    """
    known = controller.ask(_nodes).result()
    said = []
    for node in fleet.nodes:
        before = known.get(node.name)
        if before is None:
            try:
                controller.call(do.JoinNode(actor=SYSTEM, spec=node)).result()
            except Refused as refused:
                said.append(f"node {node.name} does not join: {refused}")
        elif (before[0].gpus, before[0].model) != (node.gpus, node.model):
            said.append(
                f"node {node.name} joined with {before[0].gpus} GPU(s) of model {before[0].model}"
                f" and has {node.gpus} of model {node.model} now: it stays as it joined"
            )
    here = {node.name for node in fleet.nodes}
    for name, (spec, state) in known.items():
        gone = fleet.kept_up and name not in here and _is_ours(spec, virtual=fleet.declared)
        if gone and state is NodeState.READY:
            controller.call(do.SetNodeState(actor=SYSTEM, node=name, state=NodeState.DRAINING)).result()
            said.append(
                f"node {name} is no longer there: draining (quotatree uncordon {name} if it comes back)"
            )
    return said


def _nodes(world: World, now_ms: int) -> dict[str, tuple[NodeSpec, NodeState]]:
    del now_ms
    return {node.spec.name: (node.spec, node.state) for node in world.state.nodes if not node.gone}


def _is_ours(spec: NodeSpec, *, virtual: bool) -> bool:
    return FOUND_LABEL in spec.labels or (virtual and set(VIRTUAL_LABELS) <= set(spec.labels))


def _found() -> tuple[NodeSpec, ...]:
    from quotatree.engines.local.host.devices import discover

    node = discover()
    return () if node is None else (replace(node, labels=(*node.labels, FOUND_LABEL)),)
