"""Lines two processes tell each other by, torn by crashes and full disks."""

import resource
import signal
from pathlib import Path

import pytest

from quotatree.engines.local.files import journal
from quotatree.engines.local.files.journal import Journal


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "journal")


def test_a_reader_goes_on_where_it_stopped(path: str):
    assert journal.read(path) == ([], 0)
    journal.append(path, {"n": 1})
    first, offset = journal.read(path)
    journal.append(path, {"n": 2})
    assert first == [{"n": 1}]
    assert journal.read(path, offset)[0] == [{"n": 2}]


def test_half_a_line_is_not_read_until_it_is_whole(path: str):
    journal.append(path, {"n": 1})
    with open(path, "ab") as file:
        file.write(b'{"n":')
    entries, offset = journal.read(path)
    assert entries == [{"n": 1}]
    with open(path, "ab") as file:
        file.write(b"2}\n")
    assert journal.read(path, offset)[0] == [{"n": 2}]


def test_what_a_crash_tore_off_costs_only_itself(path: str):
    journal.append(path, {"n": 1})
    with open(path, "ab") as file:
        file.write(b'{"n":2,"te')
    journal.append(path, {"n": 3})
    assert journal.read(path)[0] == [{"n": 1}, {"n": 3}]


def test_without_room_lines_wait_in_order_and_no_half_is_left(path: str):
    """The kernel's own limit stands for the full disk: it too writes the part that fits."""
    written = Journal(path)
    assert written.add({"is": "first"})
    size = Path(path).stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5, limits[1]))
    try:
        assert not written.add({"is": "second"})
        assert not written.add({"is": "third"})
        assert Path(path).stat().st_size == size
        assert written.behind
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert written.catch_up()
    written.close()
    assert [entry["is"] for entry in journal.read(path)[0]] == ["first", "second", "third"]
