"""How does an order reach a supervisor? Written down, what to run as a specification, what to do as lines; then it is woken.

Supervisors of earlier versions read both: fields may be added, and none may change what it means.
"""

from __future__ import annotations

import errno
import secrets
import signal
import time
from collections.abc import Callable, Iterable
from typing import Any

from quotatree.core import Module
from quotatree.engines.base import ReplicaOrder, StartOrder
from quotatree.engines.local.files import journal
from quotatree.engines.local.host.users import User
from quotatree.engines.local.server import birth
from quotatree.engines.local.server.known import KnownRun

Line = dict[str, Any]


def specification(engine_id: str, order: StartOrder, user: User, *, limits: bool, apart: bool) -> Line:
    """All that a supervisor must know of its run but the program. `apart`: jobs of workspaces do not see each other."""
    spec: Line = {
        "engine": engine_id, "job": order.job, "run": order.run, "module": order.module.value,
        "world_size": len(order.replicas), "grace_ms": order.grace_ms, "user": user.name,
        "source": birth.SOURCE, "limits": limits,
    }  # fmt: skip
    if apart:
        spec["apart"] = True
    if not user.listed and not user.is_us:
        spec |= {"uid": user.uid, "home": user.home}
    return {**spec, "token": secrets.token_urlsafe(24)} if order.module is Module.DSW else spec


def start(replicas: Iterable[ReplicaOrder]) -> Line:
    return {"do": "start", "replicas": [_replica(one) for one in replicas]}


def stop(replicas: Iterable[int], grace_ms: int) -> Line:
    return {"do": "stop", "replicas": sorted(replicas), "grace_ms": grace_ms}


def restart(key: str) -> Line:
    return {"do": "restart", "key": key}


def fail(detail: str) -> Line:
    return {"do": "fail", "detail": detail}


def give(run: KnownRun, line: Line, make_room: Callable[[], bool]) -> None:
    """Write an order down and wake the supervisor, which finds it by itself should it miss the signal.

    `make_room`: called when the order does not fit on the disk; True if there is room now.
    """
    said = {"at_ms": time.time_ns() // 1_000_000, **line}
    try:
        journal.append(run.directory.orders, said)
    except OSError as error:
        if error.errno != errno.ENOSPC or not make_room():
            raise
        journal.append(run.directory.orders, said)
    if run.supervisor is None:
        run.unheard = True
    else:
        run.supervisor.send(signal.SIGUSR1)
        run.supervisor.send(signal.SIGCONT)  # in case it was stopped: an order is to be obeyed


def wake_if_unheard(run: KnownRun) -> None:
    """Wake a supervisor, once it is known, for orders that were written down before it was."""
    if run.unheard and run.supervisor is not None:
        run.unheard = False
        run.supervisor.send(signal.SIGUSR1)


def _replica(order: ReplicaOrder) -> Line:
    shape = order.shape
    return {
        "replica": order.replica, "node": order.node, "devices": list(order.devices),
        "gpu_milli": shape.gpu_milli, "cpu_milli": shape.cpu_milli, "memory_mib": shape.memory_mib,
    }  # fmt: skip
