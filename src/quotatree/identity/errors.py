"""What can go wrong while users prove who they are?

QuotaTreeError (core)
├── Unauthenticated         no, and no word about why beyond what the asker already knows
│   └── TooManyFailures     not now: too many wrong guesses; says when to come back
├── LoginPending            device flow: the person has not answered yet; says how long to wait before asking again
└── ProviderFailed          the OIDC provider cannot be reached or answers nonsense; says what
"""

from __future__ import annotations

from quotatree.core import QuotaTreeError


class Unauthenticated(QuotaTreeError):
    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class TooManyFailures(Unauthenticated):
    def __init__(self, retry_after_ms: int) -> None:
        self.retry_after_ms = retry_after_ms
        super().__init__(f"too many failed logins; try again in {-(-retry_after_ms // 1000)} s")


class LoginPending(QuotaTreeError):
    def __init__(self, interval_ms: int) -> None:
        self.interval_ms = interval_ms
        super().__init__(f"not confirmed yet; ask again in {-(-interval_ms // 1000)} s")


class ProviderFailed(QuotaTreeError):
    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)
