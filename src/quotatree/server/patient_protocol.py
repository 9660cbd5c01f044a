"""How long may a client take to say what it wants? A connection whose request does not come is closed.

The server's own time-out is for connections between two requests; one who sends a header, or a byte of a body, every
few seconds never meets it. A head must come whole within a time; of a body, so much must come in each such time. A
body that takes longer than one of them is slow, and each address has only so many slow ones at once: a client that
keeps just above the rate cannot fill the memory with bodies that never end. A head has a largest size, since it is kept
whole before anybody is asked who sends it; so have the trailers behind a body.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEADER_SECONDS: Final = 20.0
BODY_SECONDS: Final = 20.0
LEAST_BODY_BYTES: Final = 20 * 1024
"""So much of a body must come in BODY_SECONDS, unless it ends before: 1 KiB a second."""
MOST_SLOW: Final = 16
MOST_HEAD_BYTES: Final = 2**20
"""All cookies that a browser keeps for a host, which any service of that host may have set, are 720 KiB."""


class PatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn speaks it, with the limits of this module."""

    header_seconds = HEADER_SECONDS
    body_seconds = BODY_SECONDS
    least_body_bytes = LEAST_BODY_BYTES
    most_slow = MOST_SLOW
    slow: ClassVar[Counter[str]] = Counter()
    """Slow bodies that are being sent now, by address of the client or the proxy before it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience: asyncio.TimerHandle | None = None
        self._waits_for: RequestResponseCycle | None = None  # whose body is waited for; None: a head is
        self._heard_bytes = 0  # since the timer was set
        self._slow_at = ""  # the address that this connection counts as slow for
        self._head_bytes = 0  # about how many came since the last piece of a body, or end of a request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MOST_HEAD_BYTES:
            self.transport.close()
            return
        self._heard_bytes += len(data)
        self._wait()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """Set the timer if something else is waited for than before, and stop it if nothing is."""
        cycle: RequestResponseCycle | None = (
            self.cycle
        )  # None before the first request, which uvicorn does not say
        if cycle is None or cycle.response_complete:
            self._wait_for(None, self.header_seconds)
        elif cycle.more_body:
            self._wait_for(cycle, self.body_seconds)
        else:
            self._stop_waiting()

    def _wait_for(self, body_of: RequestResponseCycle | None, seconds: float) -> None:
        if self._patience is not None and self._waits_for is body_of:
            return
        self._stop_waiting()
        self._waits_for, self._heard_bytes = body_of, 0
        self._patience = self.loop.call_later(seconds, self._time_is_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self._slow_at:
            self.slow[self._slow_at] -= 1
            if not self.slow[self._slow_at]:
                del self.slow[self._slow_at]
            self._slow_at = ""

    def _time_is_up(self) -> None:
        self._patience = None
        body_of, heard_bytes = self._waits_for, self._heard_bytes
        if self.transport.is_closing():
            return
        if body_of is not None and (body_of is not self.cycle or body_of.response_complete):
            self._wait()  # it was answered before it was whole
            return
        if body_of is None or not self._may_go_on(heard_bytes):
            self.transport.close()
            return
        self._heard_bytes = 0
        self._patience = self.loop.call_later(self.body_seconds, self._time_is_up)

    def _may_go_on(self, heard_bytes: int) -> bool:
        """Whether enough of the body has come; while we do not read, nothing can come."""
        if heard_bytes < self.least_body_bytes and not self.flow.read_paused:
            return False
        return self._counts_as_slow()

    def _counts_as_slow(self) -> bool:
        """Count this body among the slow ones of its address; return whether it may go on."""
        if self._slow_at:
            return True
        address = self.client[0] if self.client is not None else "unknown"
        if self.slow[address] >= self.most_slow:
            return False
        self.slow[address] += 1
        self._slow_at = address
        return True
