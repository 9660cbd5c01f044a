"""What the directory of users, workspaces and bindings keeps, and what it refuses (W1, W3)."""

import pytest

from quotatree.access.centre import Amount, Centre
from quotatree.access.errors import NotFound
from quotatree.access.roles import Role
from quotatree.access.values import Member, QuotaAdmin, SessionInfo, TokenInfo, User, Workspace
from quotatree.core.errors import Refused
from quotatree.core.model.policy import Priorities
from tests.access.teams import company, ruled


def test_unbinding_with_active_jobs_is_refused():
    with pytest.raises(Refused, match=r"active jobs there: dlc-1 \[W1\]"):
        company().unbound("vision", "lab.vision", ["dlc-1"])
    with pytest.raises(Refused, match="not bound"):
        company().unbound("vision", "ops")
    assert company().unbound("vision", "lab.vision").workspace("vision").quotas == ()


def test_the_centre_goes_with_its_binding():
    again = ruled(longest_run_ms=5).unbound("vision", "lab.vision").bound("vision", "lab.vision")
    assert again.centre("vision", "lab.vision").longest_run_ms is None


def test_a_workspace_with_active_jobs_stays():
    with pytest.raises(Refused, match="dlc-1"):
        company().without_workspace("vision", ["dlc-1"])
    gone = ruled(longest_run_ms=5).without_workspace("vision")
    assert "vision" not in gone.workspaces
    assert gone.centres == {}


def test_a_centre_needs_a_binding_and_members():
    with pytest.raises(Refused, match="not bound"):
        company().with_centre(Centre("vision", "ops"))
    with pytest.raises(Refused, match=r"user:otis.*not a member of vision"):
        ruled(Amount("user:otis", Priorities(1, 9), 1))


def test_every_change_is_a_new_version_of_one_thing_and_leaves_the_old_directory_alone():
    before = company()
    after = before.member_added("vision", "nick", Role.VIEWER)
    assert after.workspace("vision").version == before.workspace("vision").version + 1
    assert before.workspace("vision").roles_of("nick") == ()
    assert after.workspace("speech") is before.workspace("speech")
    assert after.member_added("vision", "nick", Role.VIEWER) is after
    assert after.bound("vision", "lab.vision") is after
    assert after.with_user(User("nick", "Nick")).user("nick").version == 2


def test_the_last_owner_and_the_last_platform_admin_stay():
    with pytest.raises(Refused, match="last owner of vision"):
        company().member_removed("vision", "olga")
    two = company().member_added("vision", "adam", Role.OWNER)
    assert two.member_removed("vision", "olga").workspace("vision").roles_of("olga") == ()
    for last in (User("ruth"), User("ruth", platform_admin=True, disabled=True)):
        with pytest.raises(Refused, match="last platform admin"):
            company().with_user(last)


def test_what_is_not_there_is_not_found():
    for change in (
        lambda d: d.member_removed("vision", "nick"),
        lambda d: d.member_added("vision", "nobody", Role.VIEWER),
        lambda d: d.with_workspace("new", owners=["nobody"]),
        lambda d: d.with_quota_admin("nobody", "lab"),
        lambda d: d.without_quota_admin("olga", "lab"),
        lambda d: d.token_revoked("t", 1),
    ):
        with pytest.raises(NotFound):
            change(company())


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "a/b", "a:b", "ä", "a" * 64, "a\n"])
def test_names_are_plain(name: str):
    with pytest.raises(Refused, match=r"letters, digits.* \[E1\]"):
        User(name)
    with pytest.raises(Refused, match=r"letters, digits.* \[E1\]"):
        company().with_workspace(name)


def test_a_workspace_name_is_taken_once_and_platform_roles_are_no_members():
    with pytest.raises(Refused, match="taken"):
        company().with_workspace("vision")
    with pytest.raises(Refused, match="not a role in a workspace"):
        Workspace("w", members=(Member("ann", Role.PLATFORM_ADMIN),))


def test_a_deleted_quota_leaves_no_admin_behind():
    with pytest.raises(Refused, match="bound to workspaces: vision"):
        company().without_quota("lab.vision")
    assert QuotaAdmin("quentin", "lab") not in company().without_quota("lab").quota_admins


def test_a_disabled_user_is_signed_out():
    signed_in = company().with_session(SessionInfo("h", "dina", "c", 0, 10))
    assert signed_in.with_user(User("dina", disabled=True)).sessions == {}
    assert signed_in.with_user(User("dina", "Dina")).sessions != {}


def test_a_revoked_token_keeps_its_first_time():
    people = company().with_token(TokenInfo("t", "dina", "laptop", "hash", 0, expires_ms=100))
    assert people.tokens["t"].valid(99)
    assert not people.tokens["t"].valid(100)
    assert people.token_revoked("t", 7).token_revoked("t", 8).tokens["t"].revoked_ms == 7
    assert not people.token_revoked("t", 7).tokens["t"].valid(9)


def test_hashes_stay_out_of_reprs():
    values = (
        User("a", password="SECRET"),
        TokenInfo("t", "a", "n", "SECRET", 0),
        SessionInfo("SECRET", "a", "SECRET", 0, 1),
    )
    assert all("SECRET" not in repr(value) for value in values)
