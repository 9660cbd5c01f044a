"""How much may one plan spend? It is counted, and the rest is left to the next plan, which follows at once.

Before a job takes victims, all that could take from it are tried (S8), and each of them may search for victims in its turn. So a
decision is charged with the quotas in which jobs wait and may have a right against the job, whether or not any was tried: which of
them are known to fail depends on what earlier plans remember, and a plan must not (A8).

What leaves may also help any class that waits, so each of them may be tried again after every decision with victims, whoever has
rights against whom; and after every start where a start may help others, since parts are reserved, a loan is taken or a guard is
placed (state/units.py). An idle start lets all borrowers be put in order again, below fair borrowing by their shares. These looks are
counted by themselves, with a little for every start.
"""

from __future__ import annotations

from typing import Final

from quotatree.core.errors import EndlessPlan
from quotatree.core.model.job import Job, JobId
from quotatree.core.model.quota_arithmetic import has_loan
from quotatree.core.model.resources import ZERO
from quotatree.core.model.rights import work_of
from quotatree.core.model.tree import Tree
from quotatree.core.planning.fair_idle import sharing_from
from quotatree.core.planning.rivals import takers_waiting
from quotatree.core.planning.turns import turns_of

CHARGED_AT_MOST: Final = 500
"""What the decisions of one plan may be charged with before it ends."""
LOOKS_AT_MOST: Final = 400_000
"""What the decisions of one plan may be charged with for looks at waiting classes, quotas and nodes before it ends."""
FEW_CLASSES: Final = 32
"""So many classes are not counted: four thousand reclaims for a few classes are still one plan."""
WITH_VICTIMS: Final = 64
WITH_HELP: Final = 16
WITHOUT: Final = 2
"""What each class that waits is charged with after a decision: the effort of each, in proportion."""
GIVING_WAY: Final = 2
RESERVED: Final = 6
"""How many times the effort of a look is where surplus or idle work may give way, and where parts are reserved: more steps of P4
search, and sets are checked against bounds."""
ONE_JOB: Final = 400
"""What a start without victims is charged with, or a job that is first told why it waits: its shape may need an index of all nodes."""
ONE_SURPLUS: Final = 200
"""What a surplus replica is charged with: its shape has an index already."""
ONE_SET: Final = 32
"""What each set of victims is charged with that a branch and bound tried (search/branching.py)."""
SEVERAL_SHAPES: Final = 10_000
"""What each replica of a gang of several shapes is charged with that took victims: they are sought and packed in several orders."""
ONE_OVERTAKEN: Final = 4_000
"""What each job is charged with that was overtaken for another one, where surplus or idle work stands: only a search tells that it
could start (search/certainty.py)."""
WITH_LOAN: Final = 64
"""What each quota is charged with, after a start onto a loan, whose waiting jobs may claim it back and were tried before (S8)."""
ATTEMPTS_AT_MOST: Final = 1_000_000
"""How often a plan may try a job. No plan comes near it; one that went round in circles would never end (A8)."""
TOLD: Final = 8
"""How many of the last jobs are named then."""


class Allowance:
    """What a plan for trees that share pools has left to spend; at least one decision is always made."""

    __slots__ = (
        "_attempts", "_last", "_left", "_looks_left", "_trees", "_versions", "_waiting", "turns", "used_up",
    )  # fmt: skip

    def __init__(self, trees: tuple[Tree, ...]) -> None:
        self._trees = trees
        self._left, self._looks_left = CHARGED_AT_MOST, LOOKS_AT_MOST
        self._versions = [tree.version for tree in trees]
        self._waiting: int | None = None  # classes that count, as of the first decision that was charged
        self._attempts = 0
        self._last: list[JobId] = []
        self.used_up = False
        self.turns = turns_of(trees)

    def count_attempt(self, job: Job) -> None:
        """Count that a job is tried; raise EndlessPlan if jobs were tried so often that the plan would not end."""
        self._attempts += 1
        if self._attempts > ATTEMPTS_AT_MOST - TOLD:
            self._last.append(job.id)
            if self._attempts > ATTEMPTS_AT_MOST:
                raise EndlessPlan(self._attempts, tuple(self._last))

    def charge(self, job: Job, *, victims: bool = False, sets: int = 0, overtaken: int = 0) -> None:
        """Charge a regular start or hold that was decided for this job.

        `victims`: others were evicted or turned idle for it; `sets`: how many sets of victims were tried for it one by one;
        `overtaken`: how many could have started, and gave way to one another until it was this job's turn (S8).
        """
        if victims:
            self._left -= len(takers_waiting(work_of(job), ZERO))
            searched = overtaken if overtaken and self._anybody_gives_way() else 0
            shapes = SEVERAL_SHAPES * job.core_replicas if len(job.spec.groups) > 1 else 0
            self._look(sets * ONE_SET + searched * ONE_OVERTAKEN + shapes)
        else:
            beside = len(takers_waiting(work_of(job), ZERO)) if has_loan(job.quota) else 0
            self._look(ONE_JOB + beside * WITH_LOAN)
        if self._helps_others(job.quota.tree) or victims:
            self.turns.helped += 1
            self._look(self._classes() * (WITH_VICTIMS if victims else WITH_HELP))

    def charge_idle(self, job: Job) -> None:
        """Charge an idle start, or what was taken for one, that was decided for this job."""
        helps = self._helps_others(job.quota.tree) or sharing_from(job.quota) is not None
        self.turns.helped += helps
        self._look(self._classes() * (WITH_HELP if helps else WITHOUT))

    def charge_surplus(self, job: Job) -> None:
        """Charge a surplus replica that was started for this job: where it is the first, it is a right for all others (P12)."""
        helps = self._helps_others(job.quota.tree) or job.quota.tree.surplus_units == 1
        self.turns.helped += helps
        self._look(ONE_SURPLUS + self._classes() * (WITH_VICTIMS if helps else WITHOUT))

    def charge_told(self) -> None:
        """Charge that a job was tried for the first time since it waits, and is told why it goes on waiting."""
        self._look(ONE_JOB)

    def charge_return(self, undone: int) -> None:
        """Charge that the plan went back, by so many decisions, which may be made again; it ends after the next one at the earliest."""
        self.turns.helped += 1
        self._looks_left -= self._classes() * WITH_HELP * max(1, undone)

    def _helps_others(self, tree: Tree) -> bool:
        """Return whether the last decision may help jobs of this tree that failed before."""
        number = self._trees.index(tree)
        before, self._versions[number] = self._versions[number], tree.version
        return before != tree.version

    def _anybody_gives_way(self) -> bool:
        """Return whether surplus or idle work stands in these trees."""
        return any(tree.surplus_units or tree.idle_units for tree in self._trees)

    def _look(self, effort: int) -> None:
        self._looks_left -= effort
        self.used_up = self._left <= 0 or self._looks_left <= 0

    def _classes(self) -> int:
        """Return how many classes beyond a few wait in these trees, as of the first time that this was asked, times what makes a look
        at each of them harder now."""
        if self._waiting is None:
            waiting = [len(quota.queue.classes) for tree in self._trees for quota in tree.waiting.values()]
            self._waiting = max(0, sum(waiting) - FEW_CLASSES)
        found = self._waiting
        if found and self._anybody_gives_way():
            found *= GIVING_WAY
        if found and any(tree.shares_reserved for tree in self._trees):
            found *= RESERVED
        return found
