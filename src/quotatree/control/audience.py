"""Who may read what is committed, and who is told of it? Any thread reads the last `Published`; listeners hear of new events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quotatree.access.directory import Directory
from quotatree.control.world import World


@dataclass(frozen=True, slots=True)
class Published:
    """What is committed and may be read by any thread: the directory, and the number of the last event."""

    directory: Directory
    last_event: int


class Audience:
    """What is shown to other threads. Only the loop's thread shows, tells and clears."""

    def __init__(self) -> None:
        self._published: Published | None = None
        self._listeners: tuple[Callable[[int], None], ...] = ()

    @property
    def published(self) -> Published | None:
        """What was shown last; None before that, and after `clear`."""
        return self._published

    def listen(self, listener: Callable[[int], None]) -> Callable[[], None]:
        """Have `tell` call this listener from now on. Returns a function that ends the calls."""
        self._listeners = (*self._listeners, listener)

        def end() -> None:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

        return end

    def show(self, world: World) -> None:
        """Let any thread read the directory of this world, and the number of its last event."""
        self._published = Published(world.directory, world.counters.event)

    def tell(self, last_event: int) -> None:
        """Call every listener with the number of the last event."""
        for listener in self._listeners:
            listener(last_event)

    def clear(self) -> None:
        """Show nothing any more: what was shown may no longer be what is stored."""
        self._published = None
