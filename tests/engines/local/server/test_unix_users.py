"""Every workspace has one unix user for ever, and no second workspace gets it."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.server.unix_users import UnixUsers, UserSettings

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give workspaces users of their own")


def users_of(path: Path, run_as: str | None = None, **settings: object) -> UnixUsers:
    return UnixUsers(EngineDir(path), run_as, UserSettings(**settings))  # type: ignore[arg-type]


@needs_root
def test_workspaces_get_numbers_in_turn_and_keep_them(tmp_path: Path) -> None:
    users = users_of(tmp_path, range=(70_000, 70_002))
    assert [users.of(name).uid for name in ("a", "b", "a")] == [70_000, 70_001, 70_000]
    again = users_of(tmp_path, range=(70_000, 70_002))
    assert [again.of(name).uid for name in ("c", "b", "a")] == [70_002, 70_001, 70_000]


@needs_root
def test_a_range_that_is_used_up_is_an_error_and_says_what_to_do(tmp_path: Path) -> None:
    users = users_of(tmp_path, range=(70_000, 70_000))
    users.of("a")
    with pytest.raises(LookupError, match=r"widen users\.range"):
        users.of("b")


@needs_root
def test_a_user_that_the_machine_knows_is_not_given_away(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    assert users_of(tmp_path, range=(nobody, nobody + 1)).of("a").uid == nobody + 1


@needs_root
def test_a_mapped_workspace_has_its_fixed_user(tmp_path: Path) -> None:
    users = users_of(tmp_path, range=(70_000, 70_009), map={"vision": "nobody"})
    assert users.of("vision").name == "nobody"
    assert users.of("other").uid == 70_000
    assert users.shared_by_all == ""


def test_one_user_for_all_is_said_with_what_to_do(tmp_path: Path) -> None:
    assert "--user-range" in users_of(tmp_path, run_as="nobody").shared_by_all


def test_whoever_is_not_root_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "one team" in users_of(tmp_path).shared_by_all
    with pytest.raises(LookupError, match="only root"):
        users_of(tmp_path, range=(70_000, 70_009)).of("a")
