"""What a store can fail with.

QuotaTreeError (core)
├── StoreUnavailable  it cannot be read or written now: gone, full, locked. A commit may be in doubt
└── StoreConflict     what was to be written does not fit what is there
    └── LeaseLost     another server has the lease: nothing was written
"""

from __future__ import annotations

from quotatree.core.errors import QuotaTreeError


class StoreUnavailable(QuotaTreeError):
    pass


class StoreConflict(QuotaTreeError):
    pass


class LeaseLost(StoreConflict):
    pass
