"""When did a process do its first thing? It writes a word into a named pipe, and we note when the word arrives.

The first thing of a process is the first line of a shell here, so that the start of the shell itself (about a
millisecond) is counted too.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from time import perf_counter

DEADLINE_SECONDS = 60.0


class Ear:
    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        path.chmod(0o622)
        self._fd = os.open(path, os.O_RDWR)  # both ends: it never seems closed
        self._heard: dict[str, float] = {}
        self._changed = threading.Condition()
        threading.Thread(target=self._listen, name="ear", daemon=True).start()

    def when(self, word: str) -> float:
        """When the word first arrived (`perf_counter`). Waits for it up to DEADLINE_SECONDS."""
        with self._changed:
            if not self._changed.wait_for(lambda: word in self._heard, DEADLINE_SECONDS):
                raise TimeoutError(f"nobody said {word}")
            return self._heard[word]

    def says(self, word: str, then: str = "") -> str:
        """A shell command that writes the word into the pipe and then runs `then`."""
        return f"echo {word} >{self.path}; {then}"

    def _listen(self) -> None:
        torn = ""
        while True:
            data = os.read(self._fd, 65_536).decode()
            now = perf_counter()
            *words, torn = (torn + data).split("\n")
            with self._changed:
                for word in words:
                    self._heard.setdefault(word, now)
                self._changed.notify_all()
