"""May this server write, in which form, and was it written? The lease, the tables, and the commits under it (A6, A7).

| the tables are      | another server leads | nobody leads                                      |
|---------------------|----------------------|---------------------------------------------------|
| missing             | impossible           | they are made, and this server leads              |
| of an older version | it waits             | it takes the lease, brings them up to date, leads |
| of this version     | it stands by         | it takes the lease and leads                      |
| of a newer version  | it stops             | it stops                                          |

So nothing is migrated under a server that leads. Every commit checks that the tables are still of this version, as well as the
lease: a server of an older version, which knows of no such check, is kept out by the lease.

A commit whose answer got lost is looked for at once; only if nobody answers that either is it in doubt.
"""

from __future__ import annotations

from collections.abc import Callable

from quotatree.control.store_port import LoopStore
from quotatree.store.books import Faults
from quotatree.store.errors import DiskFull, LeaseLost, StoreUnavailable
from quotatree.store.form import Form, Tables
from quotatree.store.load import Counters
from quotatree.store.rows import Batch


class InDoubt(StoreUnavailable):
    """It cannot be found out now whether a batch was written."""


class Writer:
    """The lease of one server, and its commits. `epoch` is that of the last lease it had; 0: it never had one."""

    def __init__(self, store: LoopStore, holder: str, lease_ms: int) -> None:
        self._store = store
        self._lease_ms = lease_ms
        self.holder = holder
        self.epoch = 0
        self.renew_at_ms = 0
        self.tables: Tables | None = None  # as they were when the lease was asked for last

    @property
    def waits_for_older(self) -> bool:
        """Whether the tables are those of an older version, which nobody may lead with before they are up to date."""
        return self.tables is not None and self.tables.form is Form.OLDER

    def take(self, now_ms: int) -> bool:
        """Take the lease; False while another holder has it. Raises NewerTables if a newer version has taken over."""
        self.tables = self._store.tables()
        if self.tables.form is Form.MISSING:
            self._store.make_tables()
        try:
            epoch = self._store.take_lease(self.holder, now_ms, self._lease_ms)
        except StoreUnavailable:
            if self.waits_for_older:
                return False  # another server locks them, to migrate
            raise
        if epoch is None:
            return False
        self.epoch = epoch
        self.renew_at_ms = now_ms + self._lease_ms // 3
        return True

    def upgrade(self, clock: Callable[[], int], say: Callable[[str], None]) -> None:
        """Bring the tables of an older version up to date. Raises LeaseLost if another server has taken the lease meanwhile."""
        try:
            self._store.upgrade(self.holder, self.epoch, clock, self._lease_ms, say)
        except StoreUnavailable as error:
            say(f"the tables stay as they were: {error}")
            raise
        self.renew_at_ms = clock() + self._lease_ms // 3

    def mend(self) -> Faults:
        """Make the books of use fit where an older version has written beside them; return what did not fit."""
        return self._store.mend_books(self.holder, self.epoch)

    def keep(self, now_ms: int) -> None:
        """Renew the lease once `renew_at_ms` is reached. Raises LeaseLost if another server has taken it."""
        if now_ms >= self.renew_at_ms:
            if not self._store.renew_lease(self.holder, self.epoch, now_ms, self._lease_ms):
                raise LeaseLost("the lease was not renewed in time")
            self.renew_at_ms = now_ms + self._lease_ms // 3

    def release(self) -> None:
        """Give the lease back, so that the next server need not wait until it ends."""
        if self.epoch:
            self._store.release_lease(self.holder, self.epoch)

    def commit(self, batch: Batch) -> None:
        """Commit a batch. Raises StoreUnavailable if it was not written, InDoubt if that cannot be found out."""
        try:
            self._store.commit(batch)
        except DiskFull:
            if self._store.last_batch() != batch.number:  # reading needs no room, and the transaction is over
                raise
        except StoreUnavailable as error:
            try:
                # Renewing waits for a transaction that still locks the lease's row: after it, the last number is final.
                kept = self._store.renew_lease(self.holder, self.epoch, batch.at_ms, self._lease_ms)
                last = self._store.last_batch()
            except StoreUnavailable:
                raise InDoubt(str(error)) from error
            if not kept:
                raise InDoubt(str(error)) from error
            if last != batch.number:
                raise

    def prove(self, counters: Counters, now_ms: int) -> None:
        """Commit an empty batch, and raise if that fails: a store that renews a lease need not take commits yet."""
        number = counters.batch + 1
        self._store.commit(Batch(now_ms, self.holder, self.epoch, number, ()))
        counters.batch = number

    def is_behind(self, counters: Counters) -> bool:
        """Whether the last batch in the store is not the one that these counters know."""
        return self._store.last_batch() != counters.batch
