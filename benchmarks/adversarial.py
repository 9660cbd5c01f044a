"""Does any input make a plan slow? One plan of each hard family (hard_families.py) at n, 2n and 4n, and all plans on 1,000 GPUs.

Times are processor seconds of this process, so that a busy machine changes them little. A plan over n alike things may
cost n log n; the ratio of the largest to the smallest stands beside the ratio that n log n would give. A plan may leave something to
the next one, which follows at once: of those the slowest counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from time import process_time

from benchmarks.hard_families import FAMILIES, Family
from benchmarks.hard_worlds import LATER
from benchmarks.measure import Table, budgets, settle, verdict
from quotatree.core import plan

STEPS = (1, 2, 4)


def adversarial() -> list[Table]:
    """Time one plan of every family as it grows, and at its largest on at most 1,000 GPUs."""
    limits = budgets()["adversarial"]
    growing = Table(
        "Growth of one plan with n alike things",
        ("family", "n", "s at n", "at 2n", "at 4n", "4n against n", "n log n", ""),
        note=f"Missed: more than {limits['growth_tolerance']:g} times the ratio of n log n.",
    )
    large = Table(
        "Plans of a cluster of 1,000 GPUs",
        ("family", "n", "first s", "slowest s", "budget s", "", "plans until all is decided", "s in all"),
    )
    for family in FAMILIES:
        first, *_, last = times = [seconds(family, family.first * step) for step in STEPS]
        ratio, allowed = last / first, _n_log_n(STEPS[-1] * family.first) / _n_log_n(family.first)
        growing.add(
            family.name, f"{family.first:,}", *(f"{time:.3f}" for time in times), f"x{ratio:.1f}", f"x{allowed:.1f}",
            verdict(ratio, allowed * limits["growth_tolerance"]),
        )  # fmt: skip
        took, limit = seconds_until_decided(family, family.largest), limits["thousand_gpus_seconds"]
        large.add(
            family.name, f"{family.largest:,}", f"{took[0]:.2f}", f"{max(took):.2f}", limit, verdict(max(took), limit),
            f"{len(took):,}", f"{sum(took):.2f}",
        )  # fmt: skip
    return [growing, large]


def seconds(family: Family, n: int) -> float:
    """Return the processor seconds of the first plan of a family at this size."""
    return next(_plans(family, n))


def seconds_until_decided(family: Family, n: int) -> list[float]:
    """Return the processor seconds of every plan of a family at this size, until one asks for no other at once."""
    return list(_plans(family, n))


def _plans(family: Family, n: int) -> Iterator[float]:
    state = family.build(n)
    settle()
    at_once = True
    while at_once:
        started = process_time()
        made = plan(state, LATER)
        yield process_time() - started
        at_once = made.next_wakeup_ms == LATER


def _n_log_n(n: int) -> float:
    return n * log2(max(2, n))
