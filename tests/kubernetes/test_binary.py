"""Where is the control plane's program, and what does one read where it cannot be made?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests import go_program
from tests.kubernetes import binary

CONTROL_PLANE = binary.PROGRAMS["controlplane"]


def test_without_go_the_message_says_what_to_install_and_what_works_without(
    monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.setenv("PATH", "/nowhere")
    assert binary.main([]) == 1
    said = capsys.readouterr().err
    assert "Install Go 1.26" in said
    assert "make test" in said


def test_an_old_go_is_told_apart_from_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys):
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho 'go.mod requires go >= 1.26.0 (running go 1.19)' >&2\nexit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert binary.main([]) == 1
    assert "running go 1.19" in capsys.readouterr().err


def test_the_program_is_the_one_of_this_source_and_this_go(tmp_path: Path):
    for name in (*go_program.MODULE_FILES, "main.go"):
        (tmp_path / name).write_bytes((binary.SOURCE / name).read_bytes())
    here = CONTROL_PLANE.key("go1.26.8 linux/amd64")
    assert here != CONTROL_PLANE.key("go1.26.9 linux/amd64")
    copied = replace(CONTROL_PLANE, module=tmp_path)
    assert copied.key("go1.26.8 linux/amd64") == here
    (tmp_path / "main.go").write_text("package main")
    assert copied.key("go1.26.8 linux/amd64") != here


def test_what_is_in_the_cache_is_not_built_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv(go_program.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(go_program.GoProgram, "_build", lambda program, go, target: target.write_text("made"))
    made = binary.program()
    assert made.read_text() == "made"
    monkeypatch.setattr(go_program.GoProgram, "_build", lambda *_: pytest.fail("built twice"))
    assert binary.program() == made
