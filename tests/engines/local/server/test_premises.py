"""May jobs run here, and as whom? Never as root unless told so; never where their user cannot go."""

import os
import sys
from pathlib import Path

import pytest

from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.engines.local.server.premises import Premises

SPEC = JobSpec(JobId("a"), "q", (ReplicaGroup(1, Shape(1000, 0, 0)),), 0)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be told to run as somebody else")


@as_root
def test_root_runs_nothing_until_a_user_is_named(tmp_path: Path):
    engine = LocalEngine(tmp_path / "engine")
    refused = engine.refuses(SPEC, {"command": ["true"]})
    assert refused is not None
    assert "--run-as USER" in refused
    assert engine.notices == (refused,)
    assert LocalEngine(tmp_path / "engine", run_as="root").refuses(SPEC, {"command": ["true"]}) is None


def test_a_user_that_does_not_exist_is_named(tmp_path: Path):
    assert "no user nobody-of-this-name" in (Premises(tmp_path, "nobody-of-this-name").refusal or "")


@as_root
def test_a_directory_that_the_user_cannot_reach_is_refused_by_name(tmp_path: Path):
    tmp_path.chmod(0o700)
    refused = Premises(tmp_path / "engine", "nobody").refusal
    assert refused is not None
    barred = next(str(p) for p in reversed([tmp_path, *tmp_path.parents]) if not p.stat().st_mode & 0o001)
    assert f"{barred} lets nobody pass" in refused


def test_elsewhere_than_on_linux_it_says_so(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "Linux only" in (Premises(tmp_path, None).refusal or "")


def test_an_engine_keeps_its_name_and_lets_others_pass_but_not_look(tmp_path: Path):
    old = os.umask(0o077)
    try:
        first = Premises(tmp_path / "engine", None)
        first.prepare()
        assert Premises(tmp_path / "engine", None).engine_id == first.engine_id
        assert (tmp_path / "engine").stat().st_mode & 0o777 == 0o711
    finally:
        os.umask(old)


def test_a_bad_program_is_refused_by_the_engine_too(tmp_path: Path):
    engine = LocalEngine(tmp_path / "engine", run_as="root" if os.geteuid() == 0 else None)
    assert "program.command: missing" in (engine.refuses(SPEC, {}) or "")
