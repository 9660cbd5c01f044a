"""When has a plan nothing to decide, and when must there be another one though nothing happens?"""

from __future__ import annotations

from quotatree.core.planning.idle_order import idle_candidates
from quotatree.core.planning.ordering import Ordering
from quotatree.core.planning.starvation_guard import guard_due, next_guard_ms
from quotatree.core.state import State


def at_rest(state: State, ordering: Ordering, now_ms: int) -> bool:
    """Return whether it is plain that nothing can be decided, as after most ends of jobs: nobody is to be tried, to be started
    idle, to grow or to be looked after."""
    if ordering.anybody_stirred():
        return False
    borrows = False
    for tree in ordering.trees:
        if tree.held or tree.elastic or tree.loans or tree.guard is not None:
            return False
        for quota in tree.waiting.values():
            if quota.queue.again:
                return False
            borrows = borrows or quota.queue.borrowing > 0
    if borrows and idle_candidates(state, ordering, now_ms):
        return False
    return not guard_due(state, ordering, now_ms)


def waking_times(state: State, ordering: Ordering, now_ms: int) -> list[int]:
    """Return the times, in ms, after now at which waiting alone may let a job be tried or guarded."""
    times = ordering.wakeups()
    times += next_guard_ms(state, ordering, now_ms)
    return [time_ms for time_ms in times if time_ms > now_ms] if times else times
