"""How is it all going? What the modules have, what the nodes are, what needs attention, as far as the reader sees it (Q7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from starlette.responses import JSONResponse, Response

from quotatree.access.check import PLATFORM, may, visible_quotas
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.models.summary import (
    AttentionOut,
    SummaryOut,
    about_job,
    about_node,
    about_quota,
    about_service,
    cluster_out,
    module_out,
)
from quotatree.api.route import router
from quotatree.api.routes.jobs import workspaces_of
from quotatree.control.eyes import eyes, parents
from quotatree.control.inventory import present
from quotatree.control.queries import Query
from quotatree.control.world import World
from quotatree.core import Module, module_totals, quota_report
from quotatree.engines.base import Engine
from quotatree.store import BEGAN_TO_WAIT, JobFilter, JobSort

routes = router("summary")
MOST: Final = 100
"""More things that need attention are only counted."""
UNREADY_MS: Final = 300_000
"""A replica of a service that is not ready for so long needs attention; a large model may take minutes to load."""
LONGEST: Final = 5
"""So many of the jobs that have waited longest are told."""
ORDER: Final = (
    "lost-node",
    "ill-device",
    "out-node",
    "unready-service",
    "shortfall",
    "squeezed",
    "shrinking",
)


@routes.get("/summary", response_model=SummaryOut)
async def get_summary(caller: Annotated[Caller, needs(Action.SEE_QUOTA)]) -> Response:
    """What the modules have and wait for, the nodes as a whole, and what needs attention."""
    sees_nodes = may(caller.directory, caller.user, Action.SEE_NODES, PLATFORM)
    found = await caller.ask(_seen(caller.user, sees_nodes, caller.services.engine))
    waiting = JobFilter(workspaces=workspaces_of(caller, None), phases=("Waiting",))
    longest = await caller.read(
        lambda store: store.jobs(waiting, None, LONGEST, JobSort(BEGAN_TO_WAIT, ascending=True))
    )
    found["attention"] += [about_job(row) for row in longest.items]
    return JSONResponse(found)


def _unready(world: World, actor: str, engine: Engine, now_ms: int) -> Iterator[AttentionOut]:
    """Services that the actor sees with a replica that has not been healthy for UNREADY_MS."""
    if not engine.capabilities.endpoints:
        return
    reads = eyes(world, actor)
    for job in world.state.jobs.values():
        if job.spec.module is Module.EAS and job.core is not None and reads.sees(job.id):
            at = engine.endpoint(job.id, job.run)
            for one in () if at is None else at.unready:
                if now_ms - one.since_ms >= UNREADY_MS:
                    yield about_service(job, world.cards[job.id].name, one, now_ms)


def _seen(actor: str, sees_nodes: bool, engine: Engine) -> Query[SummaryOut]:
    def query(world: World, now_ms: int) -> SummaryOut:
        state = world.state
        nodes = present(state.nodes)
        seen = visible_quotas(world.directory, actor, parents(world))
        attention: list[AttentionOut] = []
        for name in seen:
            quota = state.quotas[name]  # type: ignore[index]  # a name of the tree is a quota's id
            attention += about_quota(quota_report(state, quota.id), quota.shrinking)
        if sees_nodes:
            attention += [one for node in nodes for one in about_node(node)]
        attention += _unready(world, actor, engine, now_ms)
        attention.sort(key=_urgency)
        return {
            "at_ms": now_ms,
            "modules": [module_out(*one) for one in module_totals(state, seen).items()],
            "cluster": cluster_out(nodes) if sees_nodes else None,
            "attention": attention[:MOST],
            "more": max(0, len(attention) - MOST),
        }

    return query


def _urgency(one: AttentionOut) -> tuple[int, float, str]:
    return ORDER.index(one["kind"]), -(one["gpus"] or 0), one["text"]
