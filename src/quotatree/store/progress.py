"""How far is something that takes long? Said every few seconds, so that nobody takes it for dead and kills it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

SAYS_EVERY_SECONDS: Final = 5.0


class Progress:
    """Says `doing` with the seconds since it began, and how many of how many are done where that is known."""

    def __init__(self, say: Callable[[str], None], every_seconds: float = SAYS_EVERY_SECONDS) -> None:
        self._say = say
        self._every_seconds = every_seconds
        self._began = time.monotonic()
        self._doing = ""
        self._done: tuple[int, int] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def begin(self, doing: str) -> None:
        """Say what is done from now on."""
        self._doing, self._done = doing, None
        self._say(doing)

    def is_at(self, done: int, of: int) -> None:
        self._done = done, of

    @property
    def seconds(self) -> int:
        return round(time.monotonic() - self._began)

    def line(self) -> str:
        counted = "" if self._done is None else f", {self._done[0]:,} of {self._done[1]:,}"
        return f"{self._doing}: {self.seconds} s{counted}"

    def _run(self) -> None:
        while not self._over.wait(self._every_seconds):
            if self._doing:
                self._say(self.line())
