"""Whoever has the lease leads: the world is loaded from the store, and only the leader writes."""

from __future__ import annotations

from dataclasses import replace

import structlog

from quotatree.control.accounting import open_usage
from quotatree.control.commands.dispatch import recall
from quotatree.control.program_secrets import sealed
from quotatree.control.world import World
from quotatree.core import JobId, restore
from quotatree.engines.base import Place
from quotatree.store.load import ANSWERS_LOADED, Loaded

log = structlog.get_logger(__name__)


def runs_elsewhere(loaded: Loaded, engine: Place) -> str:
    """Why this engine must not take over the open runs, or "" if it may (A7).

    Runs of another engine may be alive although this one does not see them: to start them again would give their
    devices twice.
    """
    if not loaded.runs or loaded.engine is None or loaded.engine.id == engine.id:
        return ""
    return (
        f"{len(loaded.runs)} run(s) are in the hands of the engine at {loaded.engine.where}: start a server there, "
        "or, if that machine is gone for good, start this one once with --abandon-runs"
    )


def world_from(loaded: Loaded) -> World:
    world = World(restore(loaded.snapshot), loaded.directory)
    for row in loaded.jobs:
        if row.id in world.state.jobs:
            world.cards[row.id] = replace(row.card, program=sealed(row.card.program))
    world.runs.update({JobId(run.job): run for run in loaded.runs})
    for place in loaded.placements:
        world.places.setdefault(JobId(place.job), {})[place.replica] = place
    strays = open_usage(world, loaded.usage)
    if strays:
        log.warning("use_without_job", stretches=strays)
    world.versions.update(loaded.versions)
    world.webhooks.update({hook.id: hook for hook in loaded.webhooks})
    recall(world, loaded.answers)
    world.has_all_answers = len(loaded.answers) < ANSWERS_LOADED
    world.counters = replace(loaded.counters)
    return world
