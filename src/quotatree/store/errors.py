"""What can go wrong with the store, and what to do about it.

StoreError
├── StoreUnavailable   the database cannot be reached, is full or locked: nothing was written, try again later
│   └── DiskFull       its disk is full: stopping jobs may still be possible (`control/reserve.py`)
├── StoreConflict      somebody else has written what this write relied on: nothing was written, look again
│   └── LeaseLost      another server is the writer now: stop
├── NotMigrated        the tables are not there, or not of this version
│   └── NewerTables    they are of a newer version, which has taken over: stop
├── InUse              a server leads: the tables cannot be migrated under it
├── NotEmpty           a restore would mix two histories
├── BadBackup          the file is not a backup that can be restored
└── BadCursor          a cursor that no page of this list gave out
"""

from __future__ import annotations

from quotatree.core import QuotaTreeError


class StoreError(QuotaTreeError):
    """Root of what the store raises on purpose."""


class StoreUnavailable(StoreError):
    pass


class DiskFull(StoreUnavailable):
    pass


class StoreConflict(StoreError):
    pass


class LeaseLost(StoreConflict):
    pass


class NotMigrated(StoreError):
    pass


class NewerTables(NotMigrated):
    pass


class InUse(StoreError):
    pass


class NotEmpty(StoreError):
    pass


class BadBackup(StoreError):
    pass


class BadCursor(StoreError):
    pass
