"""What does each job of the trace ask of the tree? Its team becomes a quota, and the rules have their say.

Everything is a function of the setup and of the one job, so that jobs can be read one at a time and in any order, and
so that a job gets the same priority in every run that is compared.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Final, NamedTuple

from quotatree.core import Bounds, Idle, JobId, JobSpec, Module, ReplicaGroup, Shape
from quotatree.sim.setup import Ignore, Rule, Setup
from quotatree.sim.trace import TraceJob
from quotatree.sim.work import Rhythm, restart_ms

_SETTABLE: Final = ("module", "idle", "quota", "checkpoint_ms", "grace_ms", "max_preemptions", "requeue")


class Submission(NamedTuple):
    """A job as it is submitted, and how it spends the time of its runs."""

    spec: JobSpec
    work_ms: int
    rhythm: Rhythm
    gpu_milli: int  # of all replicas
    until_ms: int | None = None  # when its owner ends it, done or not


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The reason why a job of the trace is not submitted."""

    why: str


@dataclass(slots=True)
class _Chosen:
    """The values of one job that the defaults and the rules seen so far have set."""

    priority: int
    module: Module
    idle: Idle
    quota: str | None
    checkpoint_ms: int | None
    grace_ms: int
    max_preemptions: int | None
    requeue: bool


class _Prepared:
    """A rule with its weights summed up and the fields it sets, computed once for all jobs."""

    __slots__ = ("bounds", "number", "rule", "sets")

    def __init__(self, number: int, rule: Rule) -> None:
        self.number, self.rule = number, rule
        self.bounds = list(accumulate(weight for _, weight in rule.priority))
        values = [(name, getattr(rule, name)) for name in _SETTABLE]
        self.sets = [(name, value) for name, value in values if value is not None]


class Workload:
    """Turns jobs of a trace into submissions."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._quota_of: dict[str, str | None] = {}
        self._groups: dict[tuple[object, ...], tuple[ReplicaGroup, ...]] = {}
        self._rhythms: dict[tuple[int | None, int, Module], Rhythm] = {}
        self._modules = {module.value: module for module in Module}
        self._rooms = _rooms(setup)
        self._rules = [_Prepared(number, rule) for number, rule in enumerate(setup.rules)]

    def submission(self, job: TraceJob) -> Submission | LeftOut:
        setup = self._setup
        chosen = self._chosen(job)
        if chosen.quota is None:
            return LeftOut(f"team {job.team!r} has no quota")
        room, gpu_milli = self._rooms[chosen.quota], job.total_gpu_milli
        if setup.jobs.skip_larger and room is not None and gpu_milli > room:
            return LeftOut(f"larger than quota {chosen.quota}")
        interval_ms = setup.checkpoints.interval_of(chosen.checkpoint_ms)
        spec = JobSpec(
            JobId(job.id),
            chosen.quota,
            self._groups_of(job),
            job.submit_ms,
            module=chosen.module,
            priority=chosen.priority,
            idle=chosen.idle,
            grace_ms=chosen.grace_ms,
            checkpoint_interval_ms=interval_ms,
            max_preemptions=chosen.max_preemptions,
            requeue=chosen.requeue,
            subjects=(f"user:{job.user}",) if setup.limits and job.user else (),
        )
        rhythm = self._rhythm(interval_ms, restart_ms(gpu_milli), chosen.module)
        until_ms = None if job.wanted_ms is None else job.submit_ms + job.wanted_ms
        return Submission(spec, job.duration_ms, rhythm, gpu_milli, until_ms)

    def _rhythm(self, interval_ms: int | None, restarts_ms: int, module: Module) -> Rhythm:
        """The Rhythm of these values, shared by all jobs that have the same."""
        found = self._rhythms.get((interval_ms, restarts_ms, module))
        if found is None:
            found = Rhythm(interval_ms, self._setup.checkpoints.pause_ms, restarts_ms, module)
            self._rhythms[interval_ms, restarts_ms, module] = found
        return found

    def _chosen(self, job: TraceJob) -> _Chosen:
        defaults = self._setup.jobs
        team = job.team
        if team not in self._quota_of:
            self._quota_of[team] = self._setup.quota_of(team)
        chosen = _Chosen(
            priority=job.priority,
            module=self._modules[job.module],
            idle=defaults.idle,
            quota=self._quota_of[team],
            checkpoint_ms=job.checkpoint_interval_ms,
            grace_ms=defaults.grace_ms,
            max_preemptions=None,
            requeue=defaults.requeue_notebooks,
        )
        for prepared in self._rules:
            rule = prepared.rule
            if not _matches(rule, job):
                continue
            if rule.share < 1 and self._draw(job, prepared.number, "share") >= rule.share:
                continue
            if prepared.bounds:
                drawn = 0.0
                if len(prepared.bounds) > 1:
                    drawn = self._draw(job, prepared.number, "priority") * prepared.bounds[-1]
                chosen.priority = rule.priority[bisect(prepared.bounds, drawn)][0]
            for name, value in prepared.sets:
                setattr(chosen, name, value)
        return chosen

    def _draw(self, job: TraceJob, number: int, what: str) -> float:
        """A number in [0, 1) that depends only on the seed, the rule, `what` is drawn, and the job."""
        text = f"{self._setup.seed}/{number}/{what}/{job.id}"
        return int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "big") / (1 << 48)

    def _groups_of(self, job: TraceJob) -> tuple[ReplicaGroup, ...]:
        """The replica groups of a job, shared by all jobs that ask for the same."""
        key = (job.replicas, job.gpu_milli, job.cpu_milli, job.memory_mib, job.models)
        found = self._groups.get(key)
        if found is None:
            ignore = self._setup.jobs.ignore
            shape = Shape(
                job.gpu_milli,
                0 if Ignore.CPU in ignore and job.gpu_milli else job.cpu_milli,
                0 if Ignore.MEMORY in ignore and job.gpu_milli else job.memory_mib,
                () if Ignore.MODELS in ignore else job.models,
            )
            found = self._groups[key] = (ReplicaGroup(job.replicas, shape),)
        return found


def _rooms(setup: Setup) -> dict[str, int | None]:
    """For each quota the milli-GPU it may use: the smallest bound on its path; None if there is none."""
    specs = {str(spec.id): spec for spec in setup.quotas}
    rooms: dict[str, int | None] = {}
    for name in specs:
        bounds = []
        above: str | None = name
        while above is not None:
            spec = specs[above]
            drawn = [gpus for _, (gpus, _, _) in spec.draws if gpus is not None]
            own = spec.min.gpu_milli if spec.min != Bounds() else sum(drawn) if drawn else None
            if own is not None:
                bounds.append(own)
            above = spec.parent
        rooms[name] = min(bounds, default=None)
    return rooms


def _matches(rule: Rule, job: TraceJob) -> bool:
    if rule.teams and job.team not in rule.teams:
        return False
    if rule.users and job.user not in rule.users:
        return False
    if rule.modules and job.module not in [module.value for module in rule.modules]:
        return False
    if rule.priorities is not None and not rule.priorities.low <= job.priority <= rule.priorities.high:
        return False
    if rule.gpu_milli is not None and not rule.gpu_milli[0] <= job.total_gpu_milli <= rule.gpu_milli[1]:
        return False
    return rule.guaranteed is None or rule.guaranteed is job.guaranteed
