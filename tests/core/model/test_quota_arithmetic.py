"""The tree's arithmetic on one small tree, number by number: Q3, Q4, Q8, I2, P3, S6.

root 12 ── a 6 (a.x 4, a.y 2)
        └─ b 4
"""

from __future__ import annotations

from random import Random

import pytest

from quotatree.core.model.quota import Quota, QuotaId
from quotatree.core.model.quota_arithmetic import (
    charge,
    has_loan,
    idle_room,
    loan,
    most_room,
    own_share_key,
    protected,
    protected_below,
    protected_from,
    share_key,
    shortage,
    squeezed,
    unused,
)
from quotatree.core.model.resources import GPU, Bounds, Resources
from quotatree.core.state import State
from tests.core.building import World, gpus, self_level, tree


def use(state: State, quota: str, gpus: float, idle: bool = False) -> Quota:
    found = state.quotas[QuotaId(quota)]
    charge(found, Resources(int(gpus * 1000)), 1, idle)
    return found


def test_work_counts_in_its_quota_and_in_every_ancestor() -> None:
    state = tree()
    use(state, "a.x", 3)
    assert [state.quotas[QuotaId(q)].used[GPU] for q in ("a.x", "a", "root", "a.y", "b")] == [
        3000,
        3000,
        3000,
        0,
        0,
    ]
    assert state.quotas[QuotaId("a")].own_used[GPU] == 0


def test_a_job_fits_only_along_the_whole_path() -> None:
    state = tree()
    use(state, "root", 9)
    short = shortage(state.quotas[QuotaId("a.x")], gpus(4))
    assert short is not None
    assert (short.quota.id, short.free) == ("root", 3000)
    assert shortage(state.quotas[QuotaId("a.x")], gpus(3)) is None


def test_a_loan_passes_the_own_min_and_no_other() -> None:
    state = tree()
    own = use(state, "a.y", 2)
    assert shortage(own, gpus(1)) is not None
    assert shortage(own, gpus(4), loan_allowed=True) is None
    assert shortage(own, gpus(5), loan_allowed=True).quota.id == "a"  # type: ignore[union-attr]
    use(state, "a.y", 1)
    assert has_loan(own)
    assert (loan(own, GPU), unused(own, GPU)) == (1000, 0)


def test_squeezed_is_what_ancestors_stand_on() -> None:
    state = tree()
    use(state, "root", 9)
    assert squeezed(state.quotas[QuotaId("a")], GPU) == 3000
    assert squeezed(state.quotas[QuotaId("b")], GPU) == 1000
    assert squeezed(state.quotas[QuotaId("root")], GPU) == 0


def test_reserved_is_kept_from_ancestors_and_siblings_only() -> None:
    state = tree(**{"a.x": {"reserved": gpus(3)}})
    a = state.quotas[QuotaId("a")]
    assert protected(a, GPU) == 3000
    assert shortage(a, gpus(3)) is None
    assert shortage(a, gpus(4)) is not None
    assert shortage(state.quotas[QuotaId("a.x")], gpus(4)) is None
    use(state, "a.x", 2)
    assert protected(a, GPU) == 1000


def test_a_part_reserved_too_late_does_not_keep_its_own_quota_out() -> None:
    """Q8: `root` stands on part of what is then reserved for `a`. What is left is for `a` and below, not for others."""
    state = tree(a={"reserved": gpus(5)})
    use(state, "root", 9)
    assert shortage(state.quotas[QuotaId("a")], gpus(3)) is None
    assert shortage(state.quotas[QuotaId("a.x")], gpus(3)) is None
    short = shortage(state.quotas[QuotaId("b")], gpus(1))
    assert short is not None
    assert (short.quota.id, short.free) == ("root", -2000)
    assert most_room(state.quotas[QuotaId("a.x")])[GPU] == 3000


class Supposed:
    """One quota, with all above it, uses so much less than it does; it is not known what the others would use."""

    def __init__(self, quota: Quota, less: Resources) -> None:
        self._used = {q.id: [u - n for u, n in zip(q.used, less, strict=True)] for q in quota.path}
        self._quotas = quota.path

    def used(self, quota: Quota) -> list[int]:
        return self._used[quota.id]

    def idle(self, quota: Quota) -> list[int]:
        raise AssertionError(f"{quota.id}: nobody asked for that")

    def changed_children(self, quota: Quota) -> list[Quota]:
        return [child for child in self._quotas if child.parent is quota]


def test_what_is_reserved_by_quotas_that_nothing_happens_to_is_not_counted_anew() -> None:
    """Q8: supposing that a.y used less, a.x and b still have reserved and not in use what they had."""
    state = tree(
        **{"a.x": {"reserved": gpus(2)}, "a.y": {"reserved": gpus(2)}, "b": {"reserved": gpus(3)}},
    )
    use(state, "a.x", 1)
    use(state, "a.y", 2)
    use(state, "b", 1)
    root, y = state.quotas[QuotaId("root")], state.quotas[QuotaId("a.y")]
    assert protected_below(root, GPU) == 1000 + 2000
    assert protected_below(root, GPU, usage=Supposed(y, gpus(2))) == 3000 + 2000
    assert protected_from(y, root, GPU, Supposed(y, gpus(2))) == 1000 + 2000, (
        "its own part is not kept from it"
    )


def test_idle_room_leaves_out_what_is_not_lent() -> None:
    state = tree(b={"lending": False})
    use(state, "a", 2)
    assert idle_room(state.quotas[QuotaId("a")], 12_000, GPU) == 6000
    assert idle_room(state.quotas[QuotaId("b")], 12_000, GPU) == 10_000
    use(state, "a", 6, idle=True)
    assert idle_room(state.quotas[QuotaId("a")], 12_000, GPU) == 0
    assert idle_room(state.quotas[QuotaId("b")], 12_000, GPU) == 4000


def test_a_share_is_use_and_idle_borrowed_over_weight() -> None:
    """S6: a weight takes the place of min where it is named; idle work counts."""
    state = tree(b={"weight": Bounds(16_000)}, a={"weight": Bounds(None, 8_000)})
    a, b = use(state, "a", 3), use(state, "b", 2)
    assert (share_key(a), share_key(b)) == (500_000_000, 125_000_000), (
        "a's weight names no GPUs: its min counts"
    )
    use(state, "b", 6, idle=True)
    assert share_key(b) == 500_000_000
    a.used[1] = 6_000
    assert share_key(a) == 750_000_000, "the largest over the resources that are named"


def test_a_weight_of_0_comes_last() -> None:
    state = tree(b={"weight": Bounds(0)})
    use(state, "a", 6)
    assert share_key(state.quotas[QuotaId("a")]) < share_key(state.quotas[QuotaId("b")])


def test_a_quotas_own_jobs_are_measured_against_its_min() -> None:
    """S6: they compete with its children; its weight is for its siblings."""
    state = tree(a={"weight": Bounds(600_000)})
    a = use(state, "a", 2)
    use(state, "a", 1, idle=True)
    use(state, "a.x", 2)
    assert own_share_key(a) == 500_000_000
    assert share_key(state.quotas[QuotaId("a.x")]) == 500_000_000


def test_no_loan_on_what_is_reserved_below_q8() -> None:
    world = World(nodes=2)
    world.root(16)
    world.quota("a", 8, self_level=self_level(5, 1))
    world.quota("team", 4, parent="a", reserved=Resources(4000))
    world.run("runs", "a", 4, priority=5)
    world.submit("loan", "a", 8, priority=5)
    assert world.plan() == []
    world.submit("mine", "team", 4)
    assert world.plan() == [("Start", "mine"), ("Start", "loan")], "what is reserved is in use now"


@pytest.mark.parametrize("seed", range(30))
def test_what_is_more_than_the_most_room_has_none_q3_q8(seed: int) -> None:
    """The bound may be too high where parts below the work are reserved, never too low."""
    random = Random(seed)
    world = World()
    world.root(8)
    for name, size, parent in (("a", 5, "r"), ("b", 3, "r"), ("a.x", 3, "a"), ("a.y", 2, "a")):
        reserved = Resources(random.randint(0, size) * 1000)
        world.quota(name, size, parent=parent, reserved=reserved)
    for name in ("a", "b", "a.x", "a.y", "r"):
        if random.random() < 0.7:
            use(world.state, name, random.randint(0, 3))
    for quota in world.state.quotas.values():
        most = most_room(quota)[GPU]
        assert most is not None
        for wanted in range(1, 9):
            if gpus(wanted)[GPU] > most:
                assert shortage(quota, gpus(wanted)) is not None
