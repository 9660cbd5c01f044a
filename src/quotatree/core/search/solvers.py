"""Which solver answers a request: quota alone, one replica, a gang, or groups of several shapes one after the other?

All of them take a trial and return a proposal, the cheapest they know up to the trial's rung, or None.
"""

from __future__ import annotations

from functools import partial

from quotatree.core.model.job import Placed, Shape
from quotatree.core.model.unit import Unit, UnitClass, UnitKind
from quotatree.core.search.exhaustive import cheapest_of_few
from quotatree.core.search.gang import cheapest_for_gang
from quotatree.core.search.lawful_room import lawful_room
from quotatree.core.search.one_replica import cheapest_for_one
from quotatree.core.search.placement import Wanted, find_places, grouped, orders_of
from quotatree.core.search.quota_cover import cheapest_cover, too_little_may_go
from quotatree.core.search.trial import (
    NOTHING,
    PlaceTrial,
    Proposal,
    Request,
    Trial,
    implied,
    with_companions,
)


def solve(trial: Trial) -> Proposal | None:
    """Return the cheapest set that the solver for this request finds up to the trial's rung, or None."""
    if trial.request.nodes_fit:
        return cheapest_cover(trial)
    if too_little_may_go(trial) or no_node_may_be_freed(trial):
        return None
    shapes = grouped(trial.request.wanted)
    if len(shapes) == 1:
        return _one_shape(trial)
    counts = {shape: len(indexes) for shape, indexes in shapes.items()}
    return cheapest_of_few(trial, counts, _in_some_order(trial, shapes), partial(_fit_without, trial))


def no_node_may_be_freed(trial: Trial) -> bool:
    """Return True only if a replica of some shape finds no place whichever lawful set leaves (Q8)."""
    room = lawful_room(trial)
    return room is not None and any(
        room.excludes_everywhere(shape) for shape in grouped(trial.request.wanted)
    )


def _in_some_order(trial: Trial, shapes: dict[Shape, list[int]]) -> Proposal | None:
    """Return what the first order of shapes finds that finds anything."""
    found = (_several_shapes(trial, order) for order in orders_of(shapes))
    return next((proposal for proposal in found if proposal is not None), None)


def _fit_without(trial: Trial, units: tuple[Unit, ...]) -> bool:
    """Return whether all replicas have places once these units have left."""
    places = PlaceTrial(trial.request, trial.rung, trial.overlay)
    places.take_all(units)
    return places.fits()


def _one_shape(trial: Trial) -> Proposal | None:
    ((_, shape), *others) = trial.request.wanted
    if not others:
        return cheapest_for_one(trial, shape)
    count = 1 + len(others)
    return cheapest_of_few(trial, {shape: count}, cheapest_for_gang(trial, shape, count))


def _several_shapes(trial: Trial, shapes: dict[Shape, list[int]]) -> Proposal | None:
    """Solve shape by shape in this order, each with the shapes before it in place; then minimise the whole set.

    None if a shape finds no place, the quota cannot be freed, or the set violates a protection.
    """
    together = PlaceTrial(trial.request, trial.rung, trial.overlay)
    if not _one_after_the_other(together, shapes):
        return None
    _leave_to_cores(together)
    if not _cover_quota(together):
        return None
    _leave_to_cores(together)
    together.minimise()
    found = together.proposal() if together.taken else NOTHING
    allowed = trial.protections is None or trial.protections.allow(with_companions(list(found.units)))
    return found if allowed else None


def _one_after_the_other(together: PlaceTrial, shapes: dict[Shape, list[int]]) -> bool:
    """Take the victims that each shape needs, in order; return False as soon as a shape finds no place.

    While the search lasts, the replicas of earlier shapes occupy their places in the overlay.
    """
    request, overlay = together.request, together.overlay
    stood: list[Unit] = []
    for shape, indexes in shapes.items():
        part: Wanted = [(index, shape) for index in indexes]
        places = _places(together, part)
        if places is None:
            alone = request.for_places_only(wanted=part, demote_room=-1)
            found = _one_shape(Trial(alone, together.rung, overlay))
            if found is None:
                return False
            together.take_all(found.units)
            places = _places(together, part)
            if places is None:
                return False
        unit = _promised(request, places)
        overlay.give_back(unit)
        stood.append(unit)
    for unit in stood:
        overlay.take(unit)
        del overlay.off[unit]
    return True


def _leave_to_cores(together: PlaceTrial) -> None:
    """Give back the units that the core of their job takes along."""
    for unit in [u for u in together.taken if implied(u, together.taken)]:
        together.give_back(unit)


def _cover_quota(together: PlaceTrial) -> bool:
    """Take the cheapest units until the quota is free; return False if that cannot be done.

    What a core takes along may be gone already, so that it frees less than it seems: then more must go.
    """
    while not together.quota_is_free():
        found, before = cheapest_cover(together), (together.quota_left(), together.inside_left())
        if found is None:
            return False
        together.take_all(found.units)
        if (together.quota_left(), together.inside_left()) == before:
            return False
    return True


def _places(together: PlaceTrial, part: Wanted) -> tuple[Placed, ...] | None:
    request = together.request
    return find_places(
        together.state,
        request.root,
        part,
        now=False,
        avoid=request.avoid,
        overlay=together.overlay,
        packed=False,
    )


def _promised(request: Request, places: tuple[Placed, ...]) -> Unit:
    """Return a unit that occupies these places for the preemptor; its class is in no index, since it is dropped again."""
    job = request.job
    assert job is not None
    cls = UnitClass(-1, job.quota, job.priority, job.spec.module, UnitKind.HOLD, job.claim)
    return Unit(job, cls, places, request.now_ms)
