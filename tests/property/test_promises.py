"""What QuotaTree promises, whatever happens. One invariant per promise; each is checked after every plan.

A random cluster lives through random events: jobs come, end, leave, are cancelled, resized, resubmitted; quotas are
scaled in all modes, policies change, nodes come and go, time passes. The checks that look at single decisions (rights,
minimality, ladder, nothing fruitless) are made while the plan is replayed on a naive model: see replay.py.
"""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from quotatree.core import decisions as say
from tests.property import happenings, rights
from tests.property.walk import Walk, begin

RANDOM = st.randoms(use_true_random=False, note_method_calls=False)


class Promises(RuleBasedStateMachine):
    """Rules are what may happen; invariants are what we promise."""

    walk: Walk | None = None
    made: say.Plan | None = None

    @initialize(random=RANDOM)
    def a_cluster_with_a_crowd_at_the_door(self, random: Random) -> None:
        self.walk = begin(random)
        self.made = self.walk.plan_out()

    def _happen(self, random: Random, *choices: happenings.Happening) -> None:
        assert self.walk is not None
        for choice in choices:
            event = choice(random, self.walk.state, self.walk.now_ms)
            if event is not None:
                self.walk.happen(event)
        self.made = self.walk.plan_out()

    @rule(random=RANDOM)
    def jobs_are_submitted(self, random: Random) -> None:
        self._happen(random, *[happenings.push] * random.randint(1, 4))

    @rule(random=RANDOM)
    def a_job_ends(self, random: Random) -> None:
        self._happen(random, happenings.end)

    @rule(random=RANDOM)
    def evicted_replicas_have_left(self, random: Random) -> None:
        self._happen(random, *[happenings.left] * random.randint(1, 3))

    @rule(random=RANDOM)
    def a_job_is_cancelled_and_another_comes(self, random: Random) -> None:
        self._happen(random, happenings.cancel, happenings.submit)

    @rule(random=RANDOM)
    def a_job_checkpoints_or_its_start_is_confirmed(self, random: Random) -> None:
        self._happen(random, happenings.checkpoint, happenings.confirm)

    @rule(random=RANDOM)
    def something_rare_happens(self, random: Random) -> None:
        rare = happenings.RARE[random.randint(0, len(happenings.RARE) - 1)]
        self._happen(random, rare, happenings.submit)

    @rule(minutes=st.sampled_from([0.1, 1, 2, 6, 15, 70]), random=RANDOM)
    def time_passes(self, minutes: float, random: Random) -> None:
        assert self.walk is not None
        self.walk.wait(int(minutes * 60_000))
        self._happen(random, happenings.submit_low, happenings.push)

    @precondition(lambda self: self.walk is not None)
    @invariant()
    def capacity_of_no_node_or_device_is_exceeded(self) -> None:
        assert self.walk is not None
        self.walk.check_capacity()

    @precondition(lambda self: self.walk is not None)
    @invariant()
    def accounting_equals_recomputation_from_the_jobs(self) -> None:
        assert self.walk is not None
        self.walk.check_accounting()

    @precondition(lambda self: self.walk is not None)
    @invariant()
    def holds_are_live_and_wait_for_somebody(self) -> None:
        assert self.walk is not None
        self.walk.check_holds()

    @precondition(lambda self: self.walk is not None)
    @invariant()
    def planning_twice_yields_nothing(self) -> None:
        assert self.walk is not None
        self.walk.check_steady()

    @precondition(lambda self: self.walk is not None and self.made is not None)
    @invariant()
    def the_clock_alone_changes_nothing_before_the_wakeup(self) -> None:
        assert self.walk is not None
        assert self.made is not None
        self.walk.check_before_wakeup(self.made)

    def teardown(self) -> None:
        """No loops: left alone, with everybody leaving who was told to, the cluster comes to rest."""
        if self.walk is not None:
            self.walk.settle()


TestPromises = Promises.TestCase

STEPS_TO_SEE = {"IDLE", "OWN", "DESCENDANTS", "SIBLINGS"}
KINDS_TO_SEE = {"Start", "Hold", "Evict", "Promote", "Release", "Fail", "Wait"}


def test_the_walks_see_what_they_should() -> None:
    """The generators are worth something only if preemptions of every kind happen."""
    steps: set[str] = set()
    kinds: set[str] = set()
    for seed in range(150):
        if steps >= STEPS_TO_SEE and kinds >= KINDS_TO_SEE:
            break
        random = Random(seed)
        walk = begin(random)
        for _ in range(15):
            made = walk.plan(check=False)
            for decision in made.decisions:
                kinds.add(type(decision).__name__)
                if isinstance(decision, say.Start | say.Hold) and decision.preemption is not None:
                    steps.add(rights.step_of(decision.preemption).name)
            for _ in range(random.randint(1, 3)):
                event = happenings.anything(random, walk.state, walk.now_ms)
                if event is not None:
                    walk.happen(event)
            walk.wait(random.choice([0, 1_000, 60_000, 700_000]))
    assert steps >= STEPS_TO_SEE
    assert kinds >= KINDS_TO_SEE
