"""Every test that asks for `store` or `url` runs twice: on an SQLite file and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from quotatree.store import Store
from tests.store import postgres
from tests.store.building import migrated_file

NUMBERS = count(1)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables on SQLite, with empty tables on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
        return
    home = request.getfixturevalue("postgres_home")
    name = f"test_{next(NUMBERS)}"
    yield postgres.create(home, name, postgres.TEMPLATE)
    postgres.drop(home, name)


@pytest.fixture
def migrated_url(url: str) -> str:
    """The same with empty tables on either, migrated once for all tests of a process."""
    if url.startswith("sqlite:///"):
        Path(url.removeprefix("sqlite:///")).write_bytes(migrated_file())
    return url


@pytest.fixture
def store(migrated_url: str) -> Iterator[Store]:
    found = Store.open(migrated_url)
    yield found
    found.close()
