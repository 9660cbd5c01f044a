"""What is kept: SQLite or PostgreSQL, one transaction for each batch of the loop."""

from quotatree.store.load import Counters, Loaded
from quotatree.store.pages import Page
from quotatree.store.reads import BEGAN_TO_WAIT, HistoryFilter, JobFilter, JobSort, LedgerEntry
from quotatree.store.store import Store
from quotatree.store.usage import UsageFilter, UsageSum

__all__ = [
    "BEGAN_TO_WAIT",
    "Counters",
    "HistoryFilter",
    "JobFilter",
    "JobSort",
    "LedgerEntry",
    "Loaded",
    "Page",
    "Store",
    "UsageFilter",
    "UsageSum",
]
