"""Somebody's process."""

import os
import subprocess
from collections.abc import Iterator

import pytest


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "1000"], env={"QUOTATREE_MARK": f"e{os.getpid()}:a:1:0"}) as process:
        yield process
        process.kill()
