"""The log of one replica on disk. Issue 5, part 6: rotated, size-limited, binary-safe; and a full disk stops nobody."""

import errno
import os
from pathlib import Path

import pytest

from quotatree.engines.local.supervisor.log_writer import RETRY_SECONDS, SMALLEST_SEGMENT_BYTES, ReplicaLog

SEGMENT = SMALLEST_SEGMENT_BYTES
LIMIT = 8 * SEGMENT


class Disk:
    """The real one, until it is full."""

    def __init__(self) -> None:
        self.full = False
        self.time = 0.0
        self.attempts = 0
        self.troubles: list[str] = []

    def write(self, fd: int, data: memoryview) -> int:
        self.attempts += 1
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(fd, data)

    def log(self, path: Path, limit: int = LIMIT) -> ReplicaLog:
        return ReplicaLog(
            str(path), limit, trouble=self.troubles.append, write=self.write, clock=lambda: self.time
        )


@pytest.fixture
def disk() -> Disk:
    return Disk()


def kept(path: Path) -> dict[int, bytes]:
    return {int(segment.stem): segment.read_bytes() for segment in sorted(path.iterdir())}


def test_who_has_printed_nothing_has_an_empty_log(tmp_path: Path, disk: Disk):
    disk.log(tmp_path / "logs" / "0")
    assert kept(tmp_path / "logs" / "0") == {}


def test_pieces_follow_each_other_across_segments(tmp_path: Path, disk: Disk):
    log = disk.log(tmp_path)
    whole = os.urandom(3 * SEGMENT + 5)
    for start in range(0, len(whole), 1000):
        log.add(whole[start : start + 1000])
    log.close()
    assert list(kept(tmp_path)) == [0, SEGMENT, 2 * SEGMENT, 3 * SEGMENT]
    assert b"".join(kept(tmp_path).values()) == whole


def test_beyond_the_limit_the_oldest_goes_and_offsets_go_on(tmp_path: Path, disk: Disk):
    log = disk.log(tmp_path)
    whole = os.urandom(20 * SEGMENT + 7)
    log.add(whole)
    log.close()
    segments = kept(tmp_path)
    assert sum(map(len, segments.values())) <= LIMIT
    first = min(segments)
    assert first == 13 * SEGMENT, "no more was thrown away than had to be"
    assert b"".join(segments.values()) == whole[first:]
    assert log.end == len(whole)


def test_at_no_moment_more_than_the_limit_lies_on_disk(tmp_path: Path, disk: Disk):
    log = disk.log(tmp_path)
    for _ in range(200):
        log.add(bytes(SEGMENT // 3))
        assert sum(map(len, kept(tmp_path).values())) <= LIMIT
    log.close()


def test_a_full_disk_drops_says_so_once_and_leaves_a_gap_that_is_known(tmp_path: Path, disk: Disk):
    log = disk.log(tmp_path)
    log.add(b"before")
    disk.full = True
    log.add(b"dropped")
    log.add(b"dropped too")
    disk.full = False
    disk.time += RETRY_SECONDS
    log.add(b"after")
    log.close()
    assert kept(tmp_path) == {0: b"before", len(b"beforedroppeddropped too"): b"after"}
    assert disk.troubles == ["output is dropped while it cannot be written: No space left on device"]


def test_a_full_disk_is_not_tried_with_every_line(tmp_path: Path, disk: Disk):
    log = disk.log(tmp_path)
    disk.full = True
    for _ in range(1000):
        log.add(b"line")
    log.close()
    assert disk.attempts == 1
    assert log.dropped == 4000


def test_a_directory_that_cannot_be_made_is_trouble_like_any_other(tmp_path: Path, disk: Disk):
    (tmp_path / "file").touch()
    log = disk.log(tmp_path / "file" / "logs")
    log.add(b"x")
    assert disk.troubles == ["output is dropped while it cannot be written: Not a directory"]
