"""Pools and nodes: declare, join, cordon, drain, ready again (R2, R5)."""

from __future__ import annotations

from typing import Annotated

from starlette.responses import JSONResponse, Response

from quotatree.access.check import PLATFORM, check
from quotatree.access.roles import Action
from quotatree.api.caller import Caller, needs
from quotatree.api.etags import IfMatch, Key, changed, done, expected, tagged
from quotatree.api.models.answers import Done
from quotatree.api.models.devices import NodeDevices, node_devices_out
from quotatree.api.models.fields import Cursor, InPath, Limit, Names
from quotatree.api.models.nodes import NodeIn, NodeOut, Nodes, PoolIn, Pools, node_out
from quotatree.api.route import problems, router
from quotatree.control.commands import values as do
from quotatree.control.eyes import eyes
from quotatree.control.inventory import present
from quotatree.control.world import World
from quotatree.core import NodeSpec, NodeState
from quotatree.store.pages import make_cursor, open_cursor

routes = router("nodes")


@routes.get("/pools", response_model=Pools)
async def list_pools(caller: Annotated[Caller, needs(Action.SEE_POOLS)]) -> Response:
    """Pools with what they have in all; everybody who is signed in may know."""
    check(caller.directory, caller.user, Action.SEE_POOLS, PLATFORM)

    def query(world: World, now_ms: int) -> Pools:
        del now_ms
        of: dict[str, list[NodeSpec]] = {pool: [] for pool in sorted(world.state.pools)}
        for node in present(world.state.nodes):
            of[node.spec.pool].append(node.spec)
        return {
            "items": [
                {
                    "name": pool,
                    "mixed": world.state.pools[pool],
                    "version": world.version("pool", pool),
                    "nodes": len(nodes),
                    "gpus": sum(node.gpus for node in nodes),
                    "models": sorted({node.model for node in nodes}),
                }
                for pool, nodes in of.items()
            ]
        }

    return JSONResponse(await caller.ask(query))


@routes.post("/pools", status_code=201, response_model=Done, responses=problems(409, 413, 415))
async def declare_pool(
    body: PoolIn, caller: Annotated[Caller, needs(Action.MANAGE_NODES)], key: Key = None
) -> Response:
    """Declare a pool; `mixed` lets it have several GPU models."""
    answer = await caller.call(do.DeclarePool(actor=caller.user, key=key, pool=body.name, mixed=body.mixed))
    return done(answer, 201)


@routes.delete("/pools/{pool}", response_model=Done)
async def remove_pool(pool: InPath, caller: Annotated[Caller, needs(Action.MANAGE_NODES)]) -> Response:
    """Refused while it has nodes, or a root draws from it (R4)."""
    return await changed(caller, do.RemovePool(actor=caller.user, pool=pool), None)


@routes.get("/nodes", response_model=Nodes)
async def list_nodes(caller: Annotated[Caller, needs(Action.SEE_NODES)], pool: Names = None) -> Response:
    """All nodes, or those of some pools, with what is free on each."""
    check(caller.directory, caller.user, Action.SEE_NODES, PLATFORM)
    allowed = _allowed(caller)

    def query(world: World, now_ms: int) -> Nodes:
        del now_ms
        return {
            "items": [
                node_out(node, world.version("node", node.spec.name), allowed)
                for node in present(world.state.nodes)
                if pool is None or node.spec.pool in pool
            ]
        }

    return JSONResponse(await caller.ask(query))


@routes.get("/node-devices", response_model=NodeDevices)
async def list_node_devices(
    caller: Annotated[Caller, needs(Action.SEE_NODES)],
    pool: Names = None,
    node: Names = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Who is on each GPU of all nodes, or of some. Of others' work one learns where it is, its priority and its size."""
    check(caller.directory, caller.user, Action.SEE_NODES, PLATFORM)
    asked = ("node-devices", tuple(pool or ()), tuple(node or ()))
    after = "" if cursor is None else str(open_cursor(cursor, asked, [str])[0])

    def query(world: World, now_ms: int) -> NodeDevices:
        del now_ms
        reads = eyes(world, caller.user)
        wanted = sorted(
            found.spec.name
            for found in present(world.state.nodes)
            if found.spec.name > after
            and (pool is None or found.spec.pool in pool)
            and (node is None or found.spec.name in node)
        )
        shown = wanted[:limit]
        return {
            "items": [node_devices_out(world, reads, world.state.node_by_name[name]) for name in shown],
            "next": make_cursor(asked, [shown[-1]]) if len(wanted) > limit else None,
        }

    return JSONResponse(await caller.ask(query))


@routes.post("/nodes", status_code=201, response_model=Done, responses=problems(409, 413, 415))
async def join_node(
    body: NodeIn, caller: Annotated[Caller, needs(Action.MANAGE_NODES)], key: Key = None
) -> Response:
    """Let a node join its pool, ready."""
    answer = await caller.call(do.JoinNode(actor=caller.user, key=key, spec=body.spec()))
    return done(answer, 201, f"/api/v1/nodes/{answer.id}")


@routes.get("/nodes/{node}", response_model=NodeOut)
async def get_node(node: InPath, caller: Annotated[Caller, needs(Action.SEE_NODES)]) -> Response:
    """One node."""
    check(caller.directory, caller.user, Action.SEE_NODES, PLATFORM)

    def query(world: World, now_ms: int) -> NodeOut:
        del now_ms
        found = world.node(node)
        return node_out(found, world.version("node", node), _allowed(caller))

    found = await caller.ask(query)
    return tagged(found, found["version"])


@routes.delete("/nodes/{node}", response_model=Done, responses=problems(409, 412))
async def remove_node(
    node: InPath, caller: Annotated[Caller, needs(Action.MANAGE_NODES)], if_match: IfMatch = None
) -> Response:
    """Take a node out for good. Refused while work stands on it, or while roots draw what its pool would not have left (Q1)."""
    command = do.RemoveNode(actor=caller.user, node=node, if_match=expected(if_match))
    return await changed(caller, command, if_match)


def _allowed(caller: Caller) -> list[str]:
    """What the caller may do with a node: the rights on nodes hold for all alike."""
    on_nodes = (Action.SEE_NODES.value, Action.MANAGE_NODES.value)
    return [action for action in caller.allowed().on_platform() if action in on_nodes]


async def _set(caller: Caller, node: str, state: NodeState, if_match: str | None) -> Response:
    command = do.SetNodeState(actor=caller.user, node=node, state=state, if_match=expected(if_match))
    return await changed(caller, command, if_match)


@routes.post("/nodes/{node}/cordon", response_model=Done, responses=problems(409, 412))
async def cordon_node(
    node: InPath, caller: Annotated[Caller, needs(Action.MANAGE_NODES)], if_match: IfMatch = None
) -> Response:
    """Nothing new starts there; what runs goes on."""
    return await _set(caller, node, NodeState.CORDONED, if_match)


@routes.post("/nodes/{node}/uncordon", response_model=Done, responses=problems(409, 412))
async def uncordon_node(
    node: InPath, caller: Annotated[Caller, needs(Action.MANAGE_NODES)], if_match: IfMatch = None
) -> Response:
    """Ready again, also after a drain."""
    return await _set(caller, node, NodeState.READY, if_match)


@routes.post("/nodes/{node}/drain", response_model=Done, responses=problems(409, 412))
async def drain_node(
    node: InPath, caller: Annotated[Caller, needs(Action.MANAGE_NODES)], if_match: IfMatch = None
) -> Response:
    """What runs there is evicted, with notice and grace, and queued again."""
    return await _set(caller, node, NodeState.DRAINING, if_match)
