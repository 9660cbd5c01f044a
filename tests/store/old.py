"""Databases that older versions wrote, as SQLite files and in PostgreSQL; how they came about stands beside them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic import command
from sqlalchemy import inspect, select, text
from sqlalchemy.sql.dml import Insert

from quotatree.store.database import connect, parse_url, reading, writing
from quotatree.store.form import config, tables
from quotatree.store.migrate import migrate
from quotatree.store.tables import METADATA

DATABASES = Path(__file__).parent / "old_databases"


def fill(name: str, url: str, scratch: Path) -> None:
    """Make the database what an older version wrote, with its tables; what is there is dropped."""
    if url.startswith("sqlite:///"):
        file = Path(url.removeprefix("sqlite:///"))
        file.unlink(missing_ok=True)
        _write(name, file)
        return
    file = scratch / f"{name}.db"
    _write(name, file)
    _copy(file, url)


def bring_up_to_date(url: str) -> None:
    """Change the tables to those of this version, and nothing else: no books are mended."""
    engine = connect(parse_url(url))
    with writing(engine) as connection:
        migrate(connection)
    engine.dispose()


def _write(name: str, file: Path) -> None:
    with closing(sqlite3.connect(file)) as written:
        written.executescript((DATABASES / f"{name}.sql").read_text(encoding="utf-8"))


def _copy(file: Path, url: str) -> None:
    old, engine = connect(parse_url(str(file))), connect(parse_url(url))
    with reading(old) as source, writing(engine) as target:
        METADATA.drop_all(target)
        target.execute(text("DROP TABLE IF EXISTS alembic_version"))
        command.upgrade(config(target), tables(source).revision or "")
        there = inspect(source).get_table_names()
        for table in METADATA.sorted_tables:
            if table.name in there:
                columns = {column["name"] for column in inspect(source).get_columns(table.name)}
                rows = source.execute(select(*[c for c in table.c if c.name in columns])).mappings()
                for row in rows:
                    target.execute(Insert(table), dict(row))
    old.dispose()
    engine.dispose()
