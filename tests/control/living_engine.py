"""An engine whose runs have a life of their own: they are confirmed, leave, end, get lost, idle; GPUs fall ill.

What it holds survives the server. It is the judge as well: whatever is ordered, no job may run twice and no GPU may be
given twice (A7), and it breaks where that happens.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from quotatree.core.model.job import JobId, JobSpec
from quotatree.core.model.policy import Module
from quotatree.engines.base import (
    Capabilities,
    Checkpointed,
    Confirmed,
    DeviceReport,
    Endpoint,
    Exited,
    Idled,
    Left,
    LogPiece,
    Lost,
    Observed,
    Outcome,
    Place,
    Program,
    ReplicaOrder,
    Report,
    RestartOrder,
    Running,
    StartOrder,
    StopOrder,
)

Key = tuple[JobId, int]


@dataclass(slots=True)
class Living:
    """One run, from its first order until it is forgotten."""

    module: Module
    replicas: dict[int, ReplicaOrder] = field(default_factory=dict)  # there
    confirmed: set[int] = field(default_factory=set)
    leaving: set[int] = field(default_factory=set)
    end: Exited | Lost | None = None
    restarts: list[str] = field(default_factory=list)


class LivingEngine:
    def __init__(self, dice: random.Random, gpus: dict[str, int]) -> None:
        self.capabilities = Capabilities("living", frozenset(Module), endpoints=True)
        self.place = Place("living", "a test")
        self.runs: dict[Key, Living] = {}
        self.fail_orders = 0
        self.deaf = False
        """The server is dying: what it orders is not heard any more."""
        self.ill: set[tuple[str, int]] = set()
        self._dice = dice
        self._gpus = gpus
        self._tell: Callable[[Report], None] | None = None
        self._said: list[Report] = []

    # -- orders ----------------------------------------------------------------------------------------------------------

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        return None

    def open(self, report: Callable[[Report], None]) -> None:
        """As every engine should: how its GPUs are is told anew, for it may have changed unseen."""
        self._tell = report
        for node, gpus in self._gpus.items():
            for device in range(gpus):
                self.say(DeviceReport(node, device, (node, device) not in self.ill))

    def start(self, order: StartOrder) -> None:
        if not self._hears():
            return
        key = (order.job, order.run)
        run = self.runs.get(key)
        if run is None:
            run = self.runs[key] = Living(order.module)
        if run.end is not None:
            self.say(run.end)
            return
        for one in order.replicas:
            if one.replica not in run.replicas:
                self._judge(key, one)
                run.replicas[one.replica] = one
        again = tuple(one.replica for one in order.replicas if one.replica in run.confirmed)
        if again:
            self.say(Confirmed(*key, again))

    def stop(self, order: StopOrder) -> None:
        run = self.runs.get((order.job, order.run))
        if self._hears() and run is not None:
            run.leaving |= run.replicas.keys() & set(order.replicas or run.replicas)

    def restart(self, order: RestartOrder) -> None:
        if self._hears():
            run = self.runs[order.job, order.run]
            assert run.module is Module.EAS
            if order.key not in run.restarts:
                run.restarts.append(order.key)

    def recall(self, orders: Sequence[StartOrder]) -> None:
        """It knows its runs."""

    def observe(self) -> Observed:
        return Observed(
            tuple(Running(*key, tuple(run.replicas)) for key, run in self.runs.items() if run.replicas),
            tuple(run.end for run in self.runs.values() if isinstance(run.end, Exited)),
        )

    def forget(self, job: JobId, run: int) -> None:
        known = self.runs.get((job, run))
        if known is not None and not known.replicas and not self.deaf:
            known.end = known.end or Lost(job, run, ())
            if isinstance(known.end, Exited):
                known.end = Lost(job, run, ())

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        return None

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        return None

    def close(self) -> None:
        self._tell = None

    def _hears(self) -> bool:
        if self.fail_orders:
            self.fail_orders -= 1
            raise OSError("the engine cannot be reached")
        return not self.deaf

    def _judge(self, key: Key, one: ReplicaOrder) -> None:
        """May it start there? Whatever stands on the devices, and every other run of the job, must be gone."""
        for other, run in self.runs.items():
            if other[0] == key[0] and other != key:
                assert not run.replicas, f"{key} starts while {other} is there"
            for there in run.replicas.values():
                if there.node == one.node and not set(there.devices).isdisjoint(one.devices):
                    shared = there.shape.gpu_milli + one.shape.gpu_milli
                    assert shared <= 1000, f"{key} gets {one} where {other} has {there}"

    # -- life ------------------------------------------------------------------------------------------------------------

    def say(self, report: Report) -> None:
        """Heard, unless nobody listens; some things are said again much later."""
        self._said.append(report)
        if self._tell is not None and not self.deaf:
            self._tell(report)

    def live(self) -> None:
        """Something happens to some of the runs, and to the GPUs."""
        for key in list(self.runs):
            if self.runs[key].replicas and self._dice.random() < 0.5:
                self._happens(key, self.runs[key])
        if self._said and self._dice.random() < 0.3 and self._tell is not None:
            old = self._dice.choice(self._said)
            if not isinstance(old, DeviceReport):
                self._tell(old)
        if self._dice.random() < 0.1:
            node = self._dice.choice(list(self._gpus))
            self.device(node, self._dice.randrange(self._gpus[node]), self._dice.random() < 0.5)

    def device(self, node: str, device: int, healthy: bool) -> None:
        (self.ill.discard if healthy else self.ill.add)((node, device))
        self.say(DeviceReport(node, device, healthy, "a test"))

    def let_all_leave(self) -> None:
        """Whoever was told to stop does so now."""
        for key, run in list(self.runs.items()):
            gone = tuple(sorted(run.leaving))
            for number in gone:
                self._gone(run, number)
            if gone:
                self.say(Left(*key, gone))

    def _happens(self, key: Key, run: Living) -> None:
        dice = self._dice.random()
        new = run.replicas.keys() - run.confirmed
        if new and dice < 0.5:
            run.confirmed |= new
            self.say(Confirmed(*key, tuple(sorted(new))))
        elif run.leaving and dice < 0.8:
            gone = tuple(sorted(run.leaving)[: self._dice.randint(1, 2)])
            for number in gone:
                self._gone(run, number)
            self.say(Left(*key, gone))
        elif dice < 0.85:
            self.say(self._dice.choice((Checkpointed(*key), Idled(*key, "a test"))))
        elif dice < 0.92:
            run.end = Exited(*key, self._dice.choice(list(Outcome)))
            self._all_gone(run)
            self.say(run.end)
        else:
            run.end = Lost(*key, tuple(sorted(run.replicas)), "a test")
            self._all_gone(run)
            self.say(run.end)

    def _gone(self, run: Living, number: int) -> None:
        del run.replicas[number]
        run.confirmed.discard(number)
        run.leaving.discard(number)

    def _all_gone(self, run: Living) -> None:
        for number in list(run.replicas):
            self._gone(run, number)
