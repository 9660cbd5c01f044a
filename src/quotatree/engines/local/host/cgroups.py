"""Which limits can the kernel keep for us, and does it know for us who belongs together? Control groups v1, v2, or none.

Every replica that can have one gets a group below our own, so that what the server was limited to still holds:

    <own group>/quotatree-<engine>/<job>+<run>+<replica>

CPU, memory and the number of processes are limited by v2 where those controllers are given to us, else by v1. A v2
group without any controller is still worth having: it names all processes of a replica, whatever they did to get away,
and `cgroup.kill` ends them at once. Where nothing is permitted, the tree of processes does (`process_tree.py`), and a
notice says that limits are not kept.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from quotatree.engines.local.files.layout import folder_name
from quotatree.engines.local.host.identity import Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

CONTROLLERS = ("cpu", "memory", "pids")
PERIOD_US = 100_000
SHARE_OF_PROCESSES = 4
"""One replica may have a quarter of all processes and threads of the machine: a fork bomb is to leave room for others."""

REMOVAL_ATTEMPTS = 20
REMOVAL_PAUSE_SECONDS = 0.001
SERVER_GROUP = "quotatree-server"
"""Group that a server with a group of its own moves into: v2 allows limits only below groups without processes."""


class Hierarchy:
    """One mounted tree of groups, and the directory of our own group in it."""

    __slots__ = ("controllers", "own", "v2")

    def __init__(self, own: str, controllers: frozenset[str], *, v2: bool) -> None:
        self.own = own
        self.controllers = controllers
        self.v2 = v2


class Group:
    """The groups of one replica, one in each hierarchy."""

    __slots__ = ("_limited_by", "paths")

    def __init__(self, paths: list[str], limited_by: Mapping[str, str] | None = None) -> None:
        self.paths = paths  # v2 first
        self._limited_by = limited_by or {}  # controller -> directory

    def join(self) -> None:
        """Put the calling process, and so all its later descendants, into the groups."""
        for path in self.paths:
            _write(path, "cgroup.procs", "0")

    def processes(self) -> list[Identity]:
        found = [Identity.of(pid) for pid in sorted(self._pids())]
        # Looked up twice: a pid that was reused in between is not in the group any more, or belongs to it again.
        still = self._pids()
        return [p for p in found if p is not None and p.pid in still and p.alive()]

    def _pids(self) -> set[int]:
        return {int(line) for path in self.paths for line in _read(path, "cgroup.procs").split()} - {0}

    def kill(self) -> int:
        """Kill every process in the groups; return how many were found. The caller repeats this until none is."""
        found = self.processes()
        if found:
            for path in self.paths:
                with contextlib.suppress(OSError):
                    _write(path, "cgroup.kill", "1")
            for process in found:
                process.send(signal.SIGKILL)
        return len(found)

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process here because the memory limit was reached."""
        path = self._limited_by.get("memory")
        if path is None:
            return False
        counts = _read(path, "memory.events") or _read(path, "memory.oom_control")
        return any(
            name == "oom_kill" and count != "0"
            for name, _, count in (line.partition(" ") for line in counts.splitlines())
        )

    def remove(self) -> bool:
        """Remove the groups, trying for a moment, since a killed process leaves them with a delay. False if one remains."""
        removed = [_removed(path) for path in self.paths]
        return all(removed)


class Groups:
    """All groups of one engine on this machine."""

    def __init__(self, engine: str, hierarchies: Iterable[Hierarchy]) -> None:
        self._engine = engine
        self._usable = [h for h in hierarchies if self._take(h)]

    def make(self, name: str, order: Mapping[str, Any]) -> tuple[Group | None, str]:
        """Make the groups of one replica with the limits of its order.

        Returns the group, None if none could be made, and a notice about limits that are not kept, "" if all are.
        """
        paths: list[str] = []
        limited_by: dict[str, str] = {}
        troubles: list[str] = []
        for hierarchy in self._usable:
            path = os.path.join(self._base(hierarchy), name)
            try:
                self._make_directory(hierarchy, path)
            except OSError:
                continue
            paths.append(path)
            for controller in hierarchy.controllers - limited_by.keys():
                try:
                    _limit(path, controller, order, v2=hierarchy.v2)
                    limited_by[controller] = path
                except OSError as error:
                    troubles.append(f"{controller}: {error.strerror}")
        missing = [c for c in _asked_for(order) if c not in limited_by]
        return (Group(paths, limited_by) if paths else None), _notice(missing, troubles)

    def of_run(self, job: str, run: int) -> list[Group]:
        """The existing groups of all replicas of a run, for cleaning up behind a supervisor that died."""
        beginning = group_name(job, run, "")
        names: dict[str, list[str]] = {}
        for hierarchy in self._usable:
            base = self._base(hierarchy)
            with contextlib.suppress(OSError):
                for name in os.listdir(base):
                    if name.startswith(beginning):
                        names.setdefault(name, []).append(os.path.join(base, name))
        return [Group(paths) for _, paths in sorted(names.items())]

    def tidy(self) -> None:
        """Remove the engine's directories if no replica of any run is left in them."""
        for hierarchy in self._usable:
            with contextlib.suppress(OSError):
                os.rmdir(self._base(hierarchy))

    def _base(self, hierarchy: Hierarchy) -> str:
        return os.path.join(hierarchy.own, f"quotatree-{self._engine}")

    def _take(self, hierarchy: Hierarchy) -> bool:
        """Make the engine's directory here, and with v2 note which controllers it gets. False if it is not permitted."""
        try:
            _make(self._base(hierarchy))
        except OSError:
            return False
        if hierarchy.v2:
            hierarchy.controllers = self._hand_down(hierarchy)
        return True

    def _hand_down(self, hierarchy: Hierarchy) -> frozenset[str]:
        """Pass controllers on to the groups of replicas; return those that could be. v2 demands it of every group above."""
        base, wanted = self._base(hierarchy), set(CONTROLLERS)
        got = wanted & set(_read(hierarchy.own, "cgroup.controllers").split())
        for path in (hierarchy.own, base):
            for controller in sorted(got - set(_read(path, "cgroup.subtree_control").split())):
                try:
                    _write(path, "cgroup.subtree_control", f"+{controller}")
                except OSError:
                    got.discard(controller)
        return frozenset(got)

    def _make_directory(self, hierarchy: Hierarchy, path: str) -> None:
        try:
            _make(path)
        except FileNotFoundError:  # another supervisor tidied up between two of our steps
            self._take(hierarchy)
            _make(path)


NONE = Groups("", ())


def find(engine: str) -> Groups:
    """The groups that an engine may use in this process."""
    return Groups(engine, find_hierarchies())


def hierarchies(membership: str, mounts: str) -> list[Hierarchy]:
    """The hierarchies told by /proc/self/cgroup (`membership`) and /proc/self/mountinfo (`mounts`), v2 first."""
    ours = dict(_memberships(membership))
    found: dict[str, Hierarchy] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _, options = after.split()[:3]
        names = [""] if kind == "cgroup2" else [c for c in CONTROLLERS if c in options.split(",")]
        if kind not in ("cgroup", "cgroup2") or not names or names[0] not in ours:
            continue
        own = _own_directory(point, root, ours[names[0]])
        if own is not None and point not in found:
            found[point] = Hierarchy(own, frozenset(filter(None, names)), v2=kind == "cgroup2")
    return sorted(found.values(), key=lambda h: not h.v2)


def make_room() -> bool:
    """Move the server into a child of its v2 group if it is alone in it, so that limits become possible below it.

    Returns whether it moved. Otherwise nothing changed: a group with other processes in it is not ours to arrange.
    """
    for hierarchy in hierarchies(_read("/proc/self", "cgroup"), _read("/proc/self", "mountinfo")):
        inside = {line for line in _read(hierarchy.own, "cgroup.procs").split() if line != "0"}
        if not hierarchy.v2 or inside != {str(os.getpid())} or hierarchy.own.endswith(SERVER_GROUP):
            continue
        if not set(CONTROLLERS) & set(_read(hierarchy.own, "cgroup.controllers").split()):
            continue
        with contextlib.suppress(OSError):
            path = os.path.join(hierarchy.own, SERVER_GROUP)
            _make(path)
            _write(path, "cgroup.procs", "0")
            return True
    return False


_found: list[Hierarchy] | None = None


def find_hierarchies() -> list[Hierarchy]:
    """The hierarchies of this process, looked up once: supervisors inherit them from the nursery, and stay in its group."""
    global _found  # noqa: PLW0603
    if _found is None:
        _found = hierarchies(_read("/proc/self", "cgroup"), _read("/proc/self", "mountinfo"))
    return _found


def group_name(job: str, run: int, replica: int | str) -> str:
    return f"{folder_name(job)}+{run}+{replica}"


def most_processes() -> int:
    """How many processes and threads one replica may have."""
    whole = min(int(_read("/proc/sys/kernel", name) or 32_768) for name in ("pid_max", "threads-max"))
    return max(1, whole // SHARE_OF_PROCESSES)


def _memberships(text: str) -> Iterable[tuple[str, str]]:
    """Pairs of (controller, path), with "" for the v2 hierarchy. Paths that lead out of what we see are left out."""
    for line in text.splitlines():
        _, names, path = line.split(":", 2)
        if "/.." not in path:
            for name in names.split(","):
                yield name, path.removesuffix(f"/{SERVER_GROUP}") or "/"


def _own_directory(point: str, root: str, path: str) -> str | None:
    """Directory of our group under the mount point; None if the mount, which shows only `root` and below, lacks it."""
    if root != "/":
        if path != root and not path.startswith(f"{root}/"):
            return None
        path = path[len(root) :]
    own = os.path.join(point, path.strip("/"))
    return own.rstrip("/") if os.path.isdir(own) else None


def _asked_for(order: Mapping[str, Any]) -> list[str]:
    asked = {"cpu": order.get("cpu_milli"), "memory": order.get("memory_mib")}
    return [controller for controller, amount in asked.items() if amount]


def _limit(path: str, controller: str, order: Mapping[str, Any], *, v2: bool) -> None:
    if controller == "pids":
        _write(path, "pids.max", str(most_processes()))
        return
    if controller not in _asked_for(order):
        return
    if controller == "cpu":
        quota_us = max(1000, int(order["cpu_milli"]) * PERIOD_US // 1000)
        if v2:
            _write(path, "cpu.max", f"{quota_us} {PERIOD_US}")
        else:
            _write(path, "cpu.cfs_period_us", str(PERIOD_US))
            _write(path, "cpu.cfs_quota_us", str(quota_us))
        return
    limit_bytes = str(int(order["memory_mib"]) * 1024 * 1024)
    _write(path, "memory.max" if v2 else "memory.limit_in_bytes", limit_bytes)
    with contextlib.suppress(OSError):  # where swap is not counted there is nothing to forbid
        if v2:
            _write(path, "memory.swap.max", "0")
        else:
            _write(path, "memory.memsw.limit_in_bytes", limit_bytes)


def _notice(missing: list[str], troubles: list[str]) -> str:
    if not missing:
        return ""
    why = f" ({'; '.join(troubles)})" if troubles else ": no control group of ours may limit it"
    return f"the limit of {' and '.join(missing)} is not kept on this machine{why}"


def _make(path: str) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o755)


def _removed(path: str) -> bool:
    for _ in range(REMOVAL_ATTEMPTS):
        try:
            os.rmdir(path)
            return True
        except FileNotFoundError:
            return True
        except OSError:
            time.sleep(REMOVAL_PAUSE_SECONDS)
    return False


def _read(path: str, name: str) -> str:
    try:
        fd = os.open(os.path.join(path, name), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
    except OSError:
        return ""
    finally:
        os.close(fd)
    return os.fsdecode(b"".join(parts))


def _write(path: str, name: str, text: str) -> None:
    fd = os.open(os.path.join(path, name), os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
