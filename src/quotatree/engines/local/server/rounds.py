"""What does the engine look at by itself, every so often? Old runs, the disk, the GPUs: each in a thread of its own.

A look that is slow, as a driver in trouble may be, holds up nothing else; one that breaks is logged and taken again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)


class Rounds:
    """Threads that each repeat one look until `stop`."""

    def __init__(self) -> None:
        self._stopping = threading.Event()

    def every(
        self, seconds: float, look: Callable[[], object], *, name: str, trouble: str, at_once: bool = False
    ) -> None:
        """Start a thread that looks every `seconds`; with `at_once`, also right now. `trouble`: logged when a look breaks."""
        arguments = (seconds, look, trouble, at_once)
        threading.Thread(target=self._repeat, args=arguments, name=name, daemon=True).start()

    def stop(self) -> None:
        """End all threads after the looks that they are at, without waiting for them."""
        self._stopping.set()

    def _repeat(self, seconds: float, look: Callable[[], object], trouble: str, at_once: bool) -> None:
        while not self._stopping.wait(0 if at_once else seconds):
            at_once = False
            try:
                look()
            except Exception:
                log.exception("local engine: %s", trouble)
