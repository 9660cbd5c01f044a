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
            """Start these replicas, which were ordered and do not run."""

        def started(self, replica: Replica) -> None:
            """Take note that the command of a replica runs."""

        def stop(self, numbers: list[int], grace_seconds: float) -> None:
            """Stop these replicas, as was ordered, within the grace."""

        def gone(self, replica: Replica) -> None:
            """Take note that nothing of a replica is left, or that it could not be started."""

        def order(self, entry: Entry) -> None:
            """Carry out an order other than start and stop; a course ignores those it does not know."""
