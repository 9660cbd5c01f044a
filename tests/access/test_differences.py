"""What a commit must write is exactly what differs."""

from quotatree.access.differences import Differences, differences
from quotatree.access.roles import Role
from quotatree.access.values import QuotaAdmin, SessionInfo, TokenInfo, User
from tests.access.teams import company, ruled


def test_differences_are_exactly_what_a_commit_must_write():
    before = ruled(longest_run_ms=5).with_session(SessionInfo("s", "dina", "c", 0, 1))
    assert differences(before, before) == Differences()
    after = (
        before.with_user(User("zoe"))
        .member_added("speech", "zoe", Role.VIEWER)
        .unbound("vision", "lab.vision")
        .without_quota_admin("quentin", "lab")
        .with_quota_admin("olga", "ops")
        .with_token(TokenInfo("t", "zoe", "laptop", "hash", 0))
        .without_sessions(["s"])
    )
    found = differences(before, after)
    assert [user.name for user in found.users] == ["zoe"]
    assert {w.id for w in found.workspaces} == {"speech", "vision"}
    assert found.centres_gone == (("vision", "lab.vision"),)
    assert found.quota_admins == (QuotaAdmin("olga", "ops"),)
    assert found.quota_admins_gone == (QuotaAdmin("quentin", "lab"),)
    assert [token.id for token in found.tokens] == ["t"]
    assert found.sessions_gone == ("s",)
    assert differences(before, before.without_workspace("speech")).workspaces_gone == ("speech",)
    assert [c.version for c in differences(company(), before).centres] == [1]
