"""Is a piece of a pod's log the piece that was asked for?"""

from __future__ import annotations

import pytest

from quotatree.engines.base import LogPiece
from quotatree.engines.kubernetes.errors import error_of
from quotatree.engines.kubernetes.kinds import Key
from quotatree.engines.kubernetes.output import read_log

KEY = Key("ns", "p")


class Printed:
    def __init__(self, text: bytes = b"", status: int = 200) -> None:
        self._text, self._status = text, status

    def read(self, path: str, query: dict) -> bytes:
        assert path == "/api/v1/namespaces/ns/pods/p/log"
        if self._status != 200:
            raise error_of(self._status, b"")
        return self._text[: query["limitBytes"]]


def piece(printed: Printed, offset: int, limit: int, over: bool = True) -> LogPiece | None:
    return read_log(printed, KEY, offset, limit, over=over)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("offset", "limit", "wanted"),
    [
        (0, 4, LogPiece(0, b"0123", 4, False)),
        (4, 100, LogPiece(4, b"456789", 10, True)),
        (10, 100, LogPiece(10, b"", 10, True)),
        (-3, 100, LogPiece(7, b"789", 10, True)),
        (-100, 4, LogPiece(0, b"0123", 10, False)),
    ],
)
def test_a_piece_begins_where_it_was_asked_for_and_says_whether_more_may_come(offset, limit, wanted):
    assert piece(Printed(b"0123456789"), offset, limit) == wanted


def test_of_a_pod_that_runs_more_may_always_come():
    found = piece(Printed(b"abc"), 0, 100, over=False)
    assert found is not None
    assert not found.closed


def test_a_container_that_has_not_begun_printed_nothing_yet_and_a_pod_that_is_gone_keeps_nothing():
    assert piece(Printed(status=400), 0, 10) == LogPiece(0, b"", 0, False)
    assert piece(Printed(status=404), 0, 10) is None
