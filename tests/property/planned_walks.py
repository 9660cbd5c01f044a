"""Random walks through everything that a plan looks at, and what was decided in them, as text that two packages can be compared by.

Run as a program by `same_plans.py`, once for each of the two; nothing here may import what only one of them has.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, Final

from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.errors import Refused
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.resources import WHOLE_GPU, Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.state import State
from tests.property import every_set, full_clusters, happenings, test_every_set, test_fair_idle, worlds
from tests.property.worlds import chance, pick

BUDGETS: Final = ("PLAN_AT_MOST", "CHARGED_AT_MOST", "LOOKS_AT_MOST", "EFFORT", "IN_TURN")
"""What bounded the effort of a plan in any version: no walk is cut short."""
AT_ONCE: Final = 20
STEPS: Final = 12
DEEPEST: Final = 8

Told = list[str]
"""What was decided after each event and in each plan of a walk, in order."""


class Story:
    """A state, its clock, and what was told so far."""

    def __init__(self, state: State, now_ms: int, without: frozenset[str]) -> None:
        self.state, self.now_ms, self.told, self._without = state, now_ms, Told(), without
        self.counts: Counter[str] = Counter()

    def happen(self, event: ev.Event | None) -> None:
        if event is None:
            return
        try:
            found = apply(self.state, event, self.now_ms)
        except Refused as refused:
            self.told.append(f"refused {type(refused).__name__}")
        else:
            self.told += [f"event {self._text(found)}"] if found else []

    def plan_out(self) -> None:
        for _ in range(AT_ONCE):
            made = plan(self.state, self.now_ms)
            self.counts["plans"] += 1
            self.counts.update(type(decision).__name__ for decision in made.decisions)
            self.told.append(f"plan {self._text(made.decisions)} again at {made.next_wakeup_ms}")
            if made.next_wakeup_ms != self.now_ms:
                return

    def _text(self, value: Any) -> str:
        """Return a value as text: of records the fields that are to be compared, by name; of reasons the code and not its words."""
        if isinstance(value, Enum):
            return value.name
        kind = type(value).__name__
        names = getattr(value, "_fields", None)
        if names is None and is_dataclass(value):
            names = [field.name for field in fields(value)]
        if names is not None:
            parts = (
                f"{n}={self._text(getattr(value, n))}" for n in names if f"{kind}.{n}" not in self._without
            )
            return f"{kind}({', '.join(parts)})"
        if isinstance(value, tuple | list):
            return f"({', '.join(map(self._text, value))})"
        return repr(value)


def walked(
    random: Random,
    story: Story,
    world: Callable[[Random], list[ev.Event]],
    happening: happenings.Happening,
    most: int = 4,
) -> None:
    """Let a cluster live for some time: events happen, mostly several at a moment, and plans are made."""
    for made in world(random):
        story.happen(made)
    for _ in range(random.randint(2, 14)):
        arrives = pick(random, happenings.submit, happenings.submit_low, happenings.submit_low)
        story.happen(arrives(random, story.state, story.now_ms))
    story.plan_out()
    patient = chance(random, 15)  # nobody leaves, so holds expire (P9)
    for _ in range(STEPS):
        story.now_ms += pick(random, 0, 1_000, 1_000, 20_000, 90_000, 700_000)
        for _ in range(random.randint(1, most)):
            event = happening(random, story.state, story.now_ms)
            if not (patient and isinstance(event, ev.JobLeft)):
                story.happen(event)
        story.plan_out()


def large(random: Random) -> list[ev.Event]:
    """Return the events that make several deep trees on two pools that they share."""
    found: list[ev.Event] = []
    capacity = {"a": 0, "b": 0}
    for number in range(random.randint(5, 10)):
        pool, gpus = pick(random, *capacity), pick(random, 4, 8)
        capacity[pool] += gpus
        labels = (("rack", pick(random, "x", "y")),)
        found.append(ev.NodeJoined(NodeSpec(f"n{number}", pool, model="A", gpus=gpus, labels=labels)))
    roots = "rst"[: random.randint(1, 3)]
    for root in roots:
        draws = {pool: gpus // len(roots) for pool, gpus in capacity.items() if gpus >= len(roots)}
        drawn = tuple((pool, Bounds(gpus * WHOLE_GPU)) for pool, gpus in draws.items())
        bounds = Bounds(sum(draws.values()) * WHOLE_GPU)
        spec = replace(worlds.quota_spec(random, root, None, bounds), draws=drawn, min=Bounds())
        found.append(ev.QuotaCreated(spec))
        found += _below(random, root, sum(draws.values()), random.randint(2, DEEPEST) - 1)
    return found


def _below(random: Random, parent: str, gpus: int, levels: int) -> Iterator[ev.Event]:
    """Yield the quotas below one, so many levels deep; what a level leaves is its parent's."""
    left = gpus
    for number in range(pick(random, 1, 2, 2, 3) if levels else 0):
        size = left if chance(random, 20) else random.randint(0, left)
        left -= size
        name = f"{parent}.{number}"
        yield ev.QuotaCreated(worlds.quota_spec(random, name, parent, Bounds(size * WHOLE_GPU)))
        if not number or chance(random, 25):
            yield from _below(random, name, size, levels - 1)


def anything_large(random: Random, state: State, now_ms: int) -> ev.Event | None:
    """As `happenings.anything_at_all`, with larger gangs, more scaling, and nodes that are lost and come back."""
    if chance(random, 12):
        return pick(random, happenings.scale, happenings.scale, happenings.transfer)(random, state, now_ms)
    if chance(random, 6):
        name = pick(random, *state.nodes).spec.name
        return ev.NodeChanged(name, pick(random, NodeState.LOST, NodeState.READY, NodeState.READY))
    arrival = happenings.push if chance(random, 30) else happenings.anything_at_all
    event = arrival(random, state, now_ms)
    if isinstance(event, ev.JobSubmitted) and len(event.job.groups) == 1 and chance(random, 40):
        (group,) = event.job.groups
        more = group.replicas + random.randint(1, 4)
        least, most = event.job.min_replicas, event.job.max_replicas
        spec = replace(event.job, groups=(ReplicaGroup(more, group.shape),), max_replicas=most and most + 4)
        return ev.JobSubmitted(replace(spec, min_replicas=least))
    return event


def borrowers(random: Random, story: Story) -> None:
    for event in test_fair_idle.shared_world(random):
        story.happen(event)
    for number in range(test_fair_idle.CROWD + random.randint(4, 10)):
        story.happen(ev.JobSubmitted(test_fair_idle.borrower(random, story.state, story.now_ms, number)))
        if chance(random, 60):
            story.plan_out()
            story.now_ms += 1_000
            for job_id in list(story.state.leaving_jobs):
                story.happen(ev.JobLeft(job_id))
    story.plan_out()


def set_of_victims(random: Random, story: Story) -> None:
    """One job that must take others, of one replica, a gang, or of several shapes."""
    asked = pick(random, test_every_set.one, test_every_set.gang, test_every_set.shapes)(random)
    state = every_set.crowded(random, *asked)
    if state is not None:
        story.state, story.now_ms = state, every_set.NOW_MS
        story.plan_out()


def full_cluster(random: Random, story: Story) -> None:
    """A cluster that is full of one team's work, and a job or a gang that must take some of it."""
    story.state, story.now_ms = full_clusters.full_cluster(random), full_clusters.NOW_MS
    shape = Shape(pick(random, 1000, 1000, 2000, 3000, 4000, 500, 250, 700), pick(random, 0, 0, 2000), 0)
    for number in range(random.randint(1, 3)):
        group = ReplicaGroup(random.randint(1, 4), shape)
        spec = JobSpec(JobId(f"taker{number}"), "team", (group,), story.now_ms, priority=random.randint(7, 9))
        story.happen(ev.JobSubmitted(spec))
    story.plan_out()


KINDS: Final[dict[str, Callable[[Random, Story], None]]] = {
    "plain": lambda random, story: walked(random, story, worlds.world, happenings.anything),
    "trees": lambda random, story: walked(random, story, worlds.several_trees, happenings.anything),
    "server": lambda random, story: walked(random, story, worlds.world, happenings.anything_at_all),
    "large": lambda random, story: walked(random, story, large, anything_large, most=8),
    "fair": borrowers,
    "sets": set_of_victims,
    "full": full_cluster,
}


def take(kind: str, number: int, without: frozenset[str]) -> Story:
    """Return one walk, to its end or to what it raises."""
    random = Random(f"{kind} {number}")
    story = Story(State(worlds.settings(random)), 100_000_000, without)
    try:
        KINDS[kind](random, story)
    except Exception as problem:  # compared like all else
        story.told.append(f"raised {type(problem).__name__}: {problem}")
        story.counts["raised"] += 1
    return story


def lift_budgets() -> None:
    for module in [found for name, found in sys.modules.items() if name.startswith("quotatree.core")]:
        for name in BUDGETS:
            if hasattr(module, name):
                setattr(module, name, 1 << 60)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the folder that the package must come from")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument(
        "--without", default="", help="fields that are not compared: VictimCost.rule,Stop.cost"
    )
    parser.add_argument("--told", action="store_true", help="print what was decided, not digests of it")
    args = parser.parse_args()
    imported = Path(sys.modules["quotatree"].__file__ or "").resolve()
    if not imported.is_relative_to(args.source.resolve()):
        parser.error(f"quotatree was imported from {imported}; set PYTHONPATH to {args.source}")
    lift_budgets()
    for number in range(args.first, args.first + args.count):
        story = take(args.kind, number, frozenset(args.without.split(",")))
        told = (
            story.told
            if args.told
            else [blake2b(one.encode(), digest_size=8).hexdigest() for one in story.told]
        )
        counts = ",".join(f"{name}:{count}" for name, count in sorted(story.counts.items()))
        line = (
            "\n".join([f"{number} {counts}", *told]) if args.told else " ".join([str(number), counts, *told])
        )
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
