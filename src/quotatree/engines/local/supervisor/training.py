"""What course does a training run take? All replicas together: one that fails fails the gang, all that end well end it."""

from __future__ import annotations

from quotatree.engines.local.supervisor.retry import Retries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from quotatree.engines.local.files.journal import Entry
    from quotatree.engines.local.supervisor.course import Order
    from quotatree.engines.local.supervisor.loop import Timer
    from quotatree.engines.local.supervisor.replica import Replica
    from quotatree.engines.local.supervisor.supervisor import Supervisor


class Training:
    def __init__(self, supervisor: Supervisor) -> None:
        self._sup = supervisor
        self._retries = Retries(supervisor.program)
        self._failed = ""  # why this attempt ends; the others are being stopped
        self._could_start = True
        self._final = False  # no further attempt, whatever the retries say
        self._next_attempt: Timer | None = None
        self._done: set[int] = set()  # ended well, in this attempt
        self._longest_set = False

    def start(self, orders: list[Order]) -> None:
        """Start these replicas, now or with the next attempt if the present one is ending."""
        self._limit_time()
        if self._failed or self._next_attempt is not None:
            return  # they come with the next attempt
        for order in orders:
            self._sup.launch(order)

    def started(self, replica: Replica) -> None:
        """Confirm the replica: for a training run it is enough that the command runs."""
        self._sup.confirm(replica.number)

    def stop(self, numbers: list[int], grace_seconds: float) -> None:
        """Stop these replicas by order. Those that do not run any more, or not yet again, are gone already.

        An order that comes when the whole run has succeeded is too late: it is finished, and must not be run again. The
        success of single replicas is not enough for that, and an exit code after SIGTERM says nothing at all: many programs
        write their checkpoint and exit with 0.
        """
        if self._all_well():
            return
        for number in numbers:
            replica = self._sup.replicas.get(number)
            if replica is not None and replica.alive:
                replica.told = True
                replica.stop(grace_seconds)
            else:
                self._sup.left(number)
        self._settle()

    def gone(self, replica: Replica) -> None:
        """Note how a replica of which nothing is left ended, and go on with the run."""
        ended = replica.ended
        if replica.told:
            self._sup.left(replica.number)
        elif ended is not None and ended.well and not self._failed:
            self._done.add(replica.number)
        elif not self._failed:
            self._fail(replica)
        self._settle()

    def order(self, entry: Entry) -> None:
        """Ignore the order: only start and stop are for a training run."""

    def _fail(self, replica: Replica) -> None:
        assert replica.ended is not None
        self._could_start = not replica.ended.why_not_started
        words = replica.ended.words()
        if not self._could_start:
            self._stop_others(words)
            return
        if replica.ran_out_of_memory:
            words += f": out of memory (limit {replica.memory_mib} MiB)"
        self._stop_others(f"replica {replica.number} {words}")

    def _stop_others(self, why: str) -> None:
        self._failed = why
        for other in self._sup.replicas.values():
            other.stop(self._sup.grace_seconds)

    def _all_well(self) -> bool:
        found = [self._sup.replicas.get(number) for number in self._sup.wanted]
        return (
            not self._failed and bool(found) and all(r is not None and r.ended_well_by_itself for r in found)
        )

    def _settle(self) -> None:
        """When no replica runs, end the run or prepare the next attempt."""
        sup = self._sup
        if any(replica.alive for replica in sup.replicas.values()):
            return
        wanted = set(sup.wanted)
        if not wanted:
            if self._next_attempt is not None:
                self._next_attempt.cancel()
            sup.over()
        elif self._failed:
            self._after_failure()
        elif wanted <= self._done:
            sup.exited("succeeded", "")

    def _after_failure(self) -> None:
        sup = self._sup
        if self._next_attempt is not None:
            return
        wait = None if self._final else self._retries.after_failure(could_start=self._could_start)
        counted = self._could_start and not self._final
        why = self._failed + (self._retries.attempts_words() if counted else "")
        if wait is None:
            sup.exited("failed", why)
            return
        sup.journal_add({"is": "restarting", "replica": None, "detail": why, "in_seconds": wait})
        self._next_attempt = sup.loop.after(wait, self._again)

    def _again(self) -> None:
        self._next_attempt = None
        self._failed = ""
        self._done.clear()
        self._sup.new_attempt()
        self.start(list(self._sup.wanted.values()))

    def _limit_time(self) -> None:
        seconds = self._sup.program.get("max_seconds")
        if seconds is not None and not self._longest_set:
            self._longest_set = True
            self._sup.loop.after(float(seconds), self._too_long)

    def _too_long(self) -> None:
        self._final = True
        why = f"ran longer than {float(self._sup.program['max_seconds']):g} s"
        if self._next_attempt is not None:
            self._next_attempt.cancel()
            self._next_attempt = None
        if not self._failed:
            self._stop_others(why)
        self._failed = why
        self._settle()
