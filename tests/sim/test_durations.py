"""How long jobs run: the closest group that has enough finished jobs, and what is left given how long one has run."""

from __future__ import annotations

from quotatree.sim.durations import FEW, GROUPS, Durations, RunKind, Typical, left_ms

ANN = RunKind("ann", "a", "DLC", 8000)


def test_the_closest_group_with_enough_jobs_is_taken():
    known = Durations((ANN, 100 + i) for i in range(FEW))
    assert known.typical(ANN) == Typical([100, 101, 102, 103, 104], 0)
    other_quota = ANN._replace(quota="b")
    assert GROUPS[known.typical(other_quota).group] == "the same user and size"  # type: ignore[union-attr]
    stranger = RunKind("bob", "c", "DLC", 1000)
    assert GROUPS[known.typical(stranger).group] == "the whole tree"  # type: ignore[union-attr]
    known.learn(stranger, 7)
    assert known.typical(stranger).group == len(GROUPS) - 1  # type: ignore[union-attr]  # one is too few
    known.learn(ANN._replace(module="DSW"), 9)
    assert known.typical(ANN._replace(module="DSW")) is None, (
        "one notebook is no sample, and training says nothing of it"
    )
    assert known.count == FEW + 2


def test_sizes_are_alike_up_to_the_next_power_of_two():
    known = Durations((ANN._replace(gpu_milli=milli), milli) for milli in (4000, 5000, 6000, 7000, 7000))
    groups = {gpus: known.typical(ANN._replace(gpu_milli=gpus * 1000)) for gpus in (3, 4, 7, 8)}
    assert [gpus for gpus, found in groups.items() if found is not None and found.group == 0] == [4, 7]


def test_what_is_left_is_that_of_those_who_ran_as_long():
    known = Typical([10, 20, 30, 40, 100], 0)
    assert [left_ms(known, 0, share) for share in (0.25, 0.5, 0.75)] == [20, 30, 40]
    assert [left_ms(known, 25, share) for share in (0.25, 0.5, 0.75)] == [5, 15, 75]
    assert left_ms(known, 100, 0.5) == 100  # longer than all: as long again
    assert left_ms(known, 200, 0.25) == 100
