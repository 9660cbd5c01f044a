"""What can be wrong with a scenario file.

QuotaTreeError
└── ScenarioError      the file cannot be read as a scenario: a field, its value, what is allowed
    └── RuleBroken     the file is well-formed, but the core refuses what it says, by a rule
"""

from __future__ import annotations

from quotatree.core import QuotaTreeError, Refused


class ScenarioError(QuotaTreeError):
    """A scenario file cannot be read. `where` names the file and the table."""

    def __init__(self, where: str, message: str) -> None:
        self.where = where
        self.message = message
        super().__init__(f"{where}: {message}")


class RuleBroken(ScenarioError):
    """The core refuses what the file says. The message is the core's own and names field, value and rule."""

    def __init__(self, where: str, refused: Refused) -> None:
        self.rule = refused.rule
        super().__init__(where, str(refused))
