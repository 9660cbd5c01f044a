"""A local engine with real processes, and the proof at the end of each test that nothing of it is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.local.harness import LocalHarness


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalHarness]:
    harness = LocalHarness(tmp_path / "engine")
    yield harness
    harness.close()
