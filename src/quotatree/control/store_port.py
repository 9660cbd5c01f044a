"""What the loop needs of a store; quotatree.store has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from quotatree.core import Settings
from quotatree.store.books import Faults
from quotatree.store.form import Tables
from quotatree.store.load import Loaded
from quotatree.store.rows import Batch, IdempotencyRow


class LoopStore(Protocol):
    def tables(self) -> Tables:
        """In which form the tables are. Raises NewerTables if it is that of a newer version."""

    def make_tables(self) -> None:
        """Make the tables where there are none."""

    def upgrade(
        self, holder: str, epoch: int, clock: Callable[[], int], ttl_ms: int, say: Callable[[str], None]
    ) -> None:
        """Bring the tables of an older version up to date. Raises LeaseLost unless (holder, epoch) has the lease."""

    def mend_books(self, holder: str, epoch: int) -> Faults:
        """Make the stretches of use fit the runs; return what did not."""

    def take_lease(self, holder: str, now_ms: int, ttl_ms: int) -> int | None:
        """Take the lease; return its epoch, or None while another holder has it."""

    def renew_lease(self, holder: str, epoch: int, now_ms: int, ttl_ms: int) -> bool: ...

    def release_lease(self, holder: str, epoch: int) -> None: ...

    def lease_holder(self) -> str: ...

    def load(self, settings: Settings) -> Loaded: ...

    def commit(self, batch: Batch) -> None:
        """Write all of the batch or nothing. Raises StoreConflict, LeaseLost or StoreUnavailable.

        After StoreUnavailable the batch may be written all the same: `last_batch` tells.
        """

    def last_batch(self) -> int: ...

    def answers(self, keys: Sequence[tuple[str, str]]) -> tuple[IdempotencyRow, ...]:
        """The stored answers to requests with these (actor, key); unknown keys are left out."""
