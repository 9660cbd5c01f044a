"""How does the engine learn what happened to a run? From its journal; and a word into the engine's pipe says: look there.

The engine need not be there: what is written down waits for it, and nobody waits for the pipe.
"""

from __future__ import annotations

import os

from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import LOAD, RunDir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from quotatree.engines.local.files.journal import Entry

MAX_NOTICES = 20
"""Most notices in one journal, which is not a log: so many show that the trouble lasts."""


class Chronicle:
    """The journal of a run as its supervisor writes it, in the order of what happened."""

    def __init__(self, run_dir: RunDir, job: str, run: int) -> None:
        self._fifo = run_dir.engine.wake
        self._job = job
        self._run = run
        self._journal = journal.Journal(run_dir.journal)
        self._confirmed: list[int] = []
        self._left: list[int] = []
        self._notices: set[str] = set()
        self._news = False

    @property
    def behind(self) -> bool:
        """Whether an entry could not be written yet. The process must not end before it is."""
        return self._journal.behind

    def add(self, entry: Entry) -> None:
        """Write down what happened, after all that happened before."""
        self._flush()
        self._journal.add(entry)
        self._news = True

    def confirm(self, replica: int) -> None:
        """Write down with the next line, or the next `tell`, that a replica is there."""
        self._confirmed.append(replica)

    def left(self, replica: int) -> None:
        """Write down with the next line, or the next `tell`, that a replica is gone that was told to stop."""
        self._left.append(replica)

    def notice(self, text: str) -> None:
        """Write down something that the owner of the job should know, unless it was said before."""
        if text not in self._notices and len(self._notices) < MAX_NOTICES:
            self._notices.add(text)
            self.add({"is": "notice", "text": text})

    def tell(self) -> None:
        """Write down what is not written yet; wake the engine if there is news and all of it could be written."""
        self._flush()
        if self._journal.behind:
            self._journal.catch_up()
        if self._news and not self._journal.behind:
            self._news = False
            _write_line(self._fifo, f"{self._job} {self._run}")

    def tell_load(self, in_flight_milli: int, span_ms: int) -> None:
        """Tell the engine how many requests were in flight on average. Nobody need hear it: the next figure follows soon."""
        _write_line(self._fifo, f"{LOAD} {self._job} {self._run} {int(in_flight_milli)} {int(span_ms)}")

    def _flush(self) -> None:
        """Write down the replicas that were confirmed in this turn as one line, and those that left as another."""
        for what, replicas in (("confirmed", self._confirmed), ("left", self._left)):
            if replicas:
                self._journal.add({"is": what, "replicas": list(replicas)})
                self._news = True
                replicas.clear()


def _write_line(fifo: str, line: str) -> None:
    try:
        fd = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(fd, f"{line}\n".encode())
    except OSError:
        pass
    finally:
        os.close(fd)
