"""What course does a notebook take? It is confirmed when it answers, watched for idleness, and ends when it ends.

Its directory, its address and its token stay with the job: a stopped notebook that is started again is found at the
same place, with its files. Without a command it is JupyterLab.
"""

from __future__ import annotations

import os

from quotatree.engines.local.host import jupyter, users
from quotatree.engines.local.supervisor import address
from quotatree.engines.local.supervisor.idle import GpuUse, Rule, cpu_seconds
from quotatree.engines.local.supervisor.loop import now
from quotatree.engines.local.supervisor.probe import Probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from quotatree.engines.local.files.journal import Entry
    from quotatree.engines.local.supervisor.course import Order
    from quotatree.engines.local.supervisor.replica import Replica
    from quotatree.engines.local.supervisor.supervisor import Supervisor

OPENS_WITHIN_SECONDS = 120.0
LOOK_SECONDS = 0.05


class Notebook:
    def __init__(self, supervisor: Supervisor) -> None:
        self._sup = supervisor
        self._failed = ""
        self._over = False
        self._order: Order | None = None
        self._replica: Replica | None = None
        self._port = 0
        self._token = ""
        self._probe: Probe | None = None
        self._open_until = 0.0
        self._rule: Rule | None = None
        self._gpus: GpuUse | None = None

    def start(self, orders: list[Order]) -> None:
        """Start the first of these replicas; a notebook has no more."""
        if self._order is not None or not orders:
            return
        self._order = orders[0]
        sup = self._sup
        kept = address.Kept(sup.run_dir.job.service_file)
        self._token = kept.token = kept.token or os.urandom(24).hex()
        try:
            self._port = address.port_for(sup.ports, kept, sup.program.get("port"), sup.notice)
        except address.PortTaken as error:
            self._failed = str(error)
            self._settle()
            return
        sup.spec["token"] = self._token
        sup.launch(self._order, port=self._port, command=self._command())
        self._replica = sup.replicas[int(self._order["replica"])]
        longest = sup.program.get("max_seconds")
        if longest is not None:
            sup.loop.after(float(longest), lambda: self._fail(f"ran longer than {float(longest):g} s"))

    def started(self, replica: Replica) -> None:
        """Begin to ask whether the notebook answers: its command runs, and must now open its port."""
        health = self._sup.program.get("health") or {}
        self._probe = Probe(self._port, health.get("path") or "", health.get("timeout_seconds") or 2.0)
        self._open_until = now() + OPENS_WITHIN_SECONDS
        self._look()

    def stop(self, numbers: list[int], grace_seconds: float) -> None:
        for number in numbers:
            if self._replica is not None and self._replica.alive and self._replica.number == number:
                self._replica.told = True
                self._replica.stop(grace_seconds)
            else:
                self._sup.left(number)
        self._settle()

    def gone(self, replica: Replica) -> None:
        if replica.told:
            self._sup.left(replica.number)
        self._settle()

    def order(self, entry: Entry) -> None:
        """Ignore the order: only start and stop are for a notebook."""

    def _command(self) -> str | list[str]:
        asked = self._sup.program.get("command")
        if asked is not None:
            return address.filled(asked, self._port, self._token)
        try:
            as_root = users.of_spec(self._sup.spec).uid == 0
        except LookupError:
            as_root = False  # nothing will start, and that says why
        return jupyter.command(self._sup.program.get("env"), as_root=as_root)

    # Until it answers

    def _look(self) -> None:
        replica, probe = self._replica, self._probe
        if replica is None or probe is None:
            return
        if not replica.alive or replica.told or self._failed:
            probe.close()
        elif probe.look():
            self._answers(replica)
        elif now() > self._open_until:
            probe.close()
            self._fail(f"it did not answer at port {self._port} within {OPENS_WITHIN_SECONDS:g} s")
        else:
            self._sup.loop.after(LOOK_SECONDS, self._look)

    def _answers(self, replica: Replica) -> None:
        sup = self._sup
        where = f"http://{address.HOST}:{self._port}/"
        sup.journal_add({"is": "endpoint", "address": where, "token": self._token})
        sup.journal_add({"is": "ready", "replica": replica.number})
        sup.confirm(replica.number)
        idle_stop = sup.program.get("idle_stop")
        if idle_stop is not None:
            self._rule = Rule(idle_stop)
            self._gpus = GpuUse()
            self._see_use()

    # While it runs

    def _see_use(self) -> None:
        replica, rule = self._replica, self._rule
        assert replica is not None
        assert rule is not None
        assert self._gpus is not None
        assert self._order is not None
        if not replica.alive or replica.told or replica.identity is None:
            return
        use = self._gpus.percent([int(device) for device in self._order["devices"]])
        idle = rule.saw(now(), cpu_seconds([replica.identity.pid]), use)
        if idle is not None:
            self._sup.journal_add({"is": "idle", "detail": idle})
        self._sup.loop.after(rule.pause_seconds, self._see_use)

    # The end

    def _fail(self, why: str) -> None:
        if not self._failed and self._replica is not None and self._replica.alive and not self._replica.told:
            self._failed = why
            self._replica.stop(self._sup.grace_seconds)

    def _settle(self) -> None:
        sup, replica = self._sup, self._replica
        if self._over or (replica is not None and replica.alive):
            return
        self._over = True
        if not sup.wanted:
            sup.over()
        elif self._failed:
            sup.exited("failed", self._failed)
        elif replica is not None and replica.ended is not None:
            words = f"replica {replica.number} {replica.ended.words()}"
            if replica.ran_out_of_memory:
                words += f": out of memory (limit {replica.memory_mib} MiB)"
            sup.exited(*(("succeeded", "") if replica.ended.well else ("failed", words)))
