"""A server that is furnished; jobs are tested on both kinds of store."""

from pathlib import Path

import pytest

from tests.control.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path).furnish()
