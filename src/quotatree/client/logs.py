"""How is a log read to its end over connections that break? By its offsets: nothing twice, and no gap unnoticed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import httpx2

from quotatree.client.errors import BadAnswer, NotReachable, Unavailable
from quotatree.client.noun import name
from quotatree.client.transport import Transport, read

PAUSE_SECONDS: Final = 1.0


class LogAsked(NamedTuple):
    """The log that was asked for. `run` None is the last run when the first answer comes, and stays that one."""

    job: str
    replica: int
    run: int | None
    tail_lines: int | None
    follow: bool


class _Place:
    """How far a log has been read: the next byte (None: wherever the first answer begins), and where to stop.

    With `follow` reading stops where the log is closed, without it where the log ended at the first answer.
    """

    def __init__(self, asked: LogAsked, offset: int | None, left: int | None) -> None:
        self.run, self.at, self.left = asked.run, offset, left
        self.follow = asked.follow
        self.stop: int | None = None

    @property
    def over(self) -> bool:
        return self.left == 0 or (self.stop is not None and self.at is not None and self.at >= self.stop)

    def opened(self, headers: Any, gap: Callable[[int], None]) -> None:
        try:
            start, end = int(headers["X-Log-Offset"]), int(headers["X-Log-End"])
            self.run, closed = int(headers["X-Log-Run"]), headers["X-Log-Closed"] == "true"
        except (KeyError, ValueError):
            raise BadAnswer("a log without its offsets: is this a server of QuotaTree?") from None
        if self.at is not None and start > self.at:
            gap(start - self.at)
        self.at = start
        if closed or (not self.follow and self.stop is None):
            self.stop = end


def read_logs(
    http: Transport, asked: LogAsked, offset: int | None, limit: int | None, gap: Callable[[int], None]
) -> Iterator[bytes]:
    place = _Place(asked, offset, limit)
    while True:
        before = place.at
        try:
            yield from _answer(http, asked, place, gap)
        except (NotReachable, Unavailable):
            if not asked.follow or place.run is None:
                raise
        if place.over:
            return
        if place.at == before:
            time.sleep(PAUSE_SECONDS)


def _answer(http: Transport, asked: LogAsked, place: _Place, gap: Callable[[int], None]) -> Iterator[bytes]:
    first = place.at is None
    params = {
        "replica": asked.replica,
        "run": place.run,
        "offset": place.at,
        "tail_lines": asked.tail_lines if first else None,
        "limit": place.left,
        "follow": asked.follow or None,
    }
    path = f"/jobs/{name(asked.job)}/logs"
    try:
        with http.stream(path, params, {"Accept": "application/octet-stream"}) as answer:
            if not answer.is_success:
                answer.read()
                read(answer)
            place.opened(answer.headers, gap)
            for data in answer.iter_raw():
                assert place.at is not None
                place.at += len(data)
                place.left = None if place.left is None else place.left - len(data)
                yield data
    except httpx2.TransportError as error:
        raise NotReachable(f"{http.url}: {str(error) or type(error).__name__}") from None
