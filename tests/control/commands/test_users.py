"""Nobody gives themselves rights."""

import pytest

from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.values import User
from quotatree.control.commands import values as do
from quotatree.store.rows import AuditRow
from tests.control.server import Server


def test_nobody_makes_himself_a_platform_admin(server: Server):
    with pytest.raises((Forbidden, NotFound)):
        server.do(do.PutUser(actor="ann", user=User("ann", platform_admin=True)))
    server.do(do.PutUser(actor="ann", user=User("ann", display="Ann")))
    assert server.world.directory.user("ann").display == "Ann"
    server.do(do.SetPassword(actor="ann", user="ann", password_hash="argon2…"))
    assert "argon2" not in str([row.body for row in server.store.table(AuditRow)])
