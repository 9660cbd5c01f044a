"""What can go wrong at the door of the core.

QuotaTreeError
├── Refused                a request that a rule forbids; nothing was changed
└── Defect                 no fault of the request, but a bug of ours
    ├── IllegalTransition  a job was moved along an edge its state machine does not have (A5)
    └── EndlessPlan        a plan had spent all it may and nothing had come of it; nothing was changed (A8)
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
    """Raised when a plan ends without a decision and without a failure although it has spent all it may: the next would do the same."""

    def __init__(self) -> None:
        super().__init__("a plan tried jobs again and again and neither helped nor failed any of them")
