"""Random clusters and quota trees, small enough to be checked by brute force, strange enough to find something.

Everything is drawn from a `random.Random`; hypothesis passes one that it can shrink.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TypeVar

from quotatree.core import events as ev
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels, Strategy
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import WHOLE_GPU, Bounds, Resources
from quotatree.core.state import Settings

SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS

T = TypeVar("T")


def chance(random: Random, percent: int) -> bool:
    return random.randint(0, 99) < percent


def pick(random: Random, *options: T) -> T:
    return options[random.randint(0, len(options) - 1)]


def settings(random: Random) -> Settings:
    return Settings(starvation_guard_ms=pick(random, 3_600_000, 0, 10 * MINUTE_MS))


def world(random: Random) -> list[ev.Event]:
    """Return the events that make pools, nodes and one or two trees."""
    form = pick(random, "plain", "plain", "plain", "two roots", "two pools", "mixed")
    found: list[ev.Event] = []
    pools = ["a", "b"] if form == "two pools" else ["a"]
    if form == "mixed":
        found.append(ev.PoolDeclared("a", mixed=True))
    capacity = dict.fromkeys(pools, 0)
    for number in range(random.randint(2, 4)):
        pool = pools[number % len(pools)]
        spec = _node(random, number, pool, form == "mixed")
        capacity[pool] += spec.gpus
        found.append(ev.NodeJoined(spec))
    if form == "two roots":
        first = random.randint(1, capacity["a"] - 1)
        found += _tree(random, "r", {"a": first})
        found += _tree(random, "s", {"a": capacity["a"] - first})
    elif form == "two pools":
        found += _tree(random, "r", {p: random.randint(max(1, c - 2), c) for p, c in capacity.items()})
    else:
        found += _tree(random, "r", {"a": random.randint(max(1, capacity["a"] - 3), capacity["a"])})
    return found


def several_trees(random: Random) -> list[ev.Event]:
    """Return the events that make two to four trees on two or three pools.

    Some trees share a pool, some only share a third tree that draws on a pool of each.
    """
    pools = ["a", "b", "c"][: random.randint(2, 3)]
    found: list[ev.Event] = []
    capacity = dict.fromkeys(pools, 0)
    for number in range(random.randint(len(pools), 5)):
        pool = pools[number % len(pools)]
        spec = _node(random, number, pool, False)
        capacity[pool] += spec.gpus
        found.append(ev.NodeJoined(spec))
    draws: list[dict[str, int]] = []
    for number in range(random.randint(2, 4)):
        first = number % len(pools)
        both = chance(random, 60)
        draws.append(dict.fromkeys([pools[first], pools[(first + 1) % len(pools)]][: 1 + both], 0))
    for pool in pools:
        drawing = [draw for draw in draws if pool in draw]
        for draw in drawing:
            draw[pool] = max(1, capacity[pool] // len(drawing))
        while sum(draw[pool] for draw in drawing) > capacity[pool]:
            max(drawing, key=lambda draw: draw[pool])[pool] -= 1
    for root, draw in zip("rstu", draws, strict=False):
        found += _tree(random, root, {pool: gpus for pool, gpus in draw.items() if gpus})
    return found


def _node(random: Random, number: int, pool: str, mixed: bool) -> NodeSpec:
    gpus = pick(random, 4, 4, 2, 6)
    tight = chance(random, 35)
    return NodeSpec(
        f"n{number}",
        pool,
        model=pick(random, "A", "B") if mixed else "A",
        gpus=gpus,
        cpu_milli=pick(random, 4_000, 8_000) if tight else 128_000,
        memory_mib=pick(random, 8_192, 1_048_576) if tight else 1_048_576,
        labels=(("rack", pick(random, "x", "y")),) if chance(random, 50) else (),
    )


def _tree(random: Random, root: str, draws: dict[str, int]) -> list[ev.Event]:
    total = sum(draws.values())
    cpu = 4_000 if len(draws) == 1 and chance(random, 15) else None
    drawn = tuple((pool, Bounds(gpus * WHOLE_GPU, cpu)) for pool, gpus in draws.items())
    spec = quota_spec(random, root, None, Bounds(total * WHOLE_GPU, cpu))
    found: list[ev.Event] = [ev.QuotaCreated(_with_draws(spec, drawn))]
    for child, gpus in enumerate(_shares(random, total, pick(random, 0, 1, 2, 2, 3))):
        name = f"{root}.{child}"
        found.append(ev.QuotaCreated(quota_spec(random, name, root, _bounds(random, gpus))))
        if gpus > 1 and chance(random, 30):
            for grandchild, less in enumerate(_shares(random, gpus, random.randint(1, 2))):
                spec = quota_spec(random, f"{name}.{grandchild}", name, _bounds(random, less))
                found.append(ev.QuotaCreated(spec))
    return found


def _shares(random: Random, total: int, count: int) -> list[int]:
    found = []
    left = total
    for _ in range(count):
        share = random.randint(min(1, left), min(left, max(1, total * 2 // 3))) if chance(random, 95) else 0
        found.append(share)
        left -= share
    return found


def _bounds(random: Random, gpus: int) -> Bounds:
    cpu = pick(random, None, None, None, None, 4_000, 9_000)
    return Bounds(None if chance(random, 6) else gpus * WHOLE_GPU, cpu)


def _with_draws(spec: QuotaSpec, draws: tuple[tuple[str, Bounds], ...]) -> QuotaSpec:
    values = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    return QuotaSpec(**{**values, "draws": draws, "min": Bounds()})


def quota_spec(random: Random, name: str, parent: str | None, bounds: Bounds) -> QuotaSpec:
    reserved = Resources()
    if bounds.gpu_milli and parent is not None and chance(random, 20):
        reserved = Resources(random.randint(1, bounds.gpu_milli // WHOLE_GPU) * WHOLE_GPU)
    return QuotaSpec(
        QuotaId(name),
        QuotaId(parent) if parent is not None else None,
        bounds,
        reserved=reserved,
        strategy=pick(random, *Strategy),
        self_level=_self_levels(random),
        child_level=_child_level(random) if chance(random, 50) else None,
        lending=not chance(random, 15),
        idle_limit_milli=pick(random, 0, 1000, 3000) if chance(random, 10) else None,
        min_runtime_ms=pick(random, 0, MINUTE_MS, 10 * MINUTE_MS) if chance(random, 12) else None,
        preemption_delay_ms=pick(random, 0, 30 * SECOND_MS, 5 * MINUTE_MS) if chance(random, 10) else None,
        weight=_weight(random) if chance(random, 20) else None,
        fair_idle=chance(random, 30),
    )


def _weight(random: Random) -> Bounds:
    """A weight in GPUs, in CPUs or both; 0 at times, which sorts last (S6)."""
    gpus = pick(random, None, 0, 1000, 3000, 8000)
    return Bounds(gpus, pick(random, None, 4_000) if gpus is not None else 4_000)


def _self_levels(random: Random) -> SelfLevels:
    """None, mostly one, at times several: of different classes, for all pairs, switched off."""
    if not chance(random, 80):
        return SelfLevels()
    first = _self_level(random)
    if chance(random, 70):
        return SelfLevels.of(first)
    if chance(random, 30):
        return SelfLevels.of(SelfLevel.over_any_lower(_modules(random), pick(random, *Scope)))
    second = _self_level(random)
    return SelfLevels.of(first, replace(second, off=chance(random, 30)))


def _self_level(random: Random) -> SelfLevel:
    if chance(random, 75):  # a wide one, so that there is something to take
        middle = random.randint(2, 6)
        scope = pick(random, Scope.LEVEL, *Scope)
        return SelfLevel(Priorities(middle, 9), Priorities(1, middle - 1), frozenset(Module), scope)
    high = random.randint(2, 9)
    low = random.randint(1, high - 1)
    return SelfLevel(
        Priorities(high, random.randint(high, 9)),
        Priorities(random.randint(1, low), low),
        _modules(random),
        pick(random, *Scope),
    )


def _child_level(random: Random) -> ChildLevel:
    if chance(random, 50):
        return ChildLevel(Priorities(1, 9), frozenset(Module))
    low = random.randint(1, 9)
    return ChildLevel(Priorities(low, random.randint(low, 9)), _modules(random), off=chance(random, 15))


def _modules(random: Random) -> frozenset[Module]:
    chosen = {module for module in Module if chance(random, 70)}
    return frozenset(chosen or {pick(random, *Module)})
