"""Whether the user of jobs can run Python is tried out, and what is missing is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from quotatree.engines.local.host import users
from quotatree.engines.local.server import python_check


def test_a_machine_without_python_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(python_check, "PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert "cannot run Python" in python_check.why_no_python(users.find(None))


def test_a_python_that_is_there_by_one_name_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "python3").chmod(0o755)
    monkeypatch.setattr(python_check, "PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "x"))
    assert "finds `python3` and no `python`" in python_check.why_no_python(users.find(None))
