"""A namespace submits as an account of its own."""

from __future__ import annotations

import pytest

from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.core.errors import Refused
from quotatree.kubernetes_edge.accounts import account_of, is_account, with_account, workspace_of


def test_an_account_is_made_once_as_a_developer():
    directory = Directory().with_workspace("v")
    made, name = with_account(directory, "v", "team")
    assert name == "v.team"
    assert made.workspaces["v"].roles_of(name) == (Role.DEVELOPER,)
    assert is_account(made.users[name])
    assert with_account(made, "v", "team")[0] is made


def test_an_account_is_a_developer_again_when_its_workspace_is_made_again():
    made, name = with_account(Directory().with_workspace("v").with_workspace("v2"), "v", "team")
    again = made.without_workspace("v").with_workspace("v")
    assert again.workspaces["v"].roles_of(name) == (Role.DEVELOPER,)
    assert made.without_workspace("v2").with_workspace("v2").workspaces["v2"].members == ()


def test_a_user_of_that_name_is_not_taken_for_the_account():
    directory = Directory().with_workspace("v").with_user(User("v.team"))
    with pytest.raises(Refused, match="rename"):
        with_account(directory, "v", "team")
    assert not is_account(directory.users["v.team"])


def test_long_names_stay_names_and_differ():
    one, other = account_of("w" * 40, "n" * 62 + "a"), account_of("w" * 40, "n" * 62 + "b")
    assert len(one) == len(other) == 63
    assert one != other


@pytest.mark.parametrize(
    ("name", "labels", "meant"),
    [("quotatree-v", {}, "v"), ("team", {"quotatree.io/workspace": "v"}, "v"), ("team", {}, ""), ("quotatree-v", {"quotatree.io/workspace": "w"}, "w")],
)  # fmt: skip
def test_a_namespace_belongs_to_a_workspace_by_label_or_name(name: str, labels: dict[str, str], meant: str):
    assert workspace_of({"metadata": {"name": name, "labels": labels}}, "quotatree-") == meant
