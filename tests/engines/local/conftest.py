"""Runs under a real supervisor, and the proof at the end of each that nothing of it is left on the machine."""

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import quotatree
from quotatree.engines.local.supervisor.nursery import Nursery
from tests.engines.local.supervised import Runs

SOURCE = str(Path(quotatree.__file__).parent.parent)

if not sys.platform.startswith("linux"):
    collect_ignore_glob = ["test_*.py", "*/test_*.py"]


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    made = Nursery(SOURCE)
    yield made
    made.close()


@pytest.fixture
def engine_directory() -> Iterator[Path]:
    """Not pytest's own: jobs of another user must be able to pass through it."""
    path = Path(tempfile.mkdtemp(prefix="quotatree-"))
    os.chmod(path, 0o711)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def runs(nursery: Nursery, engine_directory: Path) -> Iterator[Runs]:
    """With control groups where this machine permits them."""
    made = Runs(nursery, engine_directory, uuid.uuid4().hex[:8], limits=True)
    yield made
    made.close()


@pytest.fixture(params=["groups", "tree"])
def both_ways(nursery: Nursery, engine_directory: Path, request: pytest.FixtureRequest) -> Iterator[Runs]:
    """With control groups, and where there are none."""
    made = Runs(nursery, engine_directory, uuid.uuid4().hex[:8], limits=request.param == "groups")
    yield made
    made.close()
