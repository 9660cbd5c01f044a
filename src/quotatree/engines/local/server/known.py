"""What is known of a run? Its orders and its journal, read into one record; the same after a restart as before it.

A replica is there from the order that starts it until the journal says that it left or that the run is over. The engine
orders a replica again only after it read that it had left: so the numbers of both say who is there.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from quotatree.core import JobId, Module
from quotatree.engines.base import (
    Checkpointed,
    Confirmed,
    Endpoint,
    Exited,
    Idled,
    InFlight,
    Left,
    Lost,
    Outcome,
    Report,
    Unready,
)
from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import EngineDir, RunDir
from quotatree.engines.local.host.identity import Identity

Key = tuple[JobId, int]
LOAD_LASTS_SECONDS: Final = 10.0
"""A figure of the requests in flight that is older says nothing any more."""


@dataclass(slots=True)
class KnownRun:
    job: JobId
    run: int
    module: Module
    directory: RunDir
    replicas: set[int] = field(default_factory=set)  # there, also those in their grace
    confirmed: set[int] = field(default_factory=set)
    processes: dict[int, Identity] = field(default_factory=dict)  # main process by replica, as last started
    groups: dict[int, list[str]] = field(default_factory=dict)  # control groups by replica
    ready: set[int] = field(default_factory=set)
    unready: dict[int, Unready] = field(default_factory=dict)  # of services
    address: tuple[str, str] | None = None
    supervisor: Identity | None = None
    exited: Exited | None = None
    over: bool = False  # a final line was read: nothing of it is left
    forgotten: bool = False  # its end is written down
    unheard: bool = False  # it has orders that its supervisor was not woken for
    too_large: bool = False  # it was told to end for what its job holds on the disk
    lost_detail: str = ""
    notices: list[str] = field(default_factory=list)
    offset: int = 0
    load: InFlight | None = None  # the latest figure, told at `loaded_at` of the monotonic clock
    loaded_at: float = 0.0
    home: str | None = None  # of its workspace, if that lies with the engine

    @property
    def key(self) -> Key:
        return (self.job, self.run)

    @property
    def endpoint(self) -> Endpoint | None:
        if self.address is None or self.over:
            return None
        fresh = time.monotonic() - self.loaded_at < LOAD_LASTS_SECONDS
        unready = tuple(self.unready[replica] for replica in sorted(self.unready) if replica in self.replicas)
        return Endpoint(*self.address, len(self.ready), self.load if fresh else None, unready)

    def see_load(self, in_flight_milli: int, span_ms: int) -> None:
        number = 1 if self.load is None else self.load.number + 1
        self.load = InFlight(in_flight_milli, span_ms, number)
        self.loaded_at = time.monotonic()

    def read_on(self) -> list[Report]:
        """Take in what was written to the journal since the last call; return the reports that follow from it."""
        try:
            if os.stat(self.directory.journal).st_size <= self.offset:
                return []
        except FileNotFoundError:
            return []
        entries, self.offset = journal.read(self.directory.journal, self.offset)
        return [report for entry in entries for report in self.hear(entry)]

    def hear(self, entry: dict[str, Any]) -> list[Report]:
        """Take in one line of the journal; return the reports that follow from it. Lines of unknown kind give none."""
        heard = _HEARERS.get(entry.get("is", ""))
        return [] if heard is None or self.over else heard(self, entry)

    def conclusion(self, replicas: tuple[int, ...]) -> Report:
        """The report that answers an order to start these replicas of a run that is over."""
        if self.exited is not None:
            return self.exited
        return Lost(*self.key, replicas, self.lost_detail or "this run is over")


def read_run(directory: RunDir) -> KnownRun | None:
    """What the files of a run tell, after a restart. None if it has no spec, and so never had a supervisor."""
    try:
        with open(directory.spec, encoding="utf-8") as file:
            spec = json.load(file)
    except (FileNotFoundError, ValueError):
        return None
    run = KnownRun(
        JobId(spec["job"]), int(spec["run"]), Module(spec["module"]), directory, home=spec.get("home")
    )
    orders, _ = journal.read(directory.orders)
    there = Counter(
        int(one["replica"]) for order in orders if order.get("do") == "start" for one in order["replicas"]
    )
    entries, run.offset = journal.read(directory.journal)
    for entry in entries:
        if entry.get("is") == "left":
            there.subtract(int(replica) for replica in entry["replicas"])
    run.replicas = set(there)
    for entry in entries:
        run.hear(entry)
    if not run.over:
        run.replicas = {replica for replica, times in there.items() if times > 0}
    return run


def runs_on_disk(directory: EngineDir) -> Iterator[KnownRun]:
    """All runs in the engine's directory that are not forgotten."""
    for job in _names(directory.jobs):
        runs = os.path.join(directory.jobs, job, "runs")
        for name in sorted(_names(runs)):
            path = RunDir(os.path.join(runs, name))
            if name.isdecimal() and not os.path.exists(path.forgotten):
                run = read_run(path)
                if run is not None:
                    yield run


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []


# -- one line ----------------------------------------------------------------------------------------------------------


def _supervising(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    run.supervisor = Identity.read(entry)
    return []


def _started(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    boot = run.supervisor.boot if run.supervisor is not None else ""
    replica = int(entry["replica"])
    run.processes[replica] = Identity.read({"boot": boot, **entry})
    run.groups[replica] = [str(path) for path in entry.get("groups") or ()]
    _is_unready(run, entry, "it has not answered yet")
    return []


def _confirmed(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    replicas = tuple(int(replica) for replica in entry["replicas"])
    run.confirmed.update(replicas)
    return [Confirmed(*run.key, replicas)]


def _left(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    replicas = tuple(r for replica in entry["replicas"] if (r := int(replica)) in run.replicas)
    _gone(run, replicas)
    return [Left(*run.key, replicas)] if replicas else []


def _gone(run: KnownRun, replicas: tuple[int, ...]) -> None:
    for kept in (run.replicas, run.confirmed, run.ready):
        kept.difference_update(replicas)
    for replica in replicas:
        run.unready.pop(replica, None)


def _checkpoint(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    return [Checkpointed(*run.key)]


def _idle(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    return [Idled(*run.key, str(entry.get("detail", "")))]


def _ready(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    run.ready.add(int(entry["replica"]))
    run.unready.pop(int(entry["replica"]), None)
    return []


def _unready(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    run.ready.discard(int(entry["replica"]))
    _is_unready(run, entry, str(entry.get("detail") or ""))
    return []


def _restarting(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    """A crash or a rolling restart is not the end of being unready: that began with the first process that was not well."""
    _is_unready(run, entry, str(entry.get("detail") or ""))
    return []


def _is_unready(run: KnownRun, entry: dict[str, Any], why: str) -> None:
    """Note that a replica of a service is not ready. A training run restarts as a whole, and names no replica."""
    if run.module is not Module.EAS:
        return
    replica = int(entry["replica"])
    before = run.unready.get(replica)
    if before is None:
        run.unready[replica] = Unready(replica, int(entry.get("at_ms") or 0), why)
    elif (
        entry.get("is") != "started"
    ):  # what was wrong with the process before says more than that this one is new
        run.unready[replica] = before._replace(why=why)


def _endpoint(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    run.address = (str(entry["address"]), str(entry.get("token") or ""))
    return []


def _notice(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    run.notices.append(str(entry.get("text", "")))
    return []


def _exited(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    run.over = True
    run.replicas.clear()
    run.exited = Exited(*run.key, Outcome(entry["outcome"]), str(entry.get("detail", "")))
    return [run.exited]


def _lost(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    run.over = True
    run.lost_detail = str(entry.get("detail", ""))
    replicas = tuple(sorted(run.replicas))
    run.replicas.clear()
    return [Lost(*run.key, replicas, run.lost_detail)]


def _over(run: KnownRun, entry: dict[str, Any]) -> list[Report]:
    """End the run. Replicas that have not left were ordered in the very last moment and never started: they are lost."""
    return _lost(run, {"detail": "ordered when the run was over"}) if run.replicas else _just_over(run)


def _just_over(run: KnownRun) -> list[Report]:
    run.over = True
    return []


_HEARERS = {
    "supervising": _supervising,
    "started": _started,
    "confirmed": _confirmed,
    "left": _left,
    "checkpoint": _checkpoint,
    "idle": _idle,
    "ready": _ready,
    "unready": _unready,
    "restarting": _restarting,
    "endpoint": _endpoint,
    "notice": _notice,
    "exited": _exited,
    "lost": _lost,
    "over": _over,
}
