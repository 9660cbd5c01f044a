"""Programs of Prometheus for the tests that need them; without Go these are skipped and say what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.go_program import GoMissing, GoProgram


def built(program: GoProgram) -> Path:
    try:
        return program.path()
    except GoMissing as problem:
        pytest.skip(str(problem))
