"""What must not depend on the database asks for `kept`: it runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.control.kept_store import KeptStore
from tests.store.conftest import migrated_url, url

__all__ = ["kept", "migrated_url", "url"]


@pytest.fixture
def kept(migrated_url: str) -> Iterator[KeptStore]:
    found = KeptStore.at(migrated_url)
    yield found
    found.close()
