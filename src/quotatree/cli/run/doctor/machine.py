"""Could a server here run jobs, with the engine that the settings want?"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from quotatree.cli.run.doctor.finding import Finding, bad, ok, warning

if TYPE_CHECKING:
    from quotatree.api.settings import ServerSettings
    from quotatree.engines.local.server.premises import Premises

FEW_FILES: Final = 4096
"""Enough for some hundred runs with a few replicas each; a supervisor needs three for each replica."""


def findings(settings: ServerSettings) -> Iterator[Finding]:
    if settings.engine == "kubernetes":
        yield from _cluster(settings)
    elif settings.engine == "local":
        yield from _local(settings)


def _cluster(settings: ServerSettings) -> Iterator[Finding]:
    from quotatree.engines.kubernetes.client import connect
    from quotatree.engines.kubernetes.errors import ClusterError, NoClient

    try:
        cluster = connect(settings.kubernetes.kubeconfig, settings.kubernetes.context)
        cluster.read("/api/v1/nodes", {"limit": 1})
    except (ClusterError, NoClient) as error:
        yield bad(
            "cluster",
            str(error),
            "name its kubeconfig with --kubeconfig, and give that user the rights of the chart",
        )
        return
    yield ok("cluster", "it answers, and shows its nodes")


def _local(settings: ServerSettings) -> Iterator[Finding]:
    if not sys.platform.startswith("linux"):
        yield warning("engine", "local runs on Linux only", "serve --engine timer, or --engine kubernetes")
        return
    from quotatree.engines.local.host.devices import discover
    from quotatree.engines.local.server.premises import Premises
    from quotatree.server.engine_choice import LOCAL_DIRECTORY

    node = discover()
    if node is not None:
        yield ok("gpus", f"{node.gpus} x {node.model}")
    elif settings.nodes is not None:
        yield ok("gpus", f"virtual ones: {settings.nodes}")
    else:
        yield warning(
            "gpus", "none found", "install the driver, or declare eight virtual ones: serve --nodes 1x8"
        )
    assert settings.data is not None
    yield from _users(Premises(settings.data / LOCAL_DIRECTORY, settings.run_as, settings.users))
    yield from _limits(settings)
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < FEW_FILES:
        yield warning(
            "files",
            f"a process may open {files} only",
            f"raise it: ulimit -n {FEW_FILES}, or LimitNOFILE= of the unit",
        )
    else:
        yield ok("files", f"a process may open {files}")


def _users(premises: Premises) -> Iterator[Finding]:
    """Check as whom jobs run, whether workspaces are kept apart, and whether such a user can run Python."""
    from quotatree.engines.local.server.python_check import why_no_python

    if premises.refusal is not None:
        what, _, do = premises.refusal.partition("; ")
        yield warning("run as", what, do or "serve --run-as USER")
        return
    user = premises.users.sample()
    yield ok("run as", "a user for each workspace" if premises.users.apart else user.name)
    together = premises.users.shared_by_all or premises.not_apart
    if together:
        yield warning("workspaces", together, "for several teams: serve --user-range 70000-70999, as root")
    else:
        yield ok("workspaces", "kept apart: users, processes, files, IPC")
    trouble = why_no_python(user)
    if trouble:
        yield warning("python", trouble, "put Python where every user can run it, such as below /opt")
    else:
        yield ok("python", f"{user.name} can run it")


def _limits(settings: ServerSettings) -> Iterator[Finding]:
    """Limits are tried out: a kernel may offer and not permit."""
    if not settings.cgroups:
        yield warning("limits", "switched off by the setting cgroups", "take it out, unless you mean it")
        return
    from quotatree.engines.local.host import cgroups

    groups = cgroups.find(f"doctor-{os.getpid()}")
    group, notice = groups.make("try", {"cpu_milli": 1000, "memory_mib": 64})
    if group is not None:
        group.remove()
    groups.tidy()
    if notice:
        yield warning("limits", notice, "under systemd, Delegate=yes of the unit permits them")
    else:
        yield ok("limits", "CPU and memory, by cgroups")
