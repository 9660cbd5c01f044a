"""What an attempt may spend in vain depends on the state, the clock and what was decided, and all have their turn (A4, A8)."""

from __future__ import annotations

import pytest

from benchmarks.hard_searches import cpu_just_beyond_reserved
from benchmarks.hard_worlds import LATER
from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.model.job import Job
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import HIGHEST_PRIORITY
from quotatree.core.planning import turns
from quotatree.core.planning.plan import plan
from quotatree.core.planning.turns import EFFORT, IN_TURN, LEAST, TURN_MS, Turns, turns_of
from quotatree.core.search.branching import Branching
from quotatree.core.search.patience import OutOfPatience, Patience
from quotatree.core.snapshots import restore, snapshot
from tests.core.building import cluster, submit

MANY = 5_000
NOBODY = HIGHEST_PRIORITY + 1
NODES = 125


def units(patience: Patience) -> int:
    """Return how much may be spent."""
    spent = 0
    try:
        while True:
            patience.spend(1)
            spent += 1
    except OutOfPatience:
        return spent


@pytest.fixture
def job() -> Job:
    return submit(cluster(8), "waits", "r", (1, 1000))


def test_all_classes_together_may_spend_so_much_in_the_first_pass(job: Job) -> None:
    for classes in (1, 8, IN_TURN):
        assert units(Turns(classes, NOBODY).patience(job, 1, NODES, 0)) * classes <= EFFORT


def test_all_passes_together_spend_a_few_times_as_much(job: Job) -> None:
    spent = sum(units(Turns(10, NOBODY, helped).patience(job, 1, NODES, 0)) for helped in range(200))
    assert spent * 10 < 6 * EFFORT + 200 * 10 * LEAST


def test_of_very_many_each_has_its_turn_and_few_have_it_at_a_time(job: Job) -> None:
    state = cluster(8)
    jobs = [submit(state, f"waits-{n}", "r", (1, 1 + n % 999), priority=1 + n % 9) for n in range(999)]
    waiting = Turns(len(jobs), NOBODY)
    now = [sum(waiting.has_turn(one, LATER + k * TURN_MS) for one in jobs) for k in range(waiting.rounds())]
    assert sum(now) == len(jobs)
    assert max(now) < 3 * IN_TURN
    for one in jobs[:50]:
        turn_ms = waiting.patience(one, 1, NODES, LATER).turn_ms
        assert waiting.has_turn(one, LATER if turn_ms is None else turn_ms)


def test_the_foremost_always_have_their_turn() -> None:
    """Twenty classes of priority 9 and 8 wait before a thousand of lower ones: none of these twenty waits for its turn."""
    state = cluster(8)
    first = [submit(state, f"urgent-{n}", "r", (1, 1 + n), priority=8 + n % 2) for n in range(20)]
    rest = [submit(state, f"waits-{n}", "r", (1, 1 + n % 999), priority=1 + n // 999) for n in range(1_100)]
    waiting = turns_of(state.trees[0].together)
    assert waiting.foremost == 3
    assert all(waiting.has_turn(one, LATER) for one in first)
    assert sum(waiting.has_turn(one, LATER) for one in rest) < 3 * IN_TURN
    assert all(waiting.patience(one, 1, NODES, LATER).turn_ms is None for one in first)


def test_in_its_turn_a_job_may_look_at_all_nodes_however_many_there_are() -> None:
    state = cluster(8)
    one = submit(state, "waits", "r", (1, 1000))
    waiting = Turns(MANY, NOBODY)
    turn_ms = waiting.patience(one, 1, 10_000, LATER).turn_ms
    in_turn = waiting.patience(one, 1, 10_000, LATER if turn_ms is None else turn_ms)
    in_turn.look_at_nodes()


def sets_tried(monkeypatch: pytest.MonkeyPatch, classes: int) -> int:
    """Return how many units of effort branch and bound begins with in one plan for so many shapes, none of which can be helped."""
    begun = 0
    real = Branching.__init__

    def counted(self: Branching, *args: object, **rest: object) -> None:
        nonlocal begun
        begun += 1
        real(self, *args, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Branching, "__init__", counted)
    plan(cpu_just_beyond_reserved(classes), LATER)
    return begun


def test_shapes_that_are_sought_in_vain_share_one_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = sets_tried(monkeypatch, 10), sets_tried(monkeypatch, 40)
    assert many < 2 * few


def test_whoever_is_cut_short_waits_and_is_told_so_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "EFFORT", 500)
    state = cpu_just_beyond_reserved(30)
    not_full = next(node for node in state.nodes if node.whole_free)
    apply(state, ev.NodeChanged(not_full.spec.name, NodeState.CORDONED), LATER)
    made = plan(state, LATER)
    assert all(isinstance(d, say.Wait) for d in made.decisions)
    assert made.next_wakeup_ms == (LATER // TURN_MS + 1) * TURN_MS, "others have their turn then"
    assert all(
        cls.failed is None or not cls.failed.cut_short
        for quota in state.quotas.values()
        for cls in quota.queue.classes.values()
    ), "nothing is remembered that another plan may find out"
    later = made.next_wakeup_ms
    assert plan(restore(snapshot(state)), later).decisions == plan(state, later).decisions
