"""Walks on which every plan is made twice: by the state that lived through it all, and by one restored from a snapshot (A8).

`python -m tests.property.remembering 50000` makes so many pairs of plans and prints what was met on the way; a second number
is the first seed. The tests of `test_memory.py` take a few of the same walks.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from math import inf
from random import Random

from quotatree.core import decisions as say
from quotatree.core import events as ev
from quotatree.core.errors import Refused
from quotatree.core.explanation import explain, exposure, preview
from quotatree.core.model.job import Claim, Idle, JobId, Phase
from quotatree.core.model.node import NodeState
from quotatree.core.model.quota_arithmetic import has_loan
from quotatree.core.model.unit import UnitKind
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import State
from tests.property import happenings, worlds
from tests.property.frozen import Ask, Question, Suppose
from tests.property.walk import AT_ONCE, Walk, begin

STEPS = 12
"""Moments of one walk at which plans are made."""
WORLDS = (worlds.world, worlds.world, worlds.several_trees)


def walk_twice(seed: int, met: Counter[str]) -> None:
    """Take one walk; every plan must be the one of a restored state, and planning again must yield nothing (A8, P10).

    `met` counts what was there and what was decided. No plan is cut short: only then they must be equal.
    """
    random = Random(f"remembering {seed}")
    walk = begin(random, worlds.pick(random, *WORLDS))
    for number in range(STEPS):
        let_time_pass(random, walk)
        asked = questions(random, walk) if worlds.chance(random, 40) else []
        compare(walk, asked, met, f"seed {seed}, step {number}")


def compare(walk: Walk, asked: list[Question], met: Counter[str], where: str) -> None:
    """Plan the walk's state, and one restored before these questions were asked; then nothing more may be decided (P10)."""
    met.update(name for name, present in features(walk.state).items() if present)
    met["questions asked before a plan"] += len(asked)
    afresh = restore(snapshot(walk.state))
    for question in asked:
        ask(walk, question)
    plan_twice(walk, afresh, met, where)
    again = plan(restore(snapshot(walk.state)), walk.now_ms)
    assert not again.decisions, f"{where}: planning again decides {again.decisions}"


def plan_twice(walk: Walk, afresh: State, met: Counter[str], where: str) -> None:
    """Plan both states until no plan asks to be followed at once; every pair of plans must be the same."""
    for _ in range(AT_ONCE):
        lived, restored = plan(walk.state, walk.now_ms), plan(afresh, walk.now_ms)
        assert lived.decisions == restored.decisions, f"{where}: not the same decisions"
        assert snapshot(walk.state) == snapshot(afresh), f"{where}: not the same state"
        assert looks_by(lived) <= looks_by(restored), (
            f"{where}: looks again later than one that remembers nothing"
        )
        assert not lived.cut_short, f"{where}: cut short"
        met["plans compared"] += 1
        met.update(kind(decision) for decision in lived.decisions)
        if lived.next_wakeup_ms != walk.now_ms:
            return
        assert lived.decisions, f"{where}: a plan that decides nothing asks for the next at once"
        met["plans that ask for the next at once"] += 1
        afresh = restore(snapshot(walk.state))
    raise AssertionError(f"{where}: {AT_ONCE} plans follow each other at once")


def looks_by(made: say.Plan) -> float:
    """Return when a plan is made again though nothing happens. Who remembers a failure may look for its sake in vain."""
    return inf if made.next_wakeup_ms is None else made.next_wakeup_ms


def let_time_pass(random: Random, walk: Walk) -> None:
    walk.wait(worlds.pick(random, 0, 1_000, 20_000, 90_000, 700_000))
    for _ in range(random.randint(1, 4)):
        event = happenings.anything(random, walk.state, walk.now_ms)
        if event is not None:
            walk.happen(event)


def questions(random: Random, walk: Walk) -> list[Question]:
    """Return questions about some of the jobs, and mostly what would follow an event."""
    state = walk.state
    about: list[Question] = [Ask(job.id) for job in state.jobs.values() if worlds.chance(random, 30)]
    supposed: Callable[[Random, State, int], ev.Event | None]
    supposed = worlds.pick(random, happenings.submit, happenings.push, happenings.anything)
    event = supposed(random, state, walk.now_ms)
    return about if event is None else [*about, Suppose(event)]


def ask(walk: Walk, question: Question) -> None:
    """Explain, preview and look up exposures."""
    state, now_ms = walk.state, walk.now_ms
    if isinstance(question, Suppose):
        with suppress(Refused):  # it may be larger than its quota
            preview(state, [question.event], now_ms)
        return
    job = state.jobs.get(JobId(question.job))
    if job is None:
        return  # it was refused, though not on the walk that was frozen
    explain(state, job.id, now_ms)
    if job.phase is Phase.RUNNING:
        exposure(state, job.id, now_ms)


def features(state: State) -> dict[str, bool]:
    """Return what the state has that a plan looks at."""
    quotas, jobs = list(state.quotas.values()), list(state.jobs.values())
    specs = [quota.spec for quota in quotas]
    return {
        "with: several self-level policies": any(len(s.self_level) > 1 for s in specs),
        "with: any: lower": any(p.any_lower for s in specs for p in s.self_level),
        "with: child-level": any(s.child_level is not None for s in specs),
        "with: weights": any(s.weight is not None for s in specs),
        "with: fair borrowing": any(s.fair_idle for s in specs),
        "with: reserved parts": any(any(s.reserved) for s in specs),
        "with: loans": any(has_loan(quota) for quota in quotas),
        "with: surplus": any(tree.surplus_units for tree in state.trees),
        "with: idle: allow running idle": any(
            j.core is not None and j.claim is Claim.IDLE and j.spec.idle is Idle.ALLOW for j in jobs
        ),
        "with: idle: only running": any(j.core is not None and j.spec.idle is Idle.ONLY for j in jobs),
        "with: min_runtime": any(quota.min_runtime_ms for quota in quotas),
        "with: preemption_delay": any(quota.preemption_delay_ms for quota in quotas),
        "with: guards": any(tree.guard for tree in state.trees),
        "with: holds": any(job.hold for job in jobs),
        "with: amount limits": bool(state.limits),
        "with: several roots": len(state.trees) > 1,
        "with: several pools": len({node.spec.pool for node in state.nodes}) > 1,
        "with: draining nodes": any(node.state is NodeState.DRAINING for node in state.nodes),
        "with: lost or cordoned nodes": any(
            node.state in (NodeState.LOST, NodeState.CORDONED) for node in state.nodes
        ),
        "with: running jobs that miss replicas": any(j.running and j.missing_replicas for j in jobs),
    }


def kind(decision: say.Decision) -> str:
    if isinstance(decision, say.Evict) and decision.reason.code is Code.FairShare:
        return "decided: Evict (fair share)"
    if isinstance(decision, say.Evict) and decision.moved:
        return "decided: Evict (moved)"
    if isinstance(decision, say.Evict) and decision.kind is not UnitKind.CORE:
        return f"decided: Evict ({decision.kind.value})"
    return f"decided: {type(decision).__name__}"


def main(pairs: int, first_seed: int = 0) -> None:
    met: Counter[str] = Counter()
    seed = first_seed
    while met["plans compared"] < pairs:
        walk_twice(seed, met)
        seed += 1
        if (seed - first_seed) % 500 == 0:
            _say(f"{met['plans compared']} pairs of plans are equal")
    _say(f"{seed - first_seed} walks; every plan equals that of the restored state, and none follows it:")
    for name, count in sorted(met.items()):
        _say(f"{count:>8}  {name}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
