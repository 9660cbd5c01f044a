"""When the disk is full jobs can still be cancelled, clients and the log are told, and all goes on once there is room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from quotatree.control.commands import values as do
from quotatree.control.errors import Unavailable
from quotatree.control.health import Mode
from quotatree.control.reserve import PIECES, Reserve
from quotatree.store import Store
from quotatree.store.errors import DiskFull
from tests.control.faulty_store import FaultyStore
from tests.control.kept_store import KeptStore
from tests.control.server import Server

PIECE = 128 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MiB."""
    path = tmp_path / "disk"
    path.mkdir()
    made = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(path)], check=False, capture_output=True
    )
    if not made or made.returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill(path: Path) -> None:
    """Write until the disk takes no more, to the last block."""
    with (path / "hog").open("ab", buffering=0) as file:
        for size in (65536, 4096, 512):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def submit_until_refused(server: Server) -> None:
    for _ in range(1000):  # until the log of the database needs another block
        server.submit(seconds=None, gpus=1, on_hold=True)


def test_on_a_full_disk_jobs_are_cancelled_and_everything_else_is_refused(small_disk: Path, tmp_path: Path):
    store = Store.open(str(small_disk / "quotatree.db"))
    store.migrate()
    server = Server(tmp_path, store)
    reserve = Reserve(small_disk, lambda: "dlc-hog with 7.0 GiB", PIECE)
    reserve.fill()
    assert reserve.left
    server.controller._reserve = reserve
    server.furnish()
    jobs = [server.submit(seconds=None, gpus=1) for _ in range(2)]
    fill(small_disk)
    with structlog.testing.capture_logs() as told, pytest.raises(Unavailable, match="disk is full"):
        submit_until_refused(server)
    assert server.mode() is Mode.DISK_FULL
    for job in jobs:
        server.do(do.CancelJob(actor="ann", job=job))
    with pytest.raises(Unavailable, match="disk is full"):
        server.submit(seconds=None)
    assert {server.store.job(job).phase for job in jobs} == {"Cancelled"}
    with reserve._looking:  # the search for the culprit is over
        pass
    (error,) = [line for line in told if line["event"] == "disk_full"]
    assert (error["log_level"], error["largest"]) == ("error", "dlc-hog with 7.0 GiB")

    (small_disk / "hog").unlink()
    server.pass_time(20)
    assert server.mode() is Mode.LEADING
    server.submit(seconds=None)
    store.close()


class FullDisk(FaultyStore):
    full = False

    def commit(self, batch: object) -> None:
        if self.full:
            raise DiskFull("database or disk is full")
        super().commit(batch)  # type: ignore[arg-type]


def test_without_a_reserve_a_stop_is_refused_like_the_rest(tmp_path: Path):
    store = FullDisk(KeptStore.fresh(tmp_path))
    server = Server(tmp_path, store).furnish()
    job = server.submit(seconds=None)
    store.full = True
    with pytest.raises(Unavailable, match="disk is full"):
        server.do(do.CancelJob(actor="ann", job=job))
    store.full = False
    server.pass_time(20)
    assert server.phase(job) == "Running"


def test_a_reserve_is_given_piece_by_piece_and_put_aside_again(tmp_path: Path):
    reserve = Reserve(tmp_path, piece_bytes=4096)
    reserve.fill()
    assert [reserve.give() for _ in range(PIECES + 1)] == [True] * PIECES + [False]
    reserve.fill()
    assert len(list(tmp_path.iterdir())) == PIECES
    assert all(path.stat().st_blocks * 512 >= 4096 for path in tmp_path.iterdir())
