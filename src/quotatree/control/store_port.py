"""What the loop needs of a store; quotatree.store has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quotatree.core import Settings
from quotatree.store.load import Loaded
from quotatree.store.rows import Batch, IdempotencyRow


class LoopStore(Protocol):
    def take_lease(self, holder: str, now_ms: int, ttl_ms: int) -> int | None:
        """The epoch of the lease, or None while another holder has it."""

    def renew_lease(self, holder: str, epoch: int, now_ms: int, ttl_ms: int) -> bool: ...

    def release_lease(self, holder: str, epoch: int) -> None: ...

    def load(self, settings: Settings) -> Loaded: ...

    def commit(self, batch: Batch) -> None:
        """All of it or nothing. Raises StoreUnavailable (perhaps in doubt) or LeaseLost."""

    def last_batch(self) -> int: ...

    def answers(self, keys: Sequence[tuple[str, str]]) -> tuple[IdempotencyRow, ...]:
        """What requests with these (actor, key) were answered, if they are known."""
