"""A cluster that lives: events happen, plans are made, and every promise is checked after every plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from unittest.mock import patch

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.planning.plan import plan
from quotatree.core.state import Settings, State
from tests.property import accounting, happenings, reclaiming, worlds
from tests.property.fitting import exceeded
from tests.property.model import Model
from tests.property.replay import Replay
from tests.property.snapshot import snapshot

START_MS = 100_000_000
PLAN = "plan"
AT_ONCE = 20
"""Plans that may follow each other at one moment."""

Log = list[tuple[int, ev.Event | str]]
"""Events with their times in ms; PLAN where a plan was made."""


class Walk:
    """A state, its clock, the log of its events and plans, and counts of what the replays checked."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.state = State(self.settings)
        self.now_ms = START_MS
        self.log: Log = []
        self.refused = 0
        self.preemptions = self.brute_forced = 0
        self.gang_ratios: list[tuple[int, int]] = []

    def happen(self, event: ev.Event) -> tuple[say.Decision, ...]:
        """Apply an event and return its decisions; check that one that is refused changes nothing."""
        before = snapshot(self.state)
        model = Model.of(self.state) if isinstance(event, reclaiming.SCALING) else None
        self.log.append((self.now_ms, event))
        try:
            found = apply(self.state, event, self.now_ms)
        except Refused:
            assert snapshot(self.state) == before, f"refused, yet something changed: {event}"
            self.refused += 1
            self.log.pop()
            return ()
        if model is not None:
            reclaiming.check(model, event, found, Model.of(self.state))
        return found

    def wait(self, milliseconds: int) -> None:
        self.now_ms += milliseconds

    def plan_out(self, check: bool = True) -> say.Plan:
        """Plan, and again as long as a plan that put a start off asks to be followed at once (S8); return the last plan."""
        for _ in range(AT_ONCE):
            made = self.plan(check)
            if made.next_wakeup_ms != self.now_ms:
                return made
        raise AssertionError(f"{AT_ONCE} plans follow each other at once")

    def plan(self, check: bool = True) -> say.Plan:
        self.log.append((self.now_ms, PLAN))
        if not check:
            return plan(self.state, self.now_ms)
        before = Model.of(self.state)
        with step_by_step():
            made = plan(self.state, self.now_ms)
        replay = Replay(before, made, self.settings.eas_outage_ms)
        replay.run()
        self.preemptions += replay.preemptions
        self.brute_forced += replay.brute_forced
        self.gang_ratios += replay.gang_ratios
        self._decisions_tell_all(replay.model)
        return made

    def _decisions_tell_all(self, told: Model) -> None:
        """Check that the decisions alone tell where every replica stands."""
        real = Model.of(self.state)
        for name, job in real.jobs.items():
            other = told.jobs[name]
            for what in ("phase", "claim", "core", "extras", "hold", "leaving"):
                mine, theirs = getattr(job, what), getattr(other, what)
                if what == "claim" and not job.core:
                    continue
                assert mine == theirs, f"{name}.{what} is {mine}, the decisions say {theirs}"

    # -- promises about the state ----------------------------------------------------------------------------

    def check_capacity(self) -> None:
        for physical in (False, True):
            assert exceeded(Model.of(self.state), physical=physical) == [], f"physically={physical}"

    def check_accounting(self) -> None:
        for check in accounting.ALL:
            check(self.state)

    def check_steady(self) -> None:
        """Check that planning again right after a plan decides nothing and changes nothing (P10)."""
        before = snapshot(self.state)
        again = plan(self.state, self.now_ms)
        assert again.decisions == (), f"planning twice decides more: {again.decisions}"
        assert snapshot(self.state) == before

    def check_holds(self) -> None:
        for job in self.state.held.values():
            assert job.hold is not None
            assert job.hold.waiting_on, f"{job.id} could start"
            assert job.hold.expires_ms > self.now_ms, f"the hold of {job.id} has expired"
            for other in job.hold.waiting_on:
                assert self.state.jobs[other].leaving, f"{job.id} waits for {other}, which has left"

    def check_before_wakeup(self, made: say.Plan) -> None:
        """Check that until `next_wakeup_ms` the clock alone changes nothing."""
        until = made.next_wakeup_ms
        later = self.now_ms + 20_000_000 if until is None else until - 1
        if later <= self.now_ms:
            return
        self.state.begin()
        try:
            more = plan(self.state, later).decisions
        finally:
            self.state.rollback()
        guards = [d for d in more if isinstance(d, say.Hold) and not d.replicas]
        # Ageing may make a job head that has waited long enough already; then it is guarded, and waits are told anew (S4, S10).
        more = tuple(d for d in more if d not in guards and not (guards and isinstance(d, say.Wait)))
        assert more == (), f"planning at {later}, before the wakeup {until}, decides {more}"

    def settle(self, most: int = 60) -> None:
        """Plan until nothing is decided; check that this comes to an end while no job is submitted or ends (P10)."""
        for _ in range(most):
            for job_id in list(self.state.leaving_jobs):
                self.happen(ev.JobLeft(job_id))
            made = self.plan_out()
            if not made.decisions and not self.state.leaving_jobs:
                return
        raise AssertionError("the cluster does not come to rest")


@contextmanager
def step_by_step() -> Iterator[None]:
    """Let plans tell every step as it was decided, not their net effect (P8; test_net_effect.py)."""
    with patch("quotatree.core.planning.draft.keep_running", return_value=[]):
        yield


def rerun(log: Log, settings: Settings | None = None) -> list[say.Plan]:
    """Return the plans that a fresh state makes of a log."""
    state = State(settings)
    plans = []
    for now_ms, entry in log:
        if isinstance(entry, str):
            plans.append(plan(state, now_ms))
        else:
            apply(state, entry, now_ms)
    return plans


def begin(random: Random, world: Callable[[Random], list[ev.Event]] = worlds.world) -> Walk:
    """Return a walk that begins with a random cluster and 2 to 14 submitted jobs."""
    walk = Walk(worlds.settings(random))
    for event in world(random):
        walk.happen(event)
    for _ in range(random.randint(2, 14)):
        who = worlds.pick(random, happenings.submit, happenings.submit_low, happenings.submit_low)
        walk.happen(who(random, walk.state, walk.now_ms))
    return walk


def step(random: Random, walk: Walk, check: bool = True) -> say.Plan:
    """Let some time pass, apply up to four random events, and return the plan made then."""
    walk.wait(worlds.pick(random, 0, 1_000, 1_000, 20_000, 90_000, 700_000))
    for _ in range(random.randint(1, 4)):
        event = happenings.anything(random, walk.state, walk.now_ms)
        if event is not None:
            walk.happen(event)
    return walk.plan_out(check)
