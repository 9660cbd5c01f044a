"""After a crash: what was intended against what really runs (A7).

| intended                          | the engine sees      | then                                                          |
|-----------------------------------|----------------------|---------------------------------------------------------------|
| runs, never confirmed             | nothing              | the order is sent again: same run, idempotent                 |
| runs, was confirmed               | nothing, no exit     | lost: queued again as after the loss of a node, not counted   |
| runs, or is leaving               | an exit              | it ended                                                      |
| runs                              | it runs              | confirmed, if it was not; a rolling restart is ordered again  |
| a replica of it is restarted      | all the others       | the order is sent again: it was away for its restart          |
| is leaving                        | nothing              | it left                                                       |
| is leaving                        | it runs              | told to stop again                                            |
| nothing of it, or another run     | it runs              | stopped at once: nobody may stand on devices that are free    |
| nothing of it                     | an exit              | forgotten                                                     |
"""

from __future__ import annotations

from quotatree.control.decision_effects import overdue, start_order, watch
from quotatree.control.inventory import see_all
from quotatree.control.reports import hear
from quotatree.control.turn import Turn
from quotatree.control.world import World
from quotatree.core import Job, JobId, Phase, Placed
from quotatree.core import events as ev
from quotatree.engines.base import (
    Confirmed,
    Exited,
    Left,
    Observed,
    ReplicaOrder,
    RestartOrder,
    StartOrder,
    StopOrder,
)

Key = tuple[JobId, int]


def reconcile(turn: Turn, observed: Observed) -> None:
    state, world = turn.state, turn.world
    if observed.nodes is not None:
        see_all(turn, observed.nodes)
    running: dict[Key, set[int]] = {}
    restarted: dict[Key, dict[int, str]] = {}
    for one in observed.running:
        running.setdefault((one.job, one.run), set()).update(one.replicas)
        if one.made_in is not None:
            restarted[one.job, one.run] = dict(zip(one.replicas, one.made_in, strict=True))
    exits = {(one.job, one.run): one for one in observed.exits}
    for job_id in list(state.jobs):
        job = state.jobs[job_id]
        if job.core is not None or job.leaving:
            key = (job.id, job.run)
            _settle(turn, job, running.get(key, set()), restarted.get(key, {}), exits.pop(key, None))
        watch(world, job)
    for key, replicas in sorted(running.items()):
        _stop_orphans(turn, key, replicas)
    for job_id, run in exits:
        turn.forget_run(job_id, run)


def standing_orders(world: World) -> list[StartOrder]:
    """The start orders of everything that stands or is leaving, for an engine to know by (A7)."""
    found = []
    for job in world.state.jobs.values():
        places = {**_standing(job), **job.leaving}
        if places:
            replicas = tuple(_replica_order(world, places[number]) for number in sorted(places))
            found.append(start_order(world, job, replicas))
    return found


def _settle(turn: Turn, job: Job, seen: set[int], made_in: dict[int, str], ended: Exited | None) -> None:
    if ended is not None:
        hear(turn, ended)
        return
    _settle_leaving(turn, job, seen)
    if job.phase is not Phase.RUNNING:
        return
    intended = _standing(job)
    confirmed = set(turn.world.cards[job.id].confirmed)
    hear(turn, Confirmed(job.id, job.run, tuple(sorted(seen & intended.keys()))))
    missing = sorted(intended.keys() - seen)
    restart_key = turn.world.cards[job.id].restart_key
    lost = tuple(r for r in missing if r in confirmed)
    if restart_key and lost == (_being_replaced(missing, made_in, restart_key),):
        lost = ()
    if set(lost) & set(job.core_indexes):
        lost = tuple(missing)  # a lost core ends the run, so none of its replicas is started again
    again = tuple(_replica_order(turn.world, intended[r]) for r in missing if r not in lost)
    if again:
        turn.order(start_order(turn.world, job, again))
    if restart_key and not set(lost) & set(job.core_indexes):
        turn.order(RestartOrder(job.id, job.run, restart_key))
    if lost:
        turn.apply(ev.JobLost(job.id, lost))
        turn.tell("job.lost", {"run": job.run, "replicas": list(lost)}, job=job.id)
        known = turn.world.cards[job.id].confirmed
        turn.change_card(job.id, confirmed=tuple(r for r in known if r not in lost))


def _being_replaced(missing: list[int], made_in: dict[int, str], restart_key: str) -> int | None:
    """Return the replica that this rolling restart had taken away and not made again when the server stopped; None if none.

    It takes one replica after the other by their numbers: those before it are made in this restart, those after it are not.
    """
    if len(missing) != 1 or not made_in:
        return None
    in_turn = all((key == restart_key) == (replica < missing[0]) for replica, key in made_in.items())
    return missing[0] if in_turn else None


def _settle_leaving(turn: Turn, job: Job, seen: set[int]) -> None:
    gone = tuple(sorted(job.leaving.keys() - seen))
    if gone:
        hear(turn, Left(job.id, job.run, gone))
    if job.leaving:
        grace_ms = job.spec.grace_ms
        turn.order(StopOrder(job.id, job.run, grace_ms, tuple(sorted(job.leaving))))
        turn.world.deadlines.add(overdue(job.id, turn.now_ms, grace_ms))


def _stop_orphans(turn: Turn, key: Key, seen: set[int]) -> None:
    job = turn.state.jobs.get(key[0])
    known = {*_standing(job), *job.leaving} if job is not None and job.run == key[1] else set()
    orphans = tuple(sorted(seen - known))
    if orphans:
        turn.order(StopOrder(*key, 0, orphans))
        turn.tell("engine.orphan_stopped", {"job": key[0], "run": key[1], "replicas": list(orphans)})


def _standing(job: Job) -> dict[int, Placed]:
    units = [job.core, *job.extras.values()] if job.core is not None else []
    return {place.replica: place for unit in units for place in unit.places}


def _replica_order(world: World, place: Placed) -> ReplicaOrder:
    return ReplicaOrder(place.replica, world.state.nodes[place.node].spec.name, place.devices, place.shape)
