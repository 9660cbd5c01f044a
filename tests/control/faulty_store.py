"""A store that fails when a test says so: before the commit, after it (the answer is lost), or for every call."""

from typing import Any

from quotatree.store.errors import StoreUnavailable
from quotatree.store.rows import Batch


class FaultyStore:
    def __init__(self, store: Any) -> None:
        self.store = store
        self.away = False
        self.fail_commits = 0
        self.lose_answers = 0
        self.then_away = False
        self.most_rows: int | None = None
        """What still fits on the disk."""

    def commit(self, batch: Batch) -> None:
        if self.away or self.fail_commits:
            self.fail_commits = max(0, self.fail_commits - 1)
            raise StoreUnavailable("the disk is full")
        if self.most_rows is not None and len(batch.puts) > self.most_rows:
            raise StoreUnavailable("the disk is full")
        self.store.commit(batch)
        if self.lose_answers:
            self.lose_answers -= 1
            self.away = self.then_away
            raise StoreUnavailable("the connection broke")

    def __getattr__(self, name: str) -> Any:
        if self.away and name in ("take_lease", "renew_lease", "load", "last_batch"):

            def gone(*_: object) -> None:
                raise StoreUnavailable("gone")

            return gone
        return getattr(self.store, name)
