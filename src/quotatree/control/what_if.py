"""Which cluster and tree would there be after some changes? For simulations, which run on a copy of it.

The very commands are carried out, with all their checks and rights, and taken back: never a second reading of a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from quotatree.access.check import OnQuota, check
from quotatree.access.errors import NotFound
from quotatree.access.roles import Action
from quotatree.control.commands.dispatch import HANDLERS
from quotatree.control.commands.values import Command
from quotatree.control.eyes import eyes
from quotatree.control.queries import Query
from quotatree.control.turn import Turn
from quotatree.control.world import World
from quotatree.core import Bounds, NodeSpec, NodeState, QuotaId, QuotaSpec, Refused, Settings
from quotatree.core.events import PoolDeclared
from quotatree.core.sentences import Sentence, a_quota
from quotatree.engines.base import Engine


class Cluster(NamedTuple):
    """One tree with the nodes it draws on, as declarations. `quotas`: parents before their children."""

    quotas: tuple[QuotaSpec, ...]
    nodes: tuple[NodeSpec, ...]
    pools: tuple[PoolDeclared, ...]
    settings: Settings


def clusters_after(
    engine: Engine, actor: str, root: str, variants: Sequence[Sequence[Command]]
) -> Query[list[Cluster]]:
    """The tree of this root after each of several lists of commands. The actor needs the rights for all of them.

    Raises what a command raises; hidden names are replaced.
    """

    def query(world: World, now_ms: int) -> list[Cluster]:
        check(world.directory, actor, Action.SEE_QUOTA, OnQuota(world.path(root)))
        if world.quota(root).parent is not None:
            raise Refused(
                "quota", root, "Q1", Sentence("is not a root; name ", a_quota(world.quota(root).root.id))
            )
        check(world.directory, actor, Action.SIMULATE, OnQuota(world.path(root)))
        return [_after(world, engine, actor, root, commands, now_ms) for commands in variants]

    return query


def _after(
    world: World, engine: Engine, actor: str, root: str, commands: Sequence[Command], now_ms: int
) -> Cluster:
    state = world.state
    reads = eyes(world, actor)
    turn = Turn(world, engine, now_ms)
    state.begin(watch=True)
    try:
        for one in commands:
            HANDLERS[type(one)](turn, replace(one, key=None))
        return _cluster(world, root)
    except Refused as refused:
        raise reads.refusal(refused) from None
    finally:
        state.rollback()


def _cluster(world: World, root: str) -> Cluster:
    state = world.state
    top = state.quotas.get(QuotaId(root))
    if top is None:
        raise NotFound("quota", root)
    pools = [pool for pool, _ in top.spec.draws]
    return Cluster(
        quotas=tuple(
            one.spec if one.parent is None else replace(one.spec, min=Bounds(*one.min))
            for one in top.subtree()
        ),
        nodes=tuple(
            node.spec for node in state.nodes if node.spec.pool in pools and node.state is not NodeState.LOST
        ),
        pools=tuple(PoolDeclared(pool, state.pools[pool]) for pool in pools),
        settings=state.settings,
    )
