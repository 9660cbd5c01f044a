"""Who may write? One server at a time: it holds the lease, and every commit checks that it still does.

The lease has an epoch that rises whenever it is taken. A server that was paused, and comes back after another one has
taken over, fails at its next commit, whatever its clock says (A7). It fails as well where the tables are not those of its own
version any more. This table itself never changes its form, so that servers of different versions agree on who writes.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, insert, select, update

from quotatree.store.errors import LeaseLost, StoreConflict
from quotatree.store.form import check as check_form
from quotatree.store.form import is_ours
from quotatree.store.tables import LEASE

ONE: Final = 1


def take(connection: Connection, holder: str, now_ms: int, ttl_ms: int) -> int | None:
    """Take the lease; return its new epoch, or None while another holder has it. Taking it again starts a new epoch."""
    row = connection.execute(select(LEASE).with_for_update()).mappings().first()
    if row is None:
        connection.execute(
            insert(LEASE).values(id=ONE, holder=holder, epoch=1, until_ms=now_ms + ttl_ms, batch=0)
        )
        return 1
    if row["holder"] not in ("", holder) and row["until_ms"] > now_ms:
        return None
    epoch: int = row["epoch"] + 1
    connection.execute(update(LEASE).values(holder=holder, epoch=epoch, until_ms=now_ms + ttl_ms))
    return epoch


def renew(connection: Connection, holder: str, epoch: int, now_ms: int, ttl_ms: int) -> bool:
    """Renew the lease; False if (holder, epoch) does not have it any more. Raises NotMigrated as `fence` does."""
    mine = (LEASE.c.holder == holder) & (LEASE.c.epoch == epoch)
    if connection.execute(update(LEASE).where(mine, is_ours()).values(until_ms=now_ms + ttl_ms)).rowcount:
        return True
    check_form(connection)
    return False


def release(connection: Connection, holder: str, epoch: int) -> None:
    """Give the lease back, so that the next server need not wait until it ends."""
    mine = (LEASE.c.holder == holder) & (LEASE.c.epoch == epoch)
    connection.execute(update(LEASE).where(mine).values(holder="", until_ms=0))


def holder(connection: Connection) -> str:
    """Who has the lease, or had it last; "" if nobody did or it was given back."""
    return connection.execute(select(LEASE.c.holder)).scalar() or ""


def fence(connection: Connection, holder: str, epoch: int, number: int) -> None:
    """Raise LeaseLost unless (holder, epoch) has the lease, and StoreConflict unless the number follows the last batch.

    NotMigrated, or NewerTables, tells that the tables are not those of this version. The lease's row stays locked until the commit, so no other server takes the lease meanwhile.
    """
    mine = (LEASE.c.holder == holder) & (LEASE.c.epoch == epoch)
    follows = LEASE.c.batch == number - 1
    if connection.execute(update(LEASE).where(mine, follows, is_ours()).values(batch=number)).rowcount == 1:
        return
    check_form(connection)
    row = connection.execute(select(LEASE)).mappings().first()
    if row is not None and row["holder"] == holder and row["epoch"] == epoch:
        raise StoreConflict(f"batch {number} does not follow batch {row['batch']}, the last one in the store")
    now = "nobody" if row is None or not row["holder"] else f"{row['holder']} (epoch {row['epoch']})"
    raise LeaseLost(f"{holder} (epoch {epoch}) is not the writer any more; {now} is")


def hold(connection: Connection, holder: str, epoch: int) -> None:
    """Lock the lease until the end of the transaction. Raises LeaseLost unless (holder, epoch) has it."""
    row = connection.execute(select(LEASE).with_for_update()).mappings().first()
    if row is None or row["holder"] != holder or row["epoch"] != epoch:
        raise LeaseLost(f"{holder} (epoch {epoch}) is not the writer any more")


def check(connection: Connection, holder: str, epoch: int) -> None:
    """Raise LeaseLost unless (holder, epoch) has the lease now. It is not locked, so a commit never waits for this."""
    row = connection.execute(select(LEASE)).mappings().first()
    if row is None or row["holder"] != holder or row["epoch"] != epoch:
        raise LeaseLost(f"{holder} (epoch {epoch}) is not the writer any more")
