"""What happened: events as they come, who took what from whom, and who did what."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import httpx2

from quotatree.client import types as t
from quotatree.client.errors import NotReachable, Unavailable
from quotatree.client.noun import PAGE, Noun
from quotatree.client.transport import read

PAUSE_SECONDS: Final = 1.0


class Events(Noun):
    def list(
        self,
        *,
        workspace: Sequence[str] = (),
        job: str | None = None,
        kind: Sequence[str] = (),
        after: int = 0,
    ) -> Iterator[t.EventOut]:
        """Yield the events with a number above `after`, oldest first, up to now."""
        while True:
            asked = {"workspace": tuple(workspace), "job": job, "kind": tuple(kind), "after": after}
            page: t.EventPage = self._http.get("/events", {**asked, "limit": PAGE})
            yield from page["items"]
            if page["last"] <= after:
                return
            after = page["last"]

    def watch(
        self,
        *,
        workspace: Sequence[str] = (),
        job: str | None = None,
        kind: Sequence[str] = (),
        after: int | None = None,
        opened: Callable[[], None] = lambda: None,
        reconnect: bool = True,
    ) -> Iterator[t.EventOut]:
        """Yield events as they happen, without end. After a cut the stream goes on after the last event received.

        `after` None begins with what happens from now on, also after a cut before the first event. `opened` is called
        whenever the server has begun to listen: what is read from then on and the events that follow leave no gap.
        Without `reconnect` a cut connection raises NotReachable, and a stream that the server ends is over.
        """
        last = after
        while True:
            asked: dict[str, Any] = {"workspace": tuple(workspace), "job": job, "kind": tuple(kind)}
            if last is not None:
                asked["after"] = last
            try:
                for event in self._stream(asked, opened):
                    last = event["seq"]
                    yield event
            except (NotReachable, Unavailable):
                if not reconnect:
                    raise
            if not reconnect:
                return
            time.sleep(PAUSE_SECONDS)

    def _stream(self, asked: dict[str, Any], opened: Callable[[], None]) -> Iterator[t.EventOut]:
        try:
            with self._http.stream("/events/stream", asked, {"Accept": "text/event-stream"}) as answer:
                if not answer.is_success:
                    answer.read()
                    read(answer)
                opened()
                for line in answer.iter_lines():
                    if line.startswith("data:"):
                        event: t.EventOut = json.loads(line.removeprefix("data:"))
                        yield event
        except httpx2.TransportError as error:
            raise NotReachable(f"{self._http.url}: {str(error) or type(error).__name__}") from None


class Preemptions(Noun):
    def list(
        self,
        *,
        quota: Sequence[str] = (),
        workspace: Sequence[str] = (),
        step: Sequence[str] = (),
        job: str | None = None,
        from_ms: int | None = None,
        before_ms: int | None = None,
        most: int | None = None,
    ) -> Iterator[t.LedgerOut]:
        """The entries of the preemption ledger, newest first."""
        asked = {
            "quota": tuple(quota), "workspace": tuple(workspace), "step": tuple(step), "job": job,
            "from_ms": from_ms, "before_ms": before_ms,
        }  # fmt: skip
        return self._pages("/preemptions", asked, most)

    def get(self, seq: int) -> t.LedgerDetail:
        """One entry, and what became since of the jobs in it."""
        found: t.LedgerDetail = self._http.get(f"/preemptions/{seq}")
        return found


class Audit(Noun):
    def list(
        self,
        *,
        workspace: Sequence[str] = (),
        actor: str | None = None,
        action: str | None = None,
        target: str | None = None,
        from_ms: int | None = None,
        before_ms: int | None = None,
        most: int | None = None,
    ) -> Iterator[t.AuditOut]:
        """The entries of the audit log, newest first."""
        asked = {
            "workspace": tuple(workspace), "actor": actor, "action": action, "target": target,
            "from_ms": from_ms, "before_ms": before_ms,
        }  # fmt: skip
        return self._pages("/audit", asked, most)
