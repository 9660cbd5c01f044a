"""What is simulated? A cluster, a tree, rules for the jobs of a trace, a checkpoint model: one value, checked.

The file that says it is described in docs/reference/simulation.md and read by the command line, which knows how quotas
are written; here are the values it becomes. A Setup says nothing about the jobs themselves: those are the trace's.

    QuotaTreeError
    └── FieldError (mapping.py)
        └── SetupError   the parts do not go together: names the field, its value and what is allowed
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final

from quotatree.core import DEFAULT_GRACE_MS, Idle, Module, NodeSpec, Priorities, QuotaSpec, Settings
from quotatree.core.events import Event, LimitsSet, PoolDeclared
from quotatree.sim.loaders import load_trace
from quotatree.sim.mapping import FieldError, Mapping
from quotatree.sim.synthetic import SyntheticSpec, generate
from quotatree.sim.trace import Trace
from quotatree.sim.work import CheckpointModel

PRODUCT: Final = "quotatree"
"""Name of the product itself among the baselines: the core with the policies of the file."""


class SetupError(FieldError):
    """A simulation cannot be run as described."""


@dataclass(frozen=True, slots=True)
class TraceSource:
    """Where the jobs come from: a file or a generator. `first` and `until` select by submit date, `limit` by number."""

    path: Path | None = None
    format: str | None = None
    mapping: Mapping = Mapping()
    gpus_per_node: int = 8
    synthetic: SyntheticSpec | None = None
    first: datetime | None = None
    until: datetime | None = None
    limit: int | None = None

    def load(self) -> Trace:
        trace = self._whole()
        if self.first is not None or self.until is not None:
            if trace.origin is None:
                raise SetupError("trace.from", str(self.first or self.until), f"{trace.source} has no dates")
            end = datetime.max.replace(tzinfo=trace.origin.tzinfo)
            trace = trace.between(self.first or trace.origin, self.until or end)
        if self.limit is not None:
            trace = Trace(trace.jobs[: self.limit], trace.source, trace.skipped, trace.origin)
        if not trace.jobs:
            raise SetupError(
                "trace", trace.source, "has no jobs" + "".join(f"; {why}" for why in trace.skipped)
            )
        return trace

    def _whole(self) -> Trace:
        if self.synthetic is not None:
            return generate(self.synthetic)
        if self.path is None:
            raise SetupError("trace", None, "names neither a file nor a generator")
        return load_trace(self.path, self.format, self.mapping, self.gpus_per_node)


class Ignore(Enum):
    """Parts of the trace's requests to drop when the cluster is described without them."""

    CPU = "cpu"
    MEMORY = "memory"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class JobDefaults:
    """Values for every job that no rule overrides.

    `leave_after_ms`: how long an evicted job takes to leave, at most its grace; None: the whole grace.
    `skip_larger`: leave out jobs larger than their quota beforehand, so that all compared runs have the same jobs.
    """

    idle: Idle = Idle.NEVER
    grace_ms: int = DEFAULT_GRACE_MS
    leave_after_ms: int | None = None
    requeue_notebooks: bool = True
    ignore: frozenset[Ignore] = frozenset()
    skip_larger: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """Values for the jobs that match. Of several rules that match, the last one wins, field by field.

    A job matches if it meets every condition that is given (`teams` to `guaranteed`); an empty tuple or None is no
    condition and sets nothing. `share` is the part of the matching jobs the rule applies to, chosen by the seed.
    `priority` holds (priority, weight) pairs, one of which is drawn for each job.
    """

    teams: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    modules: tuple[Module, ...] = ()
    priorities: Priorities | None = None
    gpu_milli: tuple[int, int] | None = None
    guaranteed: bool | None = None
    share: float = 1.0
    priority: tuple[tuple[int, float], ...] = ()
    module: Module | None = None
    idle: Idle | None = None
    quota: str | None = None
    checkpoint_ms: int | None = None
    grace_ms: int | None = None
    max_preemptions: int | None = None
    requeue: bool | None = None


@dataclass(frozen=True, slots=True)
class TimedEvents:
    """What an operator does at one time of the replay: scalings, transfers, new policies, nodes."""

    time_ms: int
    events: tuple[Event, ...]
    label: str


@dataclass(frozen=True, slots=True)
class Setup:
    """A simulation without its trace. Times count from the start of the trace."""

    name: str
    nodes: tuple[NodeSpec, ...]
    quotas: tuple[QuotaSpec, ...]
    title: str = ""
    baseline: str = PRODUCT
    seed: int = 1
    pools: tuple[PoolDeclared, ...] = ()
    limits: tuple[LimitsSet, ...] = ()
    settings: Settings = Settings()
    teams: tuple[tuple[str, str], ...] = ()
    default_quota: str | None = None
    jobs: JobDefaults = JobDefaults()
    rules: tuple[Rule, ...] = ()
    checkpoints: CheckpointModel = CheckpointModel()
    timeline: tuple[TimedEvents, ...] = ()
    until_ms: int | None = None
    sample_ms: int | None = None
    high_priority: int = 7
    private_clusters: bool = True
    facts: tuple[tuple[str, str], ...] = field(default=())  # what a report shows of it beside the numbers

    def __post_init__(self) -> None:
        known = {str(quota.id) for quota in self.quotas}
        if not self.nodes:
            raise SetupError("cluster", "", "has no nodes")
        if not known:
            raise SetupError("quotas", "", "there are none: declare [[quotas]] or a [tree]")
        declared: set[str] = set()
        for spec in self.quotas:
            if spec.parent is not None and spec.parent not in declared:
                raise SetupError(
                    f"quotas.{spec.id}.parent", str(spec.parent), "is not a quota declared before it"
                )
            declared.add(spec.id)
        named = [
            *(quota for _, quota in self.teams),
            *(rule.quota for rule in self.rules),
            self.default_quota,
        ]
        for quota in named:
            if quota is not None and quota not in known:
                raise SetupError("teams", quota, f"is not a quota; there are {', '.join(sorted(known))}")
        if self.sample_ms is not None and self.sample_ms < 1:
            raise SetupError("sample", self.sample_ms, "must be longer than nothing")

    def quota_of(self, team: str) -> str | None:
        """The quota of a team: as the file says, else the one of the same name, else the default, which may be None."""
        for known, quota in self.teams:
            if known == team:
                return quota
        if any(quota.id == team for quota in self.quotas):
            return team
        return self.default_quota
