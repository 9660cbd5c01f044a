"""What can go wrong at the door of the core.

QuotaTreeError
├── Refused                a request that a rule forbids; nothing was changed
└── Defect                 no fault of the request, but a bug of ours
    ├── IllegalTransition  a job was moved along an edge its state machine does not have (A5)
    └── EndlessPlan        a plan tried jobs so often that it would not have ended; nothing was changed (A8)
"""

from __future__ import annotations


class QuotaTreeError(Exception):
    """Base class of every error that this package raises on purpose."""


class Refused(QuotaTreeError):
    """A request was refused and nothing changed. Names the field, its value and the rule."""

    def __init__(self, field: str, value: object, rule: str, message: str) -> None:
        self.field = field
        self.value = value
        self.rule = rule
        self.message = message
        super().__init__(f"{field} = {value!r}: {message} [{rule}]")


class Defect(QuotaTreeError):
    """Base class of errors that no request should lead to."""


class IllegalTransition(Defect):
    """Raised when a job cannot go from its phase to the wanted one; carries the job's story."""

    def __init__(self, job: str, phase: str, wanted: str, story: tuple[str, ...]) -> None:
        self.story = story
        told = "; ".join(story) or "no story"
        super().__init__(f"job {job}: {phase} -> {wanted} is not a transition. Story: {told}")


class EndlessPlan(Defect):
    """Raised when a plan has tried jobs more often than any plan should; names the last ones it tried."""

    def __init__(self, attempts: int, last: tuple[str, ...]) -> None:
        super().__init__(
            f"a plan tried jobs {attempts:,} times and did not end; the last were {', '.join(last)}"
        )
