"""A directory that the user of jobs cannot work in is refused at submit, tried out as that user."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quotatree.core import JobId, JobSpec, QuotaId, ReplicaGroup, Shape
from quotatree.engines.local.host import users
from quotatree.engines.local.server import workdir_check
from quotatree.engines.local.server.engine import LocalEngine
from quotatree.engines.local.server.workdir_check import WorkdirCheck

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
JOB = JobSpec(JobId("dlc-a"), QuotaId("q"), (ReplicaGroup(1, Shape(1000, 0, 0)),), 0)


@pytest.fixture
def place() -> Iterator[Path]:
    """Not pytest's own, through which nobody else can pass."""
    path = Path(tempfile.mkdtemp(prefix="quotatree-"))
    os.chmod(path, 0o755)
    yield path
    shutil.rmtree(path)


@as_root
def test_a_directory_is_tried_as_the_user_of_the_job(place: Path) -> None:
    nobody = users.find("nobody")
    for mode, allowed in ((0o755, True), (0o711, False), (0o744, False), (0o700, False)):
        (place / oct(mode)).mkdir()
        (place / oct(mode)).chmod(mode)
        assert (WorkdirCheck().why_not(nobody, str(place / oct(mode))) is None) is allowed, oct(mode)
    strange = place / "-a $(b) 'c'"
    strange.mkdir(0o755)
    assert WorkdirCheck().why_not(nobody, str(strange)) is None


@as_root
def test_whether_it_is_missing_or_closed_is_not_said_apart(place: Path) -> None:
    nobody, check = users.find("nobody"), WorkdirCheck()
    (place / "closed").mkdir(0o700)
    closed, missing = (str(check.why_not(nobody, str(place / name))) for name in ("closed", "missing"))
    assert closed.replace("closed", "missing") == missing
    assert "which run as nobody" in missing
    assert "chmod" in missing


@as_root
def test_the_engine_refuses_the_job_with_it(place: Path) -> None:
    engine = LocalEngine(place / "engine", run_as="nobody", limits=False)
    (place / "closed").mkdir(0o700)
    (place / "open").mkdir(0o755)
    said = engine.refuses(JOB, {"command": ["true"], "workdir": str(place / "closed")})
    assert "may not read and enter it" in str(said)
    assert engine.refuses(JOB, {"command": ["true"], "workdir": str(place / "open")}) is None
    assert "absolute path" in str(engine.refuses(JOB, {"command": ["true"], "workdir": "open"}))


@as_root
def test_an_answer_is_remembered_for_a_while(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody, check = users.find("nobody"), WorkdirCheck()
    tried: list[str] = []

    def well(user: users.User, workdir: str) -> bool:
        tried.append(workdir)
        return True

    monkeypatch.setattr(workdir_check, "_tried", well)
    for _ in range(3):
        assert check.why_not(nobody, str(place)) is None
    assert tried == [str(place)]
    monkeypatch.setattr(workdir_check, "KNOWN_SECONDS", 0.0)
    check.why_not(nobody, str(place))
    assert len(tried) == 2


def test_ones_own_directories_and_what_is_no_path_are_judged_elsewhere(tmp_path: Path) -> None:
    for workdir in (str(tmp_path / "missing"), "relative", None, 7, "/a\0b"):
        assert WorkdirCheck().why_not(users.find(None), workdir) is None
