"""Which form the tables have is told by the migration that made them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from quotatree.store import Store
from quotatree.store.database import reading, writing
from quotatree.store.errors import NewerTables
from quotatree.store.form import Form, Step, Tables, newest, steps, tables
from tests.store.old import fill


def test_a_form_is_missing_older_ours_or_newer(url: str, migrated_url: str, tmp_path: Path) -> None:
    ours = Store.open(migrated_url)
    assert ours.tables() == Tables(Form.OURS, newest())
    with writing(ours._engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'x'"))
    with reading(ours._engine) as connection:
        assert tables(connection) == Tables(Form.NEWER, "x")
    with pytest.raises(NewerTables, match="use that version, or restore an older backup"):
        ours.tables()
    ours.close()
    fill("of_b97389c", url, tmp_path)
    older = Store.open(url)
    assert older.tables() == Tables(Form.OLDER, "0002", steps()[2:])
    older.close()


def test_a_database_without_tables_has_all_steps_before_it(tmp_path: Path) -> None:
    empty = Store.open(str(tmp_path / "empty.db"))
    assert empty.tables() == Tables(Form.MISSING, None, steps())
    assert steps()[2] == Step("0003", "Figures of quotas over time")
    empty.close()
