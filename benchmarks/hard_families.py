"""The hard families, by name: how each is made, and the sizes at which it is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from benchmarks import hard_mixtures as mixtures
from benchmarks import hard_queues as queues
from benchmarks import hard_searches as searches
from benchmarks import hard_services as services
from benchmarks import hard_worlds as worlds
from quotatree.core import State


@dataclass(frozen=True, slots=True)
class Family:
    """States that grow with n: how they are made, the first n to measure, and the largest, on at most 1,000 GPUs."""

    name: str
    build: Callable[[int], State]
    first: int
    largest: int


FAMILIES: Final = (
    Family("put-off starts in n trees", worlds.put_off_starts, 25, 125),
    Family("n services of four replicas", worlds.services, 300, 250),
    Family("n services, surplus in the way", worlds.surplus_in_the_way, 15, 120),
    Family("n protected shapes", worlds.protected_shapes, 1_000, 1_000),
    Family("n reserved siblings", worlds.reserved_siblings, 10, 50),
    Family("n siblings over any lower", worlds.any_lower, 30, 120),
    Family("n levels", worlds.levels, 2, 8),
    Family("n waiting shapes", worlds.waiting_shapes, 1_250, 5_000),
    Family("n quotas", worlds.quotas, 125, 500),
    Family("n siblings, half may borrow", worlds.half_may_borrow, 125, 500),
    Family("n siblings, loans and victims", worlds.loans_and_victims, 125, 500),
    Family("n siblings with low work", worlds.low_work_beside, 125, 500),
    Family("n shapes that start", worlds.shapes_that_start, 250, 1_000),
    Family("n units on a node", worlds.crowded_nodes, 16, 80),
    Family("n replicas of a gang", worlds.gang_with_cpu, 25, 100),
    Family("n shapes in a fifo queue", queues.fifo_queue, 1_250, 5_000),
    Family("n shapes over own work", queues.shapes_over_own_work, 250, 1_000),
    Family("n fair borrowers", queues.fair_borrowers, 125, 500),
    Family("n shares of a GPU", queues.fractions, 1_250, 5_000),
    Family("n services growing onto loans", queues.growing_onto_loans, 62, 250),
    Family("n siblings, surplus and loans", queues.surplus_and_loans, 62, 250),
    Family("n roots on one pool", queues.roots_on_one_pool, 30, 120),
    Family("n services with surplus", services.services_with_surplus, 1_000, 4_000),
    Family("n borrowers beside surplus", services.fair_borrowers_and_surplus, 60, 240),
    Family("n gangs over reserved work", services.gangs_over_reserved_work, 250, 1_000),
    Family("n gangs of two shapes", services.gangs_of_two_shapes, 15, 60),
    Family("n shapes over reserved shares", searches.cpu_over_reserved_shares, 50, 1_000),
    Family("n shapes just beyond reserved", searches.cpu_just_beyond_reserved, 12, 500),
    Family("n borrowers of whole nodes", searches.borrowers_of_whole_nodes, 50, 1_000),
    Family("n pools of two roots", mixtures.roots_on_many_pools, 25, 125),
    Family("n services under n/4 gangs", mixtures.gangs_over_services, 50, 250),
    Family("n elastic teams", mixtures.elastic_teams, 50, 250),
    Family("gangs in racks of n nodes", mixtures.gangs_in_racks, 30, 125),
    Family("n idle children that share", mixtures.idle_children, 100, 500),
)
