"""A restore that fails or is killed leaves what was there: nothing, or the database as it was."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from quotatree.store import Store
from quotatree.store import backup as backups
from quotatree.store.errors import NotEmpty, StoreUnavailable
from quotatree.store.new_file import written_beside
from tests.store.building import HOLDER, jobs_batch, writer
from tests.store.test_backup import SIZE, check_whole, content

ROOT = Path(__file__).resolve().parents[2]


def restore_and_stand_still(url: str, path: str) -> None:
    """Run in a process of its own: restore, say so when the decisions are copied, and wait there to be killed."""
    from quotatree.cli.run.data import opened_store

    copy = backups._copy_rows

    def copied(source, target, table) -> None:
        copy(source, target, table)
        if table.name == "decisions":
            os.write(1, b"half\n")
            sys.stdin.read()

    backups._copy_rows = copied
    with opened_store(url, beside=True) as store:
        store.restore(Path(path), 0, force=True)


def kill_half_way(url: str, backup: Path) -> None:
    program = (
        "import sys; from tests.store.test_new_file import restore_and_stand_still as r; r(*sys.argv[1:])"
    )
    restoring = subprocess.Popen(
        [sys.executable, "-c", program, url, str(backup)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert restoring.stdout is not None
    assert restoring.stdout.readline() == b"half\n"
    restoring.kill()
    restoring.communicate()


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of one batch."""
    store = Store.open(str(tmp_path / "first.db"))
    store.migrate()
    store.commit(jobs_batch(writer(store), 1, SIZE))
    store.backup(tmp_path / "backup", 5)
    store.close()
    return tmp_path / "backup"


def test_a_restore_into_a_new_file_that_is_killed_leaves_no_database(backup: Path, tmp_path: Path) -> None:
    new = tmp_path / "new" / "store.db"
    kill_half_way(str(new), backup)
    assert not new.exists()
    with written_beside(str(new)) as there:
        store = Store.open(there)
        store.restore(backup, 0)
        store.close()
    assert [path.name for path in new.parent.iterdir()] == ["store.db"], "what was left beside is gone"
    assert new.stat().st_mode & 0o777 == 0o600
    store = Store.open(str(new))
    assert check_whole(store) == 1
    store.close()


def test_a_forced_restore_that_is_killed_leaves_the_database_as_it_was(
    store: Store, url: str, backup: Path
) -> None:
    epoch = writer(store)
    for number in (1, 2, 3):
        store.commit(jobs_batch(epoch, number, SIZE))
    before = content(store)
    kill_half_way(url, backup)
    assert content(store) == before
    store.commit(jobs_batch(epoch, 4, SIZE))
    assert store.lease_holder() == HOLDER


def fill(file: Path, *, meanwhile: bool) -> None:
    with written_beside(str(file)) as there:
        if meanwhile:
            Store.open(there).close()
            file.write_text("of another restore")
        else:
            Path(there).write_text("no database, and long enough to be looked at" * 100)


def test_a_file_that_came_to_be_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(NotEmpty, match="meanwhile"):
        fill(tmp_path / "store.db", meanwhile=True)
    assert (tmp_path / "store.db").read_text() == "of another restore"


def test_two_restores_at_once_do_not_write_the_same_file(tmp_path: Path) -> None:
    """Each took away what the other was writing, and an empty database came to be, with a word of success."""
    file = tmp_path / "store.db"
    with written_beside(str(file)) as there:
        with (
            pytest.raises(StoreUnavailable, match="another restore is writing there"),
            written_beside(str(file)),
        ):
            pass
        store = Store.open(there)
        store.migrate()
        store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]
    assert file.stat().st_size > 0


def test_a_database_may_be_named_by_a_link_to_where_nothing_is_yet(backup: Path, tmp_path: Path) -> None:
    disk, link = tmp_path / "disk", tmp_path / "store.db"
    disk.mkdir()
    link.symlink_to(disk / "store.db")
    with written_beside(str(link)) as there:
        store = Store.open(there)
        store.restore(backup, 0)
        store.close()
    assert link.is_symlink()
    assert (disk / "store.db").stat().st_size > 0


def test_a_place_where_nothing_can_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that is mounted to be read only, where even what is not there cannot be removed."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    for name in ("open", "unlink"):
        monkeypatch.setattr(os, name, refused)
    with (
        pytest.raises(StoreUnavailable, match="Read-only file system"),
        written_beside(str(tmp_path / "store.db")),
    ):
        pass


def test_what_cannot_be_read_again_does_not_appear(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"store\.db: file is not a database"):
        fill(tmp_path / "store.db", meanwhile=False)
    assert list(tmp_path.iterdir()) == []
