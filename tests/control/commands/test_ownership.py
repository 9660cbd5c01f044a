"""A tree belongs to the API or to resources, and the other side is told so (E6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quotatree.control.commands import values as do
from quotatree.control.commands.ownership import OWNER_LABEL, owner_of
from quotatree.control.world import RESOURCES
from quotatree.core.errors import Refused
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.store.rows import QuotaRow
from tests.control.server import Server

ROOT = "quotas.quotatree.io/team"


def child(name: str, parent: str = "team", **more: object) -> QuotaSpec:
    return QuotaSpec(QuotaId(name), QuotaId(parent), Bounds(0), **more)  # type: ignore[arg-type]


@pytest.fixture
def owned(server: Server) -> Server:
    """The tree `team` with `a` and `b` belongs to resources; `a` has one of its own."""
    server.do(do.OwnQuota(actor=RESOURCES, quota="team", owner=ROOT))
    server.do(do.OwnQuota(actor=RESOURCES, quota="a", owner="quotas.quotatree.io/a"))
    return server


def changes(server: Server, actor: str) -> list[do.Command]:
    a = server.world.quota("a").spec
    return [
        do.CreateQuota(actor=actor, spec=child("a1", "a")),
        do.UpdateQuota(actor=actor, spec=replace(a, description="ours")),
        do.ScaleQuota(actor=actor, quota="a", min=Bounds(2000)),
        do.TransferQuota(actor=actor, source="a", target="b", amount=Bounds(1000)),
        do.DeleteQuota(actor=actor, quota="a"),
    ]


@pytest.mark.parametrize("number", range(5))
def test_the_api_may_change_no_quota_that_a_resource_declares(owned: Server, number: int):
    with pytest.raises(Refused, match=r"quotas\.quotatree\.io/a.*E6"):
        owned.do(changes(owned, "root")[number])


def test_a_quota_without_a_resource_of_its_own_is_told_that_of_its_root(owned: Server):
    with pytest.raises(Refused, match=ROOT):
        owned.do(do.ScaleQuota(actor="root", quota="b", min=Bounds(2000)))


@pytest.mark.parametrize("number", range(5))
def test_a_resource_may_change_no_quota_of_a_tree_of_the_api(server: Server, number: int):
    with pytest.raises(Refused, match=r"belongs to the API.*E6"):
        server.do(changes(server, RESOURCES)[number])


def test_a_resource_changes_its_own_tree(owned: Server):
    owned.do(do.ScaleQuota(actor=RESOURCES, quota="a", min=Bounds(2000)))
    owned.do(do.CreateQuota(actor=RESOURCES, spec=child("c", labels=((OWNER_LABEL, "quotas/c"),))))
    assert owner_of(owned.world.quota("c")) == "quotas/c"


def test_nobody_else_says_who_owns_a_quota(server: Server):
    spec = server.world.quota("a").spec
    said = ((OWNER_LABEL, "me"),)
    for command in (
        do.OwnQuota(actor="root", quota="a", owner="me"),
        do.UpdateQuota(actor="root", spec=replace(spec, labels=said)),
        do.CreateQuota(actor="root", spec=child("c", labels=said)),
    ):
        with pytest.raises(Refused, match="E6"):
            server.do(command)


def test_a_tree_that_is_given_back_belongs_to_the_api_again(owned: Server):
    owned.do(do.OwnQuota(actor=RESOURCES, quota="team", owner=""))
    owned.do(do.ScaleQuota(actor="root", quota="a", min=Bounds(2000)))
    owned.do(do.UpdateQuota(actor="root", spec=replace(owned.world.quota("a").spec, description="ours")))


def test_who_owns_a_tree_outlives_the_server(owned: Server):
    owned.kill()
    owned.boot()
    with pytest.raises(Refused, match="E6"):
        owned.do(do.DeleteQuota(actor="root", quota="a"))
    assert {row.id for row in owned.store.table(QuotaRow)} == {"team", "a", "b"}
