"""How much may one attempt spend on a search for victims that may be in vain, and when has a job its turn to spend more?

It depends on the state, the clock and what the plan has decided, never on what was spent before: failures are remembered by one
server and found out again by another that was restarted, and both must decide the same (A8). A pass over all who wait may spend
EFFORT, so each class has its part. Every decision that may help others lets all of them be tried again: their parts become smaller with
each, so that all passes together spend little more than a few. Whoever is cut short for that is tried again in the next plan, which
follows at once.

Of very many classes each part is too small for any search. Then some have a turn at a time, by the clock, and all have had one after
a while; until then the others do without victims, unless they find some at first glance. The foremost, by their priority, always have
their turn: important work does not wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from quotatree.core.model.job import Job
from quotatree.core.model.policy import HIGHEST_PRIORITY, LOWEST_PRIORITY
from quotatree.core.model.tree import Tree
from quotatree.core.search.patience import Patience

EFFORT: Final = 40_000
"""What all attempts of the first pass may spend in vain together, about a fifth of a second (search/patience.py)."""
LEAST: Final = 16
"""What an attempt may spend in any case: enough for a set on the first node."""
IN_TURN: Final = 24
"""How many classes have their turn at one time, each with its part of EFFORT."""
TURN_MS: Final = 1_000
SLOWLY: Final = 4
"""After so many decisions that may help others a part is a quarter of what it was, after twice as many a ninth, and so on."""
INDEXES_KEPT: Final = 400
"""With more classes than this an index of all nodes is mostly made anew for each, and counts."""
UNITS_A_NODE: Final = 2
REPLICA: Final = 10
"""What a gang may spend more for each of its replicas: it cannot be placed without looking at so many nodes."""


def classes_waiting(trees: tuple[Tree, ...]) -> int:
    """Return how many classes wait in these trees."""
    return sum([len(quota.queue.classes) for tree in trees for quota in tree.waiting.values()])


def turns_of(trees: tuple[Tree, ...]) -> Turns:
    """Return the turns of a plan that begins now."""
    classes = classes_waiting(trees)
    return Turns(classes, _foremost(trees) if classes > IN_TURN else LOWEST_PRIORITY)


def _foremost(trees: tuple[Tree, ...]) -> int:
    """Return the lowest priority which, with all higher ones, no more than IN_TURN classes have; one too high if none is so."""
    waiting = [0] * (HIGHEST_PRIORITY + 1)
    for tree in trees:
        for quota in tree.waiting.values():
            for cls in quota.queue.classes.values():
                waiting[cls.priority] += 1
    total, foremost = 0, HIGHEST_PRIORITY + 1
    for priority in range(HIGHEST_PRIORITY, LOWEST_PRIORITY - 1, -1):
        total += waiting[priority]
        if total > IN_TURN:
            break
        foremost = priority
    return foremost


@dataclass(slots=True)
class Turns:
    """What attempts may spend in one plan for trees that share pools.

    `classes`: so many waited when it began; `foremost`: from this priority on all have their turn; `helped`: how many decisions that
    may help others were made since.
    """

    classes: int
    foremost: int
    helped: int = 0

    def patience(self, job: Job, replicas: int, nodes: int, now_ms: int) -> Patience:
        """Return what an attempt to start so many replicas of a job may spend, on a cluster of so many nodes."""
        more, each_index = REPLICA * (replicas - 1), self._each_index(nodes)
        first = max(EFFORT // max(1, self.classes), LEAST)
        turn_ms: int | None = None
        if self.has_turn(job, now_ms):
            first = max(first, EFFORT // IN_TURN, 2 * each_index)
        elif first + more < each_index:
            turn_ms = self._turn_ms(job, now_ms)
        return Patience(max(self._later(first), LEAST) + more, each_index, turn_ms, self.rounds())

    def in_a_hurry(self, nodes: int) -> bool:
        """Return whether some jobs have to wait for their turn before victims are sought on nodes for them."""
        return max(EFFORT // max(1, self.classes), LEAST) < self._each_index(nodes)

    def has_turn(self, job: Job, now_ms: int) -> bool:
        rounds = self.rounds()
        if rounds == 1 or job.priority >= self.foremost:
            return True
        return self._round_of(job) == now_ms // TURN_MS % rounds

    def next_ms(self, now_ms: int) -> int | None:
        """Return when others have their turn; None if all have it at once."""
        return None if self.rounds() == 1 else (now_ms // TURN_MS + 1) * TURN_MS

    def _later(self, part: int) -> int:
        """Return what is left of a part by now."""
        return part * SLOWLY * SLOWLY // (SLOWLY + self.helped) ** 2

    def _each_index(self, nodes: int) -> int:
        return UNITS_A_NODE * nodes if self.classes > INDEXES_KEPT else 0

    def _turn_ms(self, job: Job, now_ms: int) -> int:
        """Return when a job that has not its turn now will have it."""
        rounds, now = self.rounds(), now_ms // TURN_MS
        return (now + (self._round_of(job) - now) % rounds) * TURN_MS

    def _round_of(self, job: Job) -> int:
        """Return in which round a job has its turn; all jobs of one class have it together."""
        rounds = self.rounds()
        if rounds == 1:
            return 0
        gpu_milli, cpu_milli, memory_mib = job.spec.groups[0].shape[:3]
        asked = f"{job.quota.id} {job.priority} {gpu_milli} {cpu_milli} {memory_mib}"
        return int.from_bytes(blake2b(asked.encode(), digest_size=4).digest(), "big") % rounds

    def rounds(self) -> int:
        """Return in how many rounds all have their turn: a power of two, so that it changes seldom as jobs come and go."""
        return 1 << max(0, -(-self.classes // IN_TURN) - 1).bit_length()
