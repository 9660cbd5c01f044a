"""Logs are read by offset, from segments of which the oldest may vanish at any moment; any byte is given as it is."""

import pytest

from quotatree.engines.base import LogPiece
from quotatree.engines.local.server import log_reader
from quotatree.engines.local.server.log_reader import read_log


@pytest.fixture
def logs(tmp_path):
    """30 bytes were printed; the first ten are thrown away."""
    (tmp_path / f"{10:020d}.log").write_bytes(b"\x00\xff23456789")
    (tmp_path / f"{20:020d}.log").write_bytes(b"abcdefghij")
    (tmp_path / "notes").write_bytes(b"not ours")
    return tmp_path


@pytest.mark.parametrize(
    ("offset", "limit", "piece"),
    [
        (0, 100, LogPiece(10, b"\x00\xff23456789abcdefghij", 30, True)),
        (12, 3, LogPiece(12, b"234", 30, False)),
        (18, 4, LogPiece(18, b"89ab", 30, False)),
        (-5, 100, LogPiece(25, b"fghij", 30, True)),
        (-500, 1, LogPiece(10, b"\x00", 30, False)),
        (30, 100, LogPiece(30, b"", 30, True)),
        (99, 100, LogPiece(30, b"", 30, True)),
        (15, 0, LogPiece(15, b"", 30, False)),
    ],
)
def test_a_piece_begins_where_asked_or_where_something_is_left(logs, offset, limit, piece):
    assert read_log(logs, offset, limit, closed=True) == piece


def test_while_somebody_writes_nothing_is_closed(logs):
    assert read_log(logs, 0, 100, closed=False) == LogPiece(10, b"\x00\xff23456789abcdefghij", 30, False)


def test_no_directory_no_log_and_an_empty_one_is_empty(tmp_path):
    assert read_log(tmp_path / "none", 0, 10, closed=True) is None
    assert read_log(tmp_path, 0, 10, closed=True) == LogPiece(0, b"", 0, True)


def test_a_segment_thrown_away_between_looking_and_reading_is_passed_over(logs, monkeypatch):
    seen = log_reader._segments(logs)
    monkeypatch.setattr(log_reader, "_segments", lambda _: seen)
    (logs / f"{10:020d}.log").unlink()
    assert read_log(logs, 12, 4, closed=True) == LogPiece(20, b"abcd", 30, False)
