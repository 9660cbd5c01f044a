"""What a page is told to be allowed is what a request would be allowed, for everybody and everything (W2)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.access.allowed import Allowed
from quotatree.access.check import (
    PLATFORM,
    OnBinding,
    OnJob,
    OnQuota,
    OnWorkspace,
    Target,
    may,
    path_of,
)
from quotatree.access.directory import Directory
from quotatree.access.roles import TABLE, Action, TargetKind
from quotatree.access.values import TokenInfo
from tests.access.teams import PEOPLE, TREE, company


def allowed_one_by_one(directory: Directory, actor: str, target: Target) -> set[str]:
    return {
        action.value
        for action in Action
        if TABLE[action].kind is target.kind and may(directory, actor, action, target)
    }


def without_bindings(actions: list[str]) -> set[str]:
    return {one for one in actions if TABLE[Action(one)].kind is not TargetKind.BINDING}


def directories() -> list[Directory]:
    several = company().with_quota_admin("dina", "lab.vision").with_quota_admin("vera", "root")
    several = several.bound("vision", "lab.speech").bound("speech", "lab")
    dina = several.user("dina")
    return [company(), several, several.with_user(replace(dina, disabled=True))]


@pytest.mark.parametrize("actor", PEOPLE)
def test_it_is_what_each_request_would_be_allowed(actor: str):
    for directory in directories():
        found = Allowed(directory, actor)
        assert set(found.on_platform()) == allowed_one_by_one(directory, actor, PLATFORM)
        for quota in TREE:
            path = path_of(quota, TREE)
            assert without_bindings(found.on_quota(path)) == allowed_one_by_one(
                directory, actor, OnQuota(path)
            )
        for workspace in ("vision", "speech", "nowhere"):
            there = OnWorkspace(workspace)
            assert without_bindings(found.on_workspace(workspace)) == allowed_one_by_one(
                directory, actor, there
            )
            for owner in PEOPLE:
                job = OnJob("dlc-1", workspace, owner)
                assert set(found.on_job(workspace, owner)) == allowed_one_by_one(directory, actor, job)


@pytest.mark.parametrize("actor", PEOPLE)
def test_a_binding_that_a_request_may_change_is_never_left_out(actor: str):
    for directory in directories():
        found = Allowed(directory, actor)
        for quota in TREE:
            path = path_of(quota, TREE)
            for workspace in ("vision", "speech"):
                both = set(found.on_quota(path)) | set(found.on_workspace(workspace))
                for action in (Action.BIND_QUOTA, Action.UNBIND_QUOTA):
                    if may(directory, actor, action, OnBinding(workspace, path)):
                        assert action.value in both


def test_a_read_only_token_is_allowed_reads_only():
    token = TokenInfo("t", "ruth", "", "", 0, read_only=True)
    found = Allowed(company(), "ruth", token)
    told = (
        *found.on_platform(), *found.on_quota(("root",)), *found.on_workspace("vision"),
        *found.on_job("vision", "ruth"),
    )  # fmt: skip
    assert told
    assert all(Action(one).reads for one in told)
