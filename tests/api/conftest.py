"""Servers for tests. With QUOTATREE_TEST_STORE=postgresql all of them keep their state in a real PostgreSQL."""

import os
from collections.abc import Iterator
from itertools import count

import pytest

from tests.api.serving import Api, serving
from tests.store import postgres

NUMBERS = count(1)
STORE = os.environ.get("QUOTATREE_TEST_STORE", "sqlite")


def make(request: pytest.FixtureRequest, tmp: pytest.TempPathFactory, store: str = STORE) -> Iterator[Api]:
    url = None
    if store == "postgresql":
        home = request.getfixturevalue("postgres_home")
        url = postgres.create(home, f"api_{next(NUMBERS)}", postgres.TEMPLATE)
    with serving(tmp.mktemp("api"), url=url) as made:
        yield made


@pytest.fixture(scope="module")
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One server for a whole module; its tests must leave users, quotas and workspaces as they were."""
    yield from make(request, tmp_path_factory)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def on_both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The same, on each kind of store."""
    yield from make(request, tmp_path_factory, request.param)


@pytest.fixture
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    yield from make(request, tmp_path_factory)
