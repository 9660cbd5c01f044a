"""When is it known of a whole queue that none of its jobs can start, without looking at each class of them?

Where every class failed for want of room in a quota, and only room can help (wait_queue.py), a release elsewhere in the tree
changes nothing: the queue is looked at again when one of these quotas has room for the least that was wanted there. Where the
first class blocks all others (S1, S4), that it failed so is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from quotatree.core.model.quota import Quota
    from quotatree.core.model.tree import Tree
    from quotatree.core.model.wait_queue import WaitClass, WaitQueue


class NoRoom(NamedTuple):
    """The quotas that have too little room for every class of a queue, or for the one that blocks the others; it rests on the
    rights of the tree at the time.

    `short`: quota, resource, the least that was wanted there, and whether a loan in the tree would give new rights.
    `ready_version`: of the nodes, at which a class blocks others: it does not while the ready nodes could not hold it; None: it
    does not matter.
    """

    rights: int
    short: tuple[tuple[Quota, int, int, bool], ...]
    ready_version: int | None = None

    def holds(self, tree: Tree, ready_version: int) -> bool:
        """Return whether every failure still holds, as `WaitClass.still_fails` says of each."""
        if tree.rights != self.rights:
            return False
        if self.ready_version is not None and self.ready_version != ready_version:
            return False
        for quota, resource, least, without_loans in self.short:
            bound = quota.min[resource]
            if bound is None or (without_loans and tree.loans):
                return False
            if bound - quota.used[resource] + quota.surplus[resource] >= least:
                return False
        return True


class Exhausted(NamedTuple):
    """A plan left no job of a queue to try, at this version of its tree and stamp of the queue; or at any version, as long as
    there is no room."""

    version: int
    stamp: int
    no_room: NoRoom | None = None


def no_room_of(queue: WaitQueue, rights: int) -> NoRoom | None:
    """Return what keeps every class of the queue from starting, if that is room alone and `rights` were the same; else None.

    All of them must be known to fail.
    """
    short: dict[tuple[Quota, int, bool], int] = {}
    for cls in queue.classes.values():
        found = _short_of(cls, rights)
        if found is None:
            return None
        quota, resource, wanted, loans = found
        key = (quota, resource, loans)
        if wanted < short.get(key, wanted + 1):
            short[key] = wanted
    return NoRoom(rights, tuple([(quota, i, least, loans) for (quota, i, loans), least in short.items()]))


def no_room_behind(blocker: WaitClass, rights: int, ready_version: int) -> NoRoom | None:
    """Return what keeps the first class of a queue, and with it all others, from starting, as `no_room_of` does.

    It must be known to fail. Amount limits may let others pass it without any change of room, so none may bind it.
    """
    found = None if blocker.limits else _short_of(blocker, rights)
    return None if found is None else NoRoom(rights, (found,), ready_version)


def _short_of(cls: WaitClass, rights: int) -> tuple[Quota, int, int, bool] | None:
    """Return the entry of `NoRoom.short` for a class that is known to fail; None if it is not for want of room alone."""
    failed = cls.failed
    if failed is None or failed.short is None or failed.rights != rights:
        return None
    if failed.change is not None or failed.retry_at_ms is not None:
        return None
    quota, resource, wanted, _ = failed.short
    return quota, resource, wanted, not cls.promotes and quota is not cls.quota
