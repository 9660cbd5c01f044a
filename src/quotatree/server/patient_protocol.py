"""How long may a client take to say what it wants? A connection whose request does not come is closed.

The server's own time-out is for connections between two requests; one who sends a header every few seconds never meets it.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEADER_SECONDS: Final = 20.0


class PatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 as uvicorn speaks it; the head of each request must come whole within `header_seconds`."""

    header_seconds = HEADER_SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._awaits_head():
            self._wait_for_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _awaits_head(self) -> bool:
        cycle: RequestResponseCycle | None = (
            self.cycle
        )  # None before the first request, which uvicorn does not say
        return cycle is None or cycle.response_complete

    def _wait_for_head(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(self.header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        if self._awaits_head() and not self.transport.is_closing():
            self.transport.close()
