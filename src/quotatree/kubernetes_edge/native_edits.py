"""What if an object is edited after it was queued? While it waits, its job is planned anew and keeps its place in the queue.

A request that cannot be planned takes its job out of the queue until the object asks for something else: nothing is evicted for
it. What runs goes on as it was planned, and the edit counts from its next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from quotatree.control.commands import values as do
from quotatree.control.commands.sizes import altered_spec
from quotatree.control.errors import Unavailable
from quotatree.control.world import RESOURCES, World
from quotatree.core import Code, JobId, JobRequest, JobSpec, Phase, QuotaTreeError
from quotatree.engines.kubernetes.adopted_plan import REQUEST
from quotatree.engines.kubernetes.native import FIELD

LATER: Final = "edited while it runs: it goes on as it was planned, and the edit counts from its next run"


class WrongAsk(Exception):
    """Why an object is not queued as it stands, for its owner."""


class Loop(Protocol):
    """Commands and queries, each with its answer."""

    def do(self, command: do.Command) -> do.Answer: ...
    def ask(self, query: Callable[[World], Any]) -> Any: ...


class Planned(NamedTuple):
    """A job as it is planned. `aside`: it is out of the queue because of what it asked for. `failed`: it could not begin."""

    spec: JobSpec
    request: str
    phase: Phase
    runs: bool
    aside: bool
    failed: bool


def follow(loop: Loop, job: JobId, command: Callable[[], do.SubmitJob], held: bool) -> str:
    """Have the job ask for what its object asks for; return what to tell of it, "" for nothing.

    Raises WrongAsk or QuotaTreeError where that cannot be; the job then does not start before it can. `held`: its owner
    wants it on hold.
    """
    planned = loop.ask(_planned(job))
    if planned is None:
        return ""
    told = ""
    try:
        found = command()
        if not _alike(planned, found):
            if planned.runs:
                return LATER
            loop.do(do.AlterJob(actor=found.actor, job=job, asked=found.asked, program=found.program))
            told = f"planned anew: it asks for {_words(found.asked)}"
    except (QuotaTreeError, WrongAsk) as error:
        if not isinstance(error, Unavailable) and planned.phase in (Phase.WAITING, Phase.HELD):
            loop.do(do.HoldJob(actor=RESOURCES, job=job, wrong=str(error)))
        raise
    if (planned.aside or (planned.failed and told)) and not held:
        loop.do(do.ReleaseJob(actor=RESOURCES, job=job))
    return told


def put_aside(jobs: Iterable[tuple[str, JobId]]) -> Callable[[World], list[str]]:
    """Query for those objects, by uid, whose jobs are out of the queue because of what they asked for."""

    def query(world: World) -> list[str]:
        found = ((uid, world.state.jobs.get(job)) for uid, job in jobs)
        return [uid for uid, one in found if one is not None and one.reason == Code.NotAsPlanned.name]

    return query


def _planned(job: JobId) -> Callable[[World], Planned | None]:
    def query(world: World) -> Planned | None:
        found = world.state.jobs.get(job)
        if found is None:
            return None
        said: Any = world.cards[job].program.get(FIELD)
        request = said.get(REQUEST, "") if isinstance(said, Mapping) else ""
        why = found.reason if found.phase is Phase.STOPPED else ""
        return Planned(
            found.spec,
            request,
            found.phase,
            found.core is not None,
            aside=why == Code.NotAsPlanned.name,
            failed=why == Code.DidNotBegin.name,
        )

    return query


def _alike(planned: Planned, found: do.SubmitJob) -> bool:
    spec, now = planned.spec, altered_spec(planned.spec, found.asked)
    request = found.program[FIELD].get(REQUEST, "")
    return planned.request in ("", request) and _of(spec) == _of(now)


def _of(spec: JobSpec) -> tuple[Any, ...]:
    return (
        spec.groups, spec.core_replicas, spec.most_replicas, spec.grace_ms, spec.checkpoint_interval_ms, spec.max_preemptions,
    )  # fmt: skip


def _words(asked: JobRequest) -> str:
    groups = (
        f"{group.replicas} pod{'s' * (group.replicas != 1)} with {group.shape.gpu_milli / 1000:g} GPU"
        for group in asked.groups
    )
    return ", ".join(groups)
