"""What if? Replay a stretch of the stored history with other policies or another tree, on the server, and compare."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import JSONResponse, Response

from quotatree.access.check import PLATFORM, roles_on
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action, Role
from quotatree.api.caller import Caller, needs
from quotatree.api.models.answers import Done
from quotatree.api.models.simulations import (
    SimulationIn,
    SimulationMade,
    SimulationOut,
    Simulations,
    simulation_out,
)
from quotatree.api.route import problems, router
from quotatree.api.routes.previews import commands_of
from quotatree.api.simulation_history import RULES, trace_of
from quotatree.api.simulations import LONGEST_SECONDS, Run
from quotatree.control.what_if import Cluster, clusters_after
from quotatree.control.world import World
from quotatree.sim.setup import Setup
from quotatree.sim.worker import Work

routes = router("simulations")
RunInPath = Annotated[str, Path(pattern="^[0-9a-z]{12}$")]


@routes.post(
    "/simulations", status_code=201, response_model=SimulationMade, responses=problems(409, 413, 415, 429)
)
async def start_simulation(body: SimulationIn, caller: Annotated[Caller, needs(Action.SIMULATE)]) -> Response:
    """Queue a what-if run. The right simulate is needed on the root, and for every change the right to make it.

    Nothing is changed. One run plays at a time, for ten minutes at most; the newest fifty are kept while the server runs.
    """
    services = caller.services

    def query(world: World, now_ms: int) -> list[Cluster]:
        variants = [commands_of(world, caller.user, one.changes) for one in body.variants]
        return clusters_after(services.engine, caller.user, body.quota, variants)(world, now_ms)

    clusters = await caller.ask(query)
    quotas = sorted({quota.id for cluster in clusters for quota in cluster.quotas})
    now_ms = services.clock()
    trace = await caller.read(lambda store: trace_of(store, quotas, body.from_ms, body.before_ms, now_ms))
    setups = tuple(
        _setup(variant.name, cluster) for variant, cluster in zip(body.variants, clusters, strict=True)
    )
    run = Run(
        user=caller.user,
        quota=body.quota,
        title=body.title,
        variants=tuple(variant.name for variant in body.variants),
        from_ms=body.from_ms,
        before_ms=body.before_ms,
        work=Work(setups, trace, LONGEST_SECONDS),
        created_ms=now_ms,
        jobs=len(trace.jobs),
        skipped=trace.skipped,
    )
    services.simulations.add(run)
    made: SimulationMade = {"id": run.id}
    return JSONResponse(made, 201, {"Location": f"/api/v1/simulations/{run.id}"})


def _setup(name: str, cluster: Cluster) -> Setup:
    return Setup(
        name=name,
        nodes=cluster.nodes,
        quotas=cluster.quotas,
        pools=cluster.pools,
        settings=cluster.settings,
        rules=RULES,
        private_clusters=False,
    )


@routes.get("/simulations", response_model=Simulations)
async def list_simulations(caller: Annotated[Caller, needs(Action.SEE_QUOTA)]) -> Response:
    """One's own what-if runs, for a platform admin all, newest first and without their results."""
    found: Simulations = {
        "items": [
            simulation_out(run, results=False)
            for run in caller.services.simulations.all()
            if _sees(caller, run)
        ]
    }
    return JSONResponse(found)


@routes.get("/simulations/{simulation}", response_model=SimulationOut)
async def get_simulation(
    simulation: RunInPath, caller: Annotated[Caller, needs(Action.SEE_QUOTA)]
) -> Response:
    """One what-if run: how far it is, and what came of each variant."""
    return JSONResponse(simulation_out(_seen(caller, simulation), results=True))


@routes.delete("/simulations/{simulation}", response_model=Done)
async def delete_simulation(
    simulation: RunInPath, caller: Annotated[Caller, needs(Action.SIMULATE)]
) -> Response:
    """Forget it; if it waits or plays, it is cancelled."""
    caller.services.simulations.remove(_seen(caller, simulation).id)
    done: Done = {"id": simulation, "version": None}
    return JSONResponse(done)


def _seen(caller: Caller, simulation: str) -> Run:
    run = caller.services.simulations.run(simulation)
    if not _sees(caller, run):
        raise NotFound("simulation", simulation)
    return run


def _sees(caller: Caller, run: Run) -> bool:
    admin = Role.PLATFORM_ADMIN in roles_on(caller.directory, caller.user, PLATFORM)
    return admin or run.user == caller.user
