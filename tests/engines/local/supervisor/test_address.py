"""Is a port given to one program only, though the program listens a while after it was told?"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quotatree.engines.local.supervisor import address
from quotatree.engines.local.supervisor.address import Kept, Ports


@pytest.fixture
def supervisors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Ports]]:
    """Supervisors who choose among four ports, so that they meet."""
    ports = [Ports(str(tmp_path / "ports")) for _ in range(8)]
    lowest = ports[0].choose()
    ports[0].release(lowest)
    monkeypatch.setattr(address, "LOWEST_PORT", lowest)
    monkeypatch.setattr(address, "first_outgoing_port", lambda: lowest + 4)
    yield ports
    for each in ports:
        each.close()


def in_range(ports: list[int]) -> list[int]:
    return [port for port in ports if port < address.first_outgoing_port()]


def test_supervisors_never_choose_the_same_port(supervisors: list[Ports]):
    chosen = in_range([each.choose() for each in supervisors])
    assert chosen, "none was free: the test shows nothing"
    assert len(chosen) == len(set(chosen))


def test_a_port_that_was_released_is_chosen_again(supervisors: list[Ports]):
    one, other, *_ = supervisors
    port = one.choose()
    assert port not in [other.choose() for _ in range(4)]
    one.release(port)
    other.open(port, address.listen).close()


def test_the_port_of_a_stopped_notebook_changes_if_another_was_given_it(
    tmp_path: Path, supervisors: list[Ports]
):
    kept, told = Kept(str(tmp_path / "service.json")), list[str]()
    one, other, *_ = supervisors
    kept.port = port = other.choose()
    assert address.port_for(one, kept, None, told.append) != port
    assert str(port) in told[0]


@pytest.mark.parametrize("opening", [address.bind, address.listen])
def test_a_port_is_not_held_if_another_program_listens_there(supervisors: list[Ports], opening: Any):
    ports = supervisors[0]
    with socket.create_server((address.HOST, 0)) as taken:
        with pytest.raises(OSError, match="in use"):
            ports.open(taken.getsockname()[1], opening)
        port = taken.getsockname()[1]
    ports.open(port, opening).close()  # nothing of the failed attempt is left


def test_a_held_port_is_told_to_nobody(supervisors: list[Ports], tmp_path: Path):
    """A job that could read which port another's notebook is about to open would open it first."""
    port = supervisors[0].choose()
    sockets = Path("/proc/net/unix").read_text(errors="replace").splitlines()
    names = " ".join(" ".join(line.split()[7:]) for line in sockets)
    assert str(port) not in names
    assert (tmp_path / "ports").stat().st_mode & 0o077 == 0
    with address.bind(0) as bound:
        assert f":{bound.getsockname()[1]:04X} " not in Path("/proc/net/tcp").read_text()


def test_a_port_is_free_again_when_released_though_a_child_has_the_lock_open(supervisors: list[Ports]):
    one, other, *_ = supervisors
    port = one.choose()
    child = os.fork()
    if child == 0:
        signal.pause()
    one.release(port)
    try:
        other.open(port, address.listen).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
