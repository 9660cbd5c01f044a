"""W1, W3, W4: bindings, the scheduling centre, ceilings and amounts; and what the directory itself refuses."""

from dataclasses import replace

import pytest

from quotatree.access.centre import Amount, Ceiling, Centre
from quotatree.access.check import OnJob
from quotatree.access.differences import Differences, differences
from quotatree.access.directory import Directory
from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.roles import Role
from quotatree.access.submitting import (
    amount_of,
    ceiling_of,
    check_priority,
    check_submit,
    limits_of,
    subjects_of,
)
from quotatree.access.values import Member, QuotaAdmin, SessionInfo, TokenInfo, User, Workspace
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.decisions import Start
from quotatree.core.errors import Refused
from quotatree.core.explanation import explain
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Module, Priorities
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from quotatree.core.state import State
from tests.access.teams import company

DLC, DSW, EAS = Module.DLC, Module.DSW, Module.EAS
GPUS = 1000


def ruled(*amounts: Amount, **rules) -> Directory:
    return company().with_centre(Centre("vision", "lab.vision", amounts=amounts, **rules))


# -- W1 ------------------------------------------------------------------------------------------------------------


def test_a_job_names_a_quota_bound_to_its_workspace():
    check_submit(company(), "dina", "vision", "lab.vision", DLC, 9)
    with pytest.raises(Refused, match=r"not bound to vision; bound: lab.vision \[W1\]"):
        check_submit(company(), "dina", "vision", "lab.speech", DLC, 1)


def test_an_unbound_quota_is_refused_in_the_same_words_whether_it_exists_or_not():
    said = []
    for quota in ("lab.speech", "lab.nowhere"):
        with pytest.raises(Refused) as caught:
            check_submit(company(), "dina", "vision", quota, DLC, 1)
        said.append(caught.value.message)
    assert said[0] == said[1]


def test_outsiders_cannot_submit_and_viewers_may_not():
    with pytest.raises(NotFound):
        check_submit(company(), "otis", "vision", "lab.vision", DLC, 1)
    with pytest.raises(Forbidden):
        check_submit(company(), "vera", "vision", "lab.vision", DLC, 1)


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


# -- W3 ------------------------------------------------------------------------------------------------------------


def test_the_strictest_amount_wins():
    """W3's own example: 100 GPUs at 1-7 and 10 GPUs at 7-9 limit a priority-7 job to 10."""
    people = ruled(
        Amount("role:developer", Priorities(1, 7), 100 * GPUS),
        Amount("role:developer", Priorities(7, 9), 10 * GPUS),
    )
    allowed = [amount_of(people, "dina", "vision", "lab.vision", p) for p in (1, 6, 7, 8, 9)]
    assert allowed == [100 * GPUS, 100 * GPUS, 10 * GPUS, 10 * GPUS, 10 * GPUS]
    assert amount_of(people, "oto", "vision", "lab.vision", 7) is None


def test_the_core_holds_the_strictest_amount():
    """The same example, told to the core: 8 GPUs at priority 7 start, 8 more wait, 8 at priority 6 start."""
    people = ruled(
        Amount("role:developer", Priorities(1, 7), 100 * GPUS),
        Amount("user:dina", Priorities(7, 9), 10 * GPUS),
    )
    state = State()
    events: list[ev.Event] = [ev.NodeJoined(NodeSpec(f"n{i}", "a100", "A100", 8, 1, 1)) for i in range(4)]
    drawn = (("a100", Bounds(32 * GPUS)),)
    events.append(ev.QuotaCreated(QuotaSpec(QuotaId("lab.vision"), draws=drawn)))
    events.append(ev.LimitsSet("lab.vision", limits_of(people, "lab.vision")))
    for name, priority in (("first", 7), ("second", 7), ("lower", 6)):
        subjects = subjects_of(people, "dina", "vision")
        groups = (ReplicaGroup(1, Shape(8 * GPUS, 0, 0)),)
        events.append(
            ev.JobSubmitted(
                JobSpec(JobId(name), "lab.vision", groups, 0, priority=priority, subjects=subjects)
            )
        )
    for event in events:
        apply(state, event, 0)
    started = [d.job for d in plan(state, 0).decisions if isinstance(d, Start)]
    assert started == ["first", "lower"]
    reasons = explain(state, JobId("second"), 0).reasons
    assert [dict(r.facts)["subject"] for r in reasons if r.code is Code.OverAmountLimit] == [
        "vision/user:dina"
    ]


def test_two_workspaces_on_one_quota_have_limits_of_their_own():
    people = company().bound("speech", "lab.vision").member_added("speech", "dina", Role.DEVELOPER)
    for workspace, gpus in (("vision", 4), ("speech", 6)):
        rules = (Amount("role:developer", Priorities(1, 9), gpus * GPUS),)
        people = people.with_centre(Centre(workspace, "lab.vision", amounts=rules))
    assert {limit.subject: limit.gpu_milli for limit in limits_of(people, "lab.vision")} == {
        "vision/role:developer": 4 * GPUS,
        "speech/role:developer": 6 * GPUS,
    }
    assert subjects_of(people, "dina", "speech") == ("speech/user:dina", "speech/role:developer")
    assert limits_of(people, "lab.speech") == ()


def test_two_amounts_for_the_same_range_count_once():
    people = ruled(
        Amount("role:developer", Priorities(1, 9), 8 * GPUS),
        Amount("role:developer", Priorities(1, 9), 2 * GPUS),
    )
    assert [limit.gpu_milli for limit in limits_of(people, "lab.vision")] == [2 * GPUS]


def test_only_allowed_modules_and_roles_submit():
    people = ruled(modules=frozenset({DLC, DSW}), roles=frozenset({Role.OPERATOR}))
    check_submit(people, "oto", "vision", "lab.vision", DSW, 1)
    with pytest.raises(Refused, match=r"only DLC, DSW \[W3\]"):
        check_submit(people, "oto", "vision", "lab.vision", EAS, 1)
    with pytest.raises(Forbidden, match=r"only these roles submit to lab\.vision: operator") as caught:
        check_submit(people, "dina", "vision", "lab.vision", DLC, 1)
    assert caught.value.needed == ("operator",)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"modules": frozenset()}, "modules"),
        ({"roles": frozenset()}, "roles"),
        ({"roles": frozenset({Role.VIEWER})}, "viewer"),
        ({"amounts": (Amount("ann", Priorities(1, 2), 1),)}, "role:<role> or user:<name>"),
        ({"amounts": (Amount("role:viewer", Priorities(1, 2), 1),)}, "no role that submits"),
        ({"amounts": (Amount("user:a/b", Priorities(1, 2), 1),)}, "letters"),
        ({"amounts": (Amount("role:developer", Priorities(3, 2), 1),)}, "ascending"),
        ({"amounts": (Amount("role:developer", Priorities(1, 2), -1),)}, "negative"),
        ({"ceilings": (Ceiling("role:developer", 10),)}, r"1\.\.9"),
        ({"longest_run_ms": 0}, "longest_run"),
        ({"longest_wait_ms": -1}, "longest_wait"),
    ],
)
def test_a_centre_that_makes_no_sense_is_refused(rules: dict, said: str):
    with pytest.raises(Refused, match=said):
        Centre("vision", "lab.vision", **rules)


def test_a_centre_needs_a_binding_and_members():
    with pytest.raises(Refused, match="not bound"):
        company().with_centre(Centre("vision", "ops"))
    with pytest.raises(Refused, match=r"user:otis.*not a member of vision"):
        ruled(Amount("user:otis", Priorities(1, 9), 1))


# -- W4 ------------------------------------------------------------------------------------------------------------


def test_a_request_over_the_ceiling_is_refused_and_the_lowest_ceiling_counts():
    people = ruled(ceilings=(Ceiling("role:developer", 5), Ceiling("user:dina", 3), Ceiling("role:owner", 8)))
    check_submit(people, "dina", "vision", "lab.vision", DLC, 3)
    with pytest.raises(Refused, match=r"ceiling of dina for vision in lab.vision is 3 \[W4\]"):
        check_submit(people, "dina", "vision", "lab.vision", DLC, 4)
    both = people.member_added("vision", "olga", Role.DEVELOPER)
    assert [ceiling_of(both, who, "vision", "lab.vision") for who in ("dina", "olga", "oto")] == [3, 5, 9]


def test_a_change_of_priority_meets_the_ceiling_of_him_who_asks():
    people = ruled(ceilings=(Ceiling("role:developer", 5),))
    job = OnJob("dlc-1", "vision", "dina")
    check_priority(people, "oto", job, "lab.vision", 9)
    check_priority(people, "dina", job, "lab.vision", 5)
    with pytest.raises(Refused, match="W4"):
        check_priority(people, "dina", job, "lab.vision", 6)
    with pytest.raises(Forbidden):
        check_priority(people, "dina", replace(job, owner="oto"), "lab.vision", 5)


@pytest.mark.parametrize("priority", [0, 10])
def test_priorities_are_1_to_9(priority: int):
    with pytest.raises(Refused, match=r"1\.\.9"):
        check_submit(company(), "dina", "vision", "lab.vision", DLC, priority)


# -- the directory ---------------------------------------------------------------------------------------------------


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


def test_hashes_stay_out_of_reprs():
    values = (
        User("a", password="SECRET"),
        TokenInfo("t", "a", "n", "SECRET", 0),
        SessionInfo("SECRET", "a", "SECRET", 0, 1),
    )
    assert all("SECRET" not in repr(value) for value in values)
