"""Workspaces in a server: their scheduling centre, and what binds them (W3, W4)."""

from dataclasses import replace
from pathlib import Path

import pytest

from quotatree.access.centre import Amount, Ceiling, Centre
from quotatree.access.directory import Directory
from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.roles import Role
from quotatree.access.values import SessionInfo, TokenInfo, User
from quotatree.control.commands import values as do
from quotatree.core.errors import Refused
from quotatree.core.model.policy import Module, Priorities
from quotatree.store.rows import JobRow
from tests.control.server import Server
from tests.control.told_engine import ToldEngine


def test_a_priority_above_the_ceiling_is_refused_and_an_amount_makes_wait(server: Server):
    centre = Centre(
        "vision", "a", ceilings=(Ceiling("role:developer", 3),),
        amounts=(Amount("user:ann", Priorities(1, 9), 2000),),
    )  # fmt: skip
    server.do(do.SetCentre(actor="root", centre=centre))
    with pytest.raises(Refused, match="W4"):
        server.submit(priority=4)
    first, second = server.submit(gpus=2), server.submit(gpus=1)
    assert (server.phase(first), server.phase(second)) == ("Running", "Waiting")
    assert {row.id: row.reason_code for row in server.store.table(JobRow)}[second] == "OverAmountLimit"
    server.kill()
    server.boot()
    assert server.phase(second) == "Waiting", "limits are part of what is kept"
    server.do(do.SetCentre(actor="root", centre=Centre("vision", "a")))
    assert server.phase(second) == "Running"


def test_a_module_or_role_that_is_not_allowed_is_refused(server: Server):
    centre = Centre("vision", "a", modules=frozenset({Module.DLC}), roles=frozenset({Role.OPERATOR}))
    server.do(do.SetCentre(actor="root", centre=centre))
    with pytest.raises(Refused, match="W3"):
        server.submit(actor="pat", module=Module.DSW)
    with pytest.raises(Forbidden):
        server.submit(actor="ann")
    server.submit(actor="pat")


def test_a_quota_with_active_jobs_cannot_be_unbound_nor_the_workspace_deleted(server: Server):
    server.submit()
    with pytest.raises(Refused, match="W1"):
        server.do(do.UnbindQuota(actor="root", workspace="vision", quota="a"))
    with pytest.raises(Refused, match="W1"):
        server.do(do.DeleteWorkspace(actor="root", workspace="vision"))


def test_directory_changes_survive_a_restart_and_a_failed_one_leaves_no_trace(server: Server):
    with pytest.raises(NotFound):
        server.do(do.AddMember(actor="root", workspace="vision", user="nobody", role=Role.VIEWER))
    server.do(do.AddMember(actor="root", workspace="vision", user="out", role=Role.VIEWER))
    server.do(do.MakeToken(actor="ann", token=TokenInfo("t1", "ann", "laptop", "hash", server.now_ms)))
    server.do(
        do.OpenSession(actor="ann", session=SessionInfo("c", "ann", "x", server.now_ms, server.now_ms + 9))
    )
    directory = server.world.directory
    server.kill()
    server.boot()
    assert server.world.directory == directory
    with pytest.raises(NotFound):
        server.do(do.RevokeToken(actor="pat", token="t1"))
    server.do(do.RevokeToken(actor="ann", token="t1"))
    assert not server.world.directory.tokens["t1"].valid(server.now_ms)


def test_sessions_that_have_expired_are_dropped_when_another_is_opened(server: Server):
    until_ms = server.now_ms + 9
    server.do(do.OpenSession(actor="ann", session=SessionInfo("old", "ann", "x", server.now_ms, until_ms)))
    server.pass_time(1)
    server.do(
        do.OpenSession(actor="ann", session=SessionInfo("new", "ann", "x", server.now_ms, server.now_ms + 9))
    )
    assert list(server.world.directory.sessions) == ["new"]


def test_whoever_makes_a_second_workspace_is_told_if_jobs_are_not_kept_apart(tmp_path: Path):
    engine = ToldEngine()
    engine.capabilities = replace(engine.capabilities, one_team="all jobs run as one user")
    server = Server(tmp_path, engine=engine)
    server.do(do.EditDirectory(actor="(server)", action="test", change=_with_admin))
    first = server.do(do.CreateWorkspace(actor="root", workspace="one", owners=("root",)))
    second = server.do(do.CreateWorkspace(actor="root", workspace="two", owners=("root",)))
    assert (first.notice, second.notice) == ("", "all jobs run as one user")


def _with_admin(directory: Directory) -> tuple[Directory, str]:
    return directory.with_user(User("root", platform_admin=True)), "root"
