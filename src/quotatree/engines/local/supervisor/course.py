"""What does a run mean beyond its processes? The protocol of training, notebook and service.

A supervisor owns processes and files and tells a course what happened to them; the course decides what that means: who
is started again, when a replica counts as there, when the run is over. There is one module for each: `training`,
`notebook`, `service`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from quotatree.engines.local.files.journal import Entry
    from quotatree.engines.local.supervisor.replica import Replica

    Order = dict[str, Any]
    """One replica as the engine ordered it: its number, devices, group, limits."""

    class Course(Protocol):
        """The decisions of one kind of run."""

        def start(self, orders: list[Order]) -> None:
            """These replicas were ordered and do not run."""

        def started(self, replica: Replica) -> None:
            """The command of a replica runs."""

        def stop(self, numbers: list[int], grace_seconds: float) -> None:
            """These replicas were ordered to go, and have so long to do it."""

        def gone(self, replica: Replica) -> None:
            """Nothing of a replica is left, or it could not be started."""

        def order(self, entry: Entry) -> None:
            """Another order than start and stop; a course that does not know it ignores it."""
