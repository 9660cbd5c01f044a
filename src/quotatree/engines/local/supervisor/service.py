"""What course does a service take? It is there for as long as it is wanted, whatever its replicas do.

    start ──> up ── healthy ──> ready ──┬─ stop order ──> draining ──> SIGTERM ──> left
      ^                                 ├─ its turn in a rolling restart ──> draining ──> SIGTERM ──┐
      ├── back-off ── ended by itself ──┘                                                           │
      └─────────────────────────────────────────────────────────────────────────────────────────────┘

A replica is confirmed when the proxy first finds it healthy. Before SIGTERM it is drained: it gets no new requests and
answers those it has, for as long as its grace allows. A rolling restart takes one replica after another, at its own
GPUs: the next one's turn comes when the new process is healthy, and should that never be, the others stay as they are.
A service with one replica has a moment without any; its requests wait for the new process.
"""

from __future__ import annotations

from quotatree.engines.local.host import users
from quotatree.engines.local.supervisor import address
from quotatree.engines.local.supervisor.loop import now
from quotatree.engines.local.supervisor.proxy_link import ProxyLink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from quotatree.engines.local.files.journal import Entry
    from quotatree.engines.local.supervisor.course import Order
    from quotatree.engines.local.supervisor.loop import Timer
    from quotatree.engines.local.supervisor.replica import Replica
    from quotatree.engines.local.supervisor.supervisor import Supervisor

LONGEST_BACKOFF_SECONDS = 60.0
WELL_SECONDS = 60.0
"""After so long in health, earlier crashes of a replica are forgotten."""

STARTS_WITHOUT_HEALTH = 6
"""After so many starts of a replica, a service that never was healthy is broken, and gives its GPUs back."""

TERM_SHARE, MOST_TERM_SECONDS = 0.2, 5.0
"""Share of the grace, and most of it, that is kept for the time after SIGTERM; draining has the rest."""

FIRST_TROUBLES, TROUBLE_SECONDS = 5, 60.0
"""How often it is written down at once why a replica does not become ready, and how long one more reason waits then."""

HOLD_SECONDS = 30.0
"""How long requests wait for a replica that is about to be there."""


class Member:
    """One replica of the service, through all its processes (lives)."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.number = int(order["replica"])
        self.lives = 0
        self.replica: Replica | None = None
        self.confirmed = False
        self.leaving = False  # told to stop by an order
        self.failures = 0
        self.timer: Timer | None = None
        self.begin()

    def begin(self) -> None:
        """Reset what belongs to one process, before the next is started."""
        self.lives += 1
        self.ready = False
        self.served = False  # it was ready once, and may have requests
        self.troubles = 0  # how often it was written down why it is not ready, and when last
        self.trouble_at = 0.0
        self.renewing = False  # stopped to be started again
        self.deadline: float | None = None
        self.terminated = False
        self.cancel()

    @property
    def key(self) -> str:
        """Name of the present process at the proxy. It changes with each life: news of an old process never meet a new one."""
        return f"{self.number}.{self.lives}"

    @property
    def alive(self) -> bool:
        return self.replica is not None and self.replica.alive

    def cancel(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Service:
    def __init__(self, supervisor: Supervisor) -> None:
        self._sup = supervisor
        self._members: dict[int, Member] = {}
        self._proxy: ProxyLink | None = None
        self._failed = ""
        self._ever_ready = False
        self._restarts: set[str] = set()  # keys of orders that were heard
        self._turns: list[int] = []  # replicas still to be restarted
        self._turn: Member | None = None
        self._over = False

    # What the supervisor says

    def start(self, orders: list[Order]) -> None:
        if self._over:
            return
        if self._proxy is None and not self._failed:
            self._open()
        if self._failed:
            self._settle()
            return
        for order in orders:
            member = self._members[int(order["replica"])] = Member(order)
            self._launch(member)

    def started(self, replica: Replica) -> None:
        """Do nothing: the command runs, but whether the replica serves is for the proxy to say."""

    def stop(self, numbers: list[int], grace_seconds: float) -> None:
        for number in numbers:
            member = self._members.get(number)
            if member is not None and member.alive:
                assert member.replica is not None
                member.leaving = member.replica.told = True
                self._retire(member, grace_seconds)
            else:
                self._forget(number)
        self._settle()

    def gone(self, replica: Replica) -> None:
        member = self._members.get(replica.number)
        if member is None or member.replica is not replica:
            return
        self._say(remove=member.key)
        self._not_ready(member, "ended")
        if member.leaving:
            self._forget(member.number)
        elif self._failed:
            pass
        elif member.renewing:
            member.begin()
            self._launch(member)
        else:
            self._crashed(member, replica)
        self._settle()

    def order(self, entry: Entry) -> None:
        if entry.get("do") == "restart" and str(entry["key"]) not in self._restarts:
            self._restarts.add(str(entry["key"]))
            self._turns += sorted(self._members)
            self._next_turn()

    # Processes

    def _open(self) -> None:
        sup = self._sup
        kept = address.Kept(sup.run_dir.job.service_file)
        try:
            listening = address.open_port(sup.ports, kept, sup.program.get("service_port"), sup.notice)
        except address.PortTaken as error:
            self._failed = str(error)
            return
        health = {k: v for k, v in (sup.program.get("health") or {}).items() if v is not None}
        self._proxy = ProxyLink(
            sup, listening, health, self._proxy_user(), heard=self._heard, began=self._introduce, useless=self._fail
        )  # fmt: skip
        self._proxy.start()
        sup.journal_add({"is": "endpoint", "address": f"http://{address.HOST}:{kept.port}/", "token": ""})
        longest = sup.program.get("max_seconds")
        if longest is not None:
            sup.loop.after(float(longest), lambda: self._fail(f"ran longer than {float(longest):g} s"))

    def _proxy_user(self) -> list[int] | None:
        try:
            user = users.of_spec(self._sup.spec)
        except LookupError:
            return None  # no replica will start either, and that says why
        return None if user.is_us else [user.uid, user.gid]

    def _launch(self, member: Member) -> None:
        if self._failed:
            return
        named = self._sup.program.get("port")
        try:
            if named:
                address.check_free(int(named))
        except address.PortTaken as error:
            self._fail(str(error))
            return
        port = int(named) if named else self._sup.ports.choose()
        self._sup.launch(
            member.order, port=port, command=address.filled(self._sup.program["command"], port, "")
        )
        member.replica = self._sup.replicas[member.number]
        if self._turn is member:
            self._say(hold=HOLD_SECONDS)
        self._say(add=member.key, port=port)

    def _retire(self, member: Member, grace_seconds: float) -> None:
        """Drain a replica, then send SIGTERM, and SIGKILL at the end of the grace. A second call can only shorten it."""
        deadline = now() + grace_seconds
        if member.deadline is not None and member.deadline <= deadline:
            return
        first = member.deadline is None
        member.deadline = deadline
        if member.terminated or (first and not member.served):
            self._terminate(member)
            return
        if first:
            self._say(drain=member.key)
            self._not_ready(member, "draining")
        member.cancel()
        kept_for_term = min(MOST_TERM_SECONDS, grace_seconds * TERM_SHARE)
        member.timer = self._sup.loop.at(deadline - kept_for_term, lambda: self._terminate(member))

    def _terminate(self, member: Member) -> None:
        member.cancel()
        member.terminated = True
        assert member.replica is not None
        assert member.deadline is not None
        member.replica.stop(max(0.0, member.deadline - now()))

    def _crashed(self, member: Member, replica: Replica) -> None:
        assert replica.ended is not None
        why = f"replica {member.number} {replica.ended.words()}"
        if replica.ran_out_of_memory:
            why += f": out of memory (limit {replica.memory_mib} MiB)"
        member.failures += 1
        if not self._ever_ready and replica.ended.why_not_started:
            self._fail(why)
        elif not self._ever_ready and member.failures >= STARTS_WITHOUT_HEALTH:
            self._fail(f"{why}; the service was never healthy in {member.failures} starts")
        else:
            wait = backoff_seconds(member.failures, self._sup.program.get("backoff_seconds") or 1.0)
            self._sup.journal_add(
                {"is": "restarting", "replica": member.number, "detail": why, "in_seconds": wait}
            )
            member.begin()
            member.timer = self._sup.loop.after(wait, lambda: self._launch(member))

    # What the proxy says

    def _introduce(self) -> None:
        """Tell a new proxy of all replicas. Draining ones get SIGTERM now: their requests were lost with the old proxy."""
        members = [m for m in self._members.values() if m.alive]
        if members:
            self._say(hold=HOLD_SECONDS)
        for member in members:
            self._not_ready(member, "the proxy ended")
            assert member.replica is not None
            if member.deadline is None:
                self._say(add=member.key, port=member.replica.port)
            elif not member.terminated:
                self._terminate(member)

    def _heard(self, message: dict[str, Any]) -> None:
        what, key = next(iter(message.items()))
        if what == "load":
            self._sup.tell_load(*key)
            return
        member = self._members.get(int(str(key).partition(".")[0]))
        if member is None or member.key != key:
            return
        if what == "ready" and member.deadline is None:
            self._is_ready(member)
        elif what == "unready" and not member.ready and member.deadline is None:
            self._still_not_ready(member, str(message.get("why", "")))
        elif what == "unready":
            self._not_ready(member, str(message.get("why", "")))
        elif what == "drained" and member.deadline is not None and not member.terminated:
            self._terminate(member)

    def _is_ready(self, member: Member) -> None:
        self._ever_ready = True
        member.ready = member.served = True
        self._sup.journal_add({"is": "ready", "replica": member.number})
        member.cancel()
        member.timer = self._sup.loop.after(WELL_SECONDS, lambda: _forgive(member))
        if not member.confirmed:
            member.confirmed = True
            self._sup.confirm(member.number)
        if self._turn is member:
            self._turn = None
            self._next_turn()

    def _not_ready(self, member: Member, why: str) -> None:
        if member.ready:
            member.ready = False
            self._sup.journal_add({"is": "unready", "replica": member.number, "detail": why})
            if member.deadline is None:
                member.cancel()  # the time it must be well begins anew

    def _still_not_ready(self, member: Member, why: str) -> None:
        """Write down why a replica has not become ready; reasons that keep changing, only now and then."""
        if member.troubles < FIRST_TROUBLES or now() - member.trouble_at >= TROUBLE_SECONDS:
            member.troubles += 1
            member.trouble_at = now()
            self._sup.journal_add({"is": "unready", "replica": member.number, "detail": why})

    def _say(self, **order: Any) -> None:
        if self._proxy is not None:
            self._proxy.say(**order)

    # Rolling restart

    def _next_turn(self) -> None:
        while self._turn is None and self._turns:
            member = self._members.get(self._turns.pop(0))
            # A replica that waits for its next start will be a new process anyway, and one that leaves need not be restarted.
            if member is not None and member.alive and member.deadline is None:
                self._turn = member
                member.renewing = True
                self._sup.journal_add(
                    {
                        "is": "restarting",
                        "replica": member.number,
                        "detail": "rolling restart",
                        "in_seconds": 0,
                    }
                )
                self._say(hold=self._sup.grace_seconds + HOLD_SECONDS)
                self._retire(member, self._sup.grace_seconds)

    # The end

    def _forget(self, number: int) -> None:
        """Drop a replica that was told to stop and is gone."""
        member = self._members.pop(number, None)
        if member is not None:
            member.cancel()
        self._sup.left(number)
        if self._turn is not None and self._turn is member:
            self._turn = None
            self._next_turn()

    def _fail(self, why: str) -> None:
        if not self._failed:
            self._failed = why
            for member in self._members.values():
                member.cancel()
                if member.alive:
                    self._retire(member, self._sup.grace_seconds)
            self._sup.loop.after(0, self._settle)

    def _settle(self) -> None:
        if self._over or any(member.alive for member in self._members.values()):
            return
        if self._failed or not self._sup.wanted:
            self._over = True
            if self._proxy is not None:
                self._proxy.close(self._tell_end)  # before the end is told: the next run wants the same port
            else:
                self._tell_end()

    def _tell_end(self) -> None:
        if self._failed and self._sup.wanted:
            self._sup.exited("failed", self._failed)
        else:
            self._sup.over()


def backoff_seconds(failures: int, first_seconds: float) -> float:
    return float(min(LONGEST_BACKOFF_SECONDS, first_seconds * 2.0 ** min(failures - 1, 62)))


def _forgive(member: Member) -> None:
    member.failures = 0
