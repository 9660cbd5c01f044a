"""What Prometheus is told: counts for anybody, and what has names in it for those who may know them (ADR 0043)."""

from __future__ import annotations

import asyncio
from typing import Final, TypeVar

import anyio.to_thread
from fastapi import Request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from starlette.responses import Response

from quotatree.access.check import PLATFORM, check
from quotatree.access.roles import Action
from quotatree.api.caller import authenticate
from quotatree.api.route import problems, router
from quotatree.api.services import Services
from quotatree.control import live_metrics as live
from quotatree.control.errors import Unavailable
from quotatree.control.figure_history import in_parts, samples_of
from quotatree.control.queries import Query
from quotatree.engines.base import DeviceUse
from quotatree.store.samples import Sample

T = TypeVar("T")
routes = router("health", public=True)
PATIENCE_SECONDS: Final = 5.0
"""How long a scrape waits for the loop; then it is told what there is without it."""


@routes.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **problems(401, 403, 503)},
)
async def metrics(request: Request) -> Response:
    """For Prometheus. What names quotas, nodes and jobs needs a token with the right see-metrics, or `metrics.names`."""
    services: Services = request.app.state.services
    named = services.metrics_names
    if "authorization" in request.headers:
        caller = authenticate(request)
        check(caller.directory, caller.user, Action.SEE_METRICS, PLATFORM)
        named = True
    registry = CollectorRegistry()
    registry.register(live.Told(await _families(services, named)))
    counted = await anyio.to_thread.run_sync(generate_latest, services.controller.metrics.registry)
    return Response(counted + generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


async def _families(services: Services, named: bool) -> list[GaugeMetricFamily]:
    health = services.controller.health
    found = list(live.of_server(health.mode, health.waiting))
    if not named or services.controller.lease is None:
        return found  # whoever may not know names does not make the loop look; a server that leads tells the rest
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            nodes = await _ask(services, live.nodes_now)
            found += live.of_nodes(nodes)
            found += await _of_quotas(services)
            found += live.of_devices(await _device_uses(services), nodes)
    except (Unavailable, TimeoutError):
        pass
    return found


async def _of_quotas(services: Services) -> list[GaugeMetricFamily]:
    jobs, counts = await _ask(services, live.jobs_now)
    samples: dict[str, Sample] = {}
    for part in in_parts(counts):
        samples |= await _ask(services, samples_of(part))
    return [*live.of_quotas(samples), *live.of_jobs(jobs)]


async def _ask(services: Services, query: Query[T]) -> T:
    return await asyncio.wrap_future(services.controller.ask(query))


async def _device_uses(services: Services) -> list[DeviceUse]:
    """What devices do, where the engine knows; in a thread, since a driver may be slow."""
    asked = getattr(services.engine, "device_uses", list)
    uses: list[DeviceUse] = await anyio.to_thread.run_sync(
        asked, limiter=services.lookers, abandon_on_cancel=True
    )
    return uses
