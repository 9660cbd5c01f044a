"""When is it known of a whole queue that none of its jobs can start, without looking at each class of them?

Where every class failed for want of room in a quota, and only room can help (wait_queue.py), a release elsewhere in the tree
changes nothing: the queue is looked at again when one of these quotas has room for the least that was wanted there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quotatree.core.model.quota import Quota
    from quotatree.core.model.tree import Tree
    from quotatree.core.model.wait_queue import WaitQueue


class NoRoom(NamedTuple):
    """The quotas that have too little room for every class of a queue; it rests on the rights of the tree at the time.

    `short`: quota, resource, the least that was wanted there, and whether a loan in the tree would give new rights.
    """

    rights: int
    short: tuple[tuple[Quota, int, int, bool], ...]

    def holds(self, tree: Tree) -> bool:
        """Return whether every failure still holds, as `WaitClass.still_fails` says of each."""
        if tree.rights != self.rights or tree.surplus_units:
            return False
        for quota, resource, least, without_loans in self.short:
            bound = quota.min[resource]
            if bound is None or bound - quota.used[resource] >= least or (without_loans and tree.loans):
                return False
        return True


class Exhausted(NamedTuple):
    """A plan left no job of a queue to try, at this version of its tree and stamp of the queue."""

    version: int
    stamp: int
    no_room: NoRoom | None = None

    def holds(self, tree: Tree) -> bool:
        """Return whether there is still nobody to try, if the queue's stamp is the same."""
        return self.version == tree.version or (self.no_room is not None and self.no_room.holds(tree))


def no_room_of(queue: WaitQueue, rights: int) -> NoRoom | None:
    """Return what keeps every class of the queue from starting, if that is room alone and `rights` were the same; else None.

    All of them must be known to fail.
    """
    short: dict[tuple[Quota, int, bool], int] = {}
    for cls in queue.classes.values():
        failed = cls.failed
        if failed is None or failed.short is None or failed.rights != rights:
            return None
        if failed.change is not None or failed.retry_at_ms is not None:
            return None
        quota, resource, wanted, _ = failed.short
        key = (quota, resource, not cls.promotes and quota is not cls.quota)
        short[key] = min(wanted, short.get(key, wanted))
    return NoRoom(rights, tuple((quota, i, least, loans) for (quota, i, loans), least in short.items()))
