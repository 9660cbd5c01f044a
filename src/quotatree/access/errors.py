"""What is raised when a right is missing?

QuotaTreeError (core)
├── Refused    (core) a rule forbids it, whoever asks (W1-W5)
├── NotFound   there is no such thing, or the reader is an outsider to it: the two look alike (W2)
└── Forbidden  the reader may see it, but lacks the role; says which roles have the right
"""

from __future__ import annotations

from quotatree.core import QuotaTreeError


class NotFound(QuotaTreeError):
    """There is no such thing, or this reader may not know of it. The message depends only on what was asked for."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        self.message = f"no {kind} {name!r}"
        super().__init__(self.message)


class Forbidden(QuotaTreeError):
    """The actor may see the target but lacks the right. `needed` names the roles that have it."""

    def __init__(self, action: str, needed: tuple[str, ...], message: str) -> None:
        self.action = action
        self.needed = needed
        self.message = message
        super().__init__(message)
