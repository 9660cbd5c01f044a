"""What is there now of one kind, and what has changed? A list, then a watch from where the list ended, for ever.

    list (page by page) ─> watch from its resourceVersion ─┬─ ended in time ──────> watch on from the last version seen
            ^                                              ├─ 410 Expired ────────> list again
            └── pause, longer each time <──────────────────┴─ any other fault ────> pause, then watch on; list if it repeats

Of every object only what `keep` returns is remembered, so memory grows with what is there and never with time. After a list,
what differs from memory is told like any other change: nothing is missed, whatever happened while nobody watched.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any, Final, Generic, Protocol, TypeVar

import structlog

from quotatree.engines.kubernetes.errors import ClusterError, Expired, error_of
from quotatree.engines.kubernetes.kinds import Key, Kind, Object, key_of

log = structlog.get_logger(__name__)

WATCH_SECONDS: Final = 60
FIRST_PAUSE_SECONDS: Final = 0.2
LONGEST_PAUSE_SECONDS: Final = 10.0
FAULTS_BEFORE_A_LIST: Final = 3

T = TypeVar("T")


class Watched(Protocol):
    """The part of `client.Cluster` that an informer needs."""

    def page(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = "", token: str = ""
    ) -> Object: ...

    def watch(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        version: str,
        seconds: int,
        labels: str = "",
        fields: str = "",
    ) -> Any: ...


class Informer(Generic[T]):
    """Follows one kind of object in a thread of its own.

    `keep(object)` returns what to remember of an object, a value that can be compared and that has its uid in it if
    objects of one name may follow each other, or None for an object that is of no interest. `changed(key, before, after)`
    is called in that thread, one change after the other, whenever the two differ; None stands for "not there". If it
    raises, the change is told again after the next list.
    """

    def __init__(
        self,
        cluster: Watched,
        kind: Kind,
        keep: Callable[[Object], T | None],
        changed: Callable[[Key, T | None, T | None], None],
        *,
        namespace: str | None = None,
        labels: str = "",
        fields: str = "",
    ) -> None:
        self._cluster = cluster
        self._kind = kind
        self._keep = keep
        self._changed = changed
        self._namespace = namespace
        self._labels = labels
        self._fields = fields
        self._known: dict[Key, T] = {}
        self._version: str | None = None  # to watch from; None: to be listed first
        self._faults = 0
        self._lock = threading.Lock()
        self._stream: Any = None
        self._closed = threading.Event()
        self._listed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watch-{kind.plural}", daemon=True)
        self.error = ""
        """What went wrong last; empty while all is well."""

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait until everything was listed once; return whether it was."""
        return self._listed.wait(seconds)

    def known(self) -> dict[Key, T]:
        """All that is there now, as a copy."""
        with self._lock:
            return dict(self._known)

    def find(self, key: Key) -> T | None:
        with self._lock:
            return self._known.get(key)

    def close(self) -> None:
        """End the thread; nothing more is told afterwards."""
        self._closed.set()
        with self._lock:
            stream = self._stream
        if stream is not None:
            stream.shut()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def step(self) -> None:
        """List if that is needed, then watch until the watch ends. Raises what went wrong; a next step goes on from there."""
        if self._version is None:
            self._list()
        self._watch()

    # -- the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self.step()
            except Exception as error:
                if self._closed.is_set():
                    return
                self._note_fault(error)
                self._closed.wait(self._pause_seconds())

    def _note_fault(self, error: Exception) -> None:
        self._faults += 1
        self.error = str(error) or type(error).__name__
        known = isinstance(error, ClusterError)
        if not known or isinstance(error, Expired) or self._faults >= FAULTS_BEFORE_A_LIST:
            self._version = None
        log.warning(
            "watch_broke", kind=self._kind.plural, error=self.error, faults=self._faults, exc_info=not known
        )

    def _pause_seconds(self) -> float:
        """Time until the next try: twice as long after every fault, and never the same for two informers."""
        longest = min(FIRST_PAUSE_SECONDS * (1 << min(self._faults - 1, 16)), LONGEST_PAUSE_SECONDS)
        return longest * random.uniform(0.5, 1.0)

    def _list(self) -> None:
        """Read everything page by page; tell what changed, and what is gone since memory was last right."""
        seen: set[Key] = set()
        token = ""
        while True:
            page = self._cluster.page(
                self._kind, self._namespace, labels=self._labels, fields=self._fields, token=token
            )
            for thing in page["items"]:
                seen.add(key_of(thing))
                self._put(thing)
            token = page["metadata"].get("continue", "")
            if not token:
                break
        for key in [key for key in self._known if key not in seen]:
            self._become(key, None)
        self._version = str(page["metadata"]["resourceVersion"])
        self._well()
        self._listed.set()

    def _watch(self) -> None:
        assert self._version is not None
        with self._cluster.watch(
            self._kind,
            self._namespace,
            version=self._version,
            seconds=WATCH_SECONDS,
            labels=self._labels,
            fields=self._fields,
        ) as stream:
            with self._lock:
                self._stream = stream
            try:
                if not self._closed.is_set():
                    for event in stream:
                        self._hear(event)
                        self._well()
            finally:
                with self._lock:
                    self._stream = None
        self._well()

    def _hear(self, event: Object) -> None:
        kind, thing = event["type"], event["object"]
        if kind == "ERROR":
            error = error_of(int(thing.get("code") or 500), b"")
            error.args = (str(thing.get("message") or thing.get("reason") or "the watch broke"),)
            raise error
        if kind == "DELETED":
            self._become(key_of(thing), None)
        elif kind != "BOOKMARK":
            self._put(thing)
        self._version = str(thing["metadata"]["resourceVersion"])

    def _put(self, thing: Object) -> None:
        self._become(key_of(thing), self._keep(thing))

    def _become(self, key: Key, after: T | None) -> None:
        before = self._known.get(key)
        if self._closed.is_set() or before == after:
            return
        self._changed(key, before, after)
        with self._lock:
            if after is None:
                del self._known[key]
            else:
                self._known[key] = after

    def _well(self) -> None:
        if self._faults:
            self._faults = 0
            self.error = ""
