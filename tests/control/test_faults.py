"""What must hold when something breaks: a failed commit, a lost answer, a lost lease, a command that cannot be done (A6)."""

from pathlib import Path

import pytest

from quotatree.control.errors import Unavailable
from quotatree.control.loop import Mode
from quotatree.store.rows import JobRow
from tests.control.faulty_store import FaultyStore
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission
from tests.engines.contract import replicas_running


@pytest.fixture
def server(tmp_path: Path, kept: KeptStore) -> Server:
    return Server(tmp_path, FaultyStore(kept)).furnish()


def test_while_the_store_is_away_commands_are_refused_reads_work_and_it_heals_by_itself(server: Server):
    server.submit(seconds=30)
    server.store.away = True
    with pytest.raises(Unavailable):
        server.submit()
    assert server.mode() is Mode.STORE_AWAY
    assert len(server.world.state.jobs) == 1
    server.pass_time(31)
    assert server.mode() is Mode.STORE_AWAY
    (row,) = server.store.table(JobRow)
    assert row.phase == "Running", "the end could not be written yet"
    server.store.away = False
    server.pass_time(11)
    assert server.mode() is Mode.LEADING
    (row,) = server.store.table(JobRow)
    assert row.phase == "Succeeded", "the report was kept"
    server.submit()


def test_a_commit_whose_answer_got_lost_is_found_to_be_in(server: Server):
    """The store is there again a moment later: it is asked, and the client hears what was done."""
    server.store.lose_answers = 1
    submit = submission(key="k1")
    answer = server.do(submit)
    assert server.mode() is Mode.LEADING
    assert [row.id for row in server.store.table(JobRow)] == [answer.id]
    assert replicas_running(server.engine) == {(answer.id, 1): (0,)}
    assert server.do(submit).repeated


def test_a_commit_in_doubt_is_said_to_be_and_found_later(server: Server):
    """Nobody answers whether it was in: neither "done" nor "nothing was changed" would be true."""
    server.store.lose_answers, server.store.then_away = 1, True
    submit = submission(key="k1")
    with pytest.raises(Unavailable, match="not known whether"):
        server.do(submit)
    with pytest.raises(Unavailable, match="read only"):
        server.do(submit)
    server.store.away = False
    server.pass_time(1)
    answer = server.do(submit)
    assert answer.repeated, "the client repeats its request and hears what was done"
    assert len(server.store.table(JobRow)) == 1
    assert replicas_running(server.engine) == {(answer.id, 1): (0,)}, "started by recovery"


def test_a_store_that_answers_and_takes_no_commit_is_away_until_one_is_in(server: Server):
    """A disk that is full: reads work, and the lease's row may still fit. Ready is who has written, not who hopes to."""
    server.store.fail_commits = 10_000
    with pytest.raises(Unavailable):
        server.submit()
    for _ in range(10):
        server.pass_time(3)
        assert server.mode() is Mode.STORE_AWAY
    assert 9_980 < server.store.fail_commits < 10_000, "it tries, and less and less often"
    server.store.fail_commits = 0
    server.pass_time(11)
    assert server.mode() is Mode.LEADING, "nobody had to write anything"
    server.submit()


def test_a_report_that_does_not_fit_keeps_the_server_away_although_less_would(server: Server):
    """An empty commit passes; what waits does not. No moment of it is called ready, and the pauses grow."""
    job = server.submit(seconds=5)
    server.store.most_rows = 0
    server.pass_time(6)
    modes = set()
    for _ in range(5):
        server.pass_time(11)
        modes.add(server.mode())
    assert modes == {Mode.STORE_AWAY}
    assert server.phase(job) == "Running"
    server.store.most_rows = None
    server.pass_time(11)
    assert (server.mode(), server.phase(job)) == (Mode.LEADING, "Succeeded")


def test_who_lost_the_lease_writes_nothing_and_stands_by(server: Server):
    job = server.submit(seconds=None)
    server.now_ms += 20_000
    assert server.store.take_lease("other", server.now_ms, 15_000) is not None
    with pytest.raises(Unavailable, match="standing by"):
        server.submit()
    assert server.mode() is Mode.STANDBY
    assert [row.id for row in server.store.table(JobRow)] == [job]
    server.pass_time(60)
    assert server.mode() is Mode.LEADING, "the other one is gone"
    server.submit()


def test_a_commit_with_an_old_epoch_is_refused_by_the_store(server: Server):
    server.submit(seconds=None)
    server.store.take_lease(f"server-{server.boots}", server.now_ms, 15_000)  # a second server of that name
    with pytest.raises(Unavailable):
        server.submit()
    assert len(server.store.table(JobRow)) == 1
