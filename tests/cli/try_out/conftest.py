"""The story of `story.py` as a file."""

from pathlib import Path

import pytest

from tests.cli.try_out.story import WORLD


@pytest.fixture
def world(tmp_path: Path) -> str:
    path = tmp_path / "world.toml"
    path.write_text(WORLD, encoding="utf-8")
    return str(path)
