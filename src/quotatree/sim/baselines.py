"""Compared with what? The product, and models of what others do, each with a name and what it stands for.

Where the core can be configured to behave like that, it is; where it cannot, a small model stands in its place
(quotatree.sim.models). All are models, and labelled so: they show what a rule does, not how a product performs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from quotatree.core import LOWEST_PRIORITY, Idle, JobSpec, QuotaSpec, SelfLevels, Strategy
from quotatree.sim.brain import Brain, CoreBrain
from quotatree.sim.models import (
    ModelBrain,
    ModelRule,
    above_own,
    informed_victims,
    node_local_victims,
    peers_victims,
    root_only,
)
from quotatree.sim.setup import PRODUCT, Setup, SetupError

Resubmit = Callable[[JobSpec], JobSpec]
"""Turns the spec of a job as the setup has it into the spec that is submitted under a baseline."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A scheduler to compare with: `label` names it in tables, `says` describes it in a sentence.

    `adapted` returns the setup with the tree this baseline has; `resubmit`, given the original setup, returns how jobs
    are submitted; `brain`, given the adapted setup, makes the scheduler.
    """

    name: str
    label: str
    says: str
    adapted: Callable[[Setup], Setup]
    resubmit: Callable[[Setup], Resubmit]
    brain: Callable[[Setup], Brain]


def baseline_named(name: str) -> Baseline:
    found = BASELINES.get(name)
    if found is None:
        raise SetupError("baseline", name, f"is not known; known are {', '.join(BASELINES)}")
    return found


def _as_it_is(setup: Setup) -> Setup:
    return setup


def _unchanged(setup: Setup) -> Resubmit:
    del setup
    return lambda spec: spec


def _core(setup: Setup) -> Brain:
    return CoreBrain(setup.settings)


def _without_policies(setup: Setup) -> Setup:
    quotas = [
        replace(quota, self_level=SelfLevels(), child_level=None, lending=False) for quota in setup.quotas
    ]
    return replace(setup, quotas=tuple(quotas))


def _priorities_of_the_file(setup: Setup) -> Setup:
    """Keep the self-level policies, which say which priorities may preempt which; drop child-level ones and lending."""
    quotas = [replace(quota, child_level=None, lending=False) for quota in setup.quotas]
    return replace(setup, quotas=tuple(quotas))


def _never_idle(setup: Setup) -> Resubmit:
    del setup
    return lambda spec: spec if spec.idle is Idle.NEVER else replace(spec, idle=Idle.NEVER)


def _one_pool(setup: Setup) -> Setup:
    roots = [
        replace(quota, self_level=SelfLevels(), child_level=None, strategy=Strategy.FIFO)
        for quota in setup.quotas
        if quota.parent is None
    ]
    return replace(
        setup,
        quotas=tuple(roots),
        settings=replace(setup.settings, starvation_guard_ms=0),
        limits=(),
        teams=(),
        rules=(),
        default_quota=None,
        timeline=(),
    )


def _to_the_root(setup: Setup) -> Resubmit:
    """Send every job to the root of its tree at the lowest priority, all replicas at once and never idle."""
    specs: dict[str, QuotaSpec] = {quota.id: quota for quota in setup.quotas}
    roots: dict[str, str] = {}
    for name, spec in specs.items():
        while spec.parent is not None:
            spec = specs[spec.parent]
        roots[name] = spec.id

    def resubmit(spec: JobSpec) -> JobSpec:
        whole = _whole(spec)
        return replace(whole, quota=roots[spec.quota], priority=LOWEST_PRIORITY, idle=Idle.NEVER, subjects=())

    return resubmit


def _regular_and_whole(setup: Setup) -> Resubmit:
    del setup
    return lambda spec: replace(_whole(spec), idle=Idle.NEVER)


def _whole(spec: JobSpec) -> JobSpec:
    """Make an elastic job start with all the replicas it wants: the models know neither growth nor surplus."""
    if not spec.elastic:
        return spec
    return replace(spec, min_replicas=spec.wanted_replicas, max_replicas=None)


def _model(rule: ModelRule) -> Callable[[Setup], Brain]:
    return lambda setup: ModelBrain(rule, setup.settings)


BASELINES: Final = {
    known.name: known
    for known in (
        Baseline(
            PRODUCT,
            "QuotaTree",
            "the core, with the policies of the file",
            _as_it_is,
            _unchanged,
            _core,
        ),
        Baseline(
            "static",
            "static quotas (model)",
            "every quota its own, nothing is shared: no loans, no idle work, no policies; strategies as in the file",
            _without_policies,
            _never_idle,
            _core,
        ),
        Baseline(
            "pool-fifo",
            "one pool, FIFO (model)",
            "no quotas and no priorities: first come, first served, and nobody passes the head",
            _one_pool,
            _to_the_root,
            _core,
        ),
        Baseline(
            "borrow",
            "borrowing without reclaim (model)",
            "a quota may use what others leave unused, and is never made to give it back",
            _without_policies,
            _regular_and_whole,
            _model(ModelRule(above_own)),
        ),
        Baseline(
            "peers",
            "borrowing, peers' victims (model)",
            "borrowing and reclaim by the common rule: lowest priority, newest first, fill back; nodes and checkpoints do not count",
            _priorities_of_the_file,
            _regular_and_whole,
            _model(ModelRule(above_own, peers_victims)),
        ),
        Baseline(
            "informed",
            "borrowing, informed victims (model)",
            "as peers, but among equal priorities those go first that lose least: the common rule with our knowledge of checkpoints",
            _priorities_of_the_file,
            _regular_and_whole,
            _model(ModelRule(above_own, informed_victims)),
        ),
        Baseline(
            "kube",
            "priorities, node-local preemption (model)",
            "no quotas: higher priorities take nodes from lower ones pod by pod, as kube-scheduler chooses them",
            _priorities_of_the_file,
            _regular_and_whole,
            _model(ModelRule(root_only, node_local_victims)),
        ),
    )
}
