"""Quotas are changed by version, transferred and deleted in a server (Q5, Q6)."""

from dataclasses import replace

import pytest

from quotatree.access.errors import Forbidden, NotFound
from quotatree.control.commands import values as do
from quotatree.control.errors import Conflict
from quotatree.core.errors import Refused
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.store.rows import AuditRow, QuotaRow
from tests.control.server import Server


def test_of_two_writers_of_a_quota_the_second_gets_a_conflict(server: Server):
    version = {row.id: row.version for row in server.store.table(QuotaRow)}["a"]
    first = server.do(do.ScaleQuota(actor="root", quota="a", min=Bounds(2000), if_match=version))
    assert first.version == version + 1
    with pytest.raises(Conflict, match=f"version {version + 1}, not {version}"):
        server.do(do.ScaleQuota(actor="root", quota="a", min=Bounds(3000), if_match=version))
    assert server.world.state.quotas[QuotaId("a")].min[0] == 2000


def test_capacity_is_transferred_and_a_full_quota_is_not_deleted(server: Server):
    server.do(do.TransferQuota(actor="root", source="a", target="b", amount=Bounds(1000)))
    assert [server.world.state.quotas[QuotaId(q)].min[0] for q in "ab"] == [3000, 5000]
    server.submit(quota="b")
    with pytest.raises(Refused, match="Q6"):
        server.do(do.DeleteQuota(actor="root", quota="b"))
    server.do(do.UnbindQuota(actor="root", workspace="vision", quota="a"))
    server.do(do.DeleteQuota(actor="root", quota="a"))
    assert {row.id for row in server.store.table(QuotaRow)} == {"team", "b"}


@pytest.mark.parametrize(("source", "target"), [("a1", "b"), ("b", "a1")])
def test_a_transfer_needs_the_right_to_scale_both_quotas(server: Server, source: str, target: str):
    server.do(do.CreateQuota(actor="root", spec=QuotaSpec(QuotaId("a1"), QuotaId("a"), Bounds(1000))))
    server.do(do.AppointQuotaAdmin(actor="root", user="ann", quota="a"))
    server.do(do.ScaleQuota(actor="ann", quota="a1", min=Bounds(2000)))
    with pytest.raises((Forbidden, NotFound)):
        server.do(do.TransferQuota(actor="ann", source=source, target=target, amount=Bounds(1000)))
    assert [server.world.state.quotas[QuotaId(q)].min[0] for q in ("a1", "b")] == [2000, 4000]


def test_a_change_that_changes_nothing_makes_no_version_and_no_history(server: Server):
    quota = server.world.state.quotas[QuotaId("a")]
    version = {row.id: row.version for row in server.store.table(QuotaRow)}["a"]
    audited = len(server.store.table(AuditRow))
    for same in (
        do.UpdateQuota(actor="root", spec=quota.spec),
        do.ScaleQuota(actor="root", quota="a", min=Bounds(*quota.min)),
    ):
        assert server.do(same).version == version
    assert len(server.store.table(AuditRow)) == audited
    changed = server.do(do.UpdateQuota(actor="root", spec=replace(quota.spec, description="new")))
    assert changed.version == version + 1
