"""When only a handful of units may be taken, look at every set of them.

The search for gangs is greedy, and protections (reserved parts, loans that end at min) can lead it into a dead end. With
few candidates there is no need to be clever.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

from quotatree.core.model.job import Shape
from quotatree.core.model.unit import Unit
from quotatree.core.search.slot_trial import SlotTrial
from quotatree.core.search.trial import Proposal, Trial, without_implied

FEW: Final = 10
"""Up to this many candidates, all of their sets are tried."""


def best_of_few(trial: Trial, shape: Shape, count: int) -> Proposal | None:
    """Return the cheapest lawful set for `count` replicas; None if there is none or there are more than FEW candidates."""
    units = _candidates(trial)
    if units is None:
        return None
    slots = SlotTrial(trial, shape, count)
    best: Proposal | None = None
    for size in range(1, len(units) + 1):
        for chosen in combinations(units, size):
            if best is not None and sum(slots.cost_of(u) for u in chosen) >= best.cost:
                continue
            slots.reset()
            slots.take_all(chosen)
            if slots.enough() and slots.lawful():
                best = without_implied(slots.proposal(), trial.now_ms)
    return best


def _candidates(trial: Trial) -> list[Unit] | None:
    """Return the units that may be taken up to the rung, by name; None if there are more than FEW."""
    found: list[Unit] = []
    signature, off = trial.signature, trial.overlay.off
    for cls, entitled in signature.classes_in(trial.state):
        if entitled.rung > trial.rung:
            continue
        for bucket in cls.buckets.values():
            for *_, unit in bucket:
                protected = entitled.honours_min_runtime and unit.protected_until_ms > trial.now_ms
                if protected or unit in off:
                    continue
                found.append(unit)
                if len(found) > FEW:
                    return None
    return sorted(found, key=lambda u: u.name)
