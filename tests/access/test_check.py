"""W2: every action on every kind of target by every role, in the own and in the other workspace, answer by answer."""

import itertools
from dataclasses import replace

import pytest

from quotatree.access.check import (
    PLATFORM,
    OnBinding,
    OnJob,
    OnQuota,
    OnUser,
    OnWorkspace,
    Target,
    check,
    check_role_given,
    check_token,
    may,
    named_quotas,
    path_of,
    visible_quotas,
    visible_users,
    visible_workspaces,
    workspaces_with_visible_jobs,
)
from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.roles import TABLE, WORKSPACE_ROLES, Action, Role, TargetKind
from quotatree.access.values import TokenInfo, User
from tests.access.teams import PEOPLE, TREE, company

TARGETS: dict[str, Target] = {
    "platform": PLATFORM,
    "root": OnQuota(("root",)),
    "lab": OnQuota(("lab", "root")),
    "lab.vision": OnQuota(("lab.vision", "lab", "root")),
    "lab.speech": OnQuota(("lab.speech", "lab", "root")),
    "ops": OnQuota(("ops", "root")),
    "vision+lab.vision": OnBinding("vision", ("lab.vision", "lab", "root")),
    "speech+lab.speech": OnBinding("speech", ("lab.speech", "lab", "root")),
    "speech+lab.vision": OnBinding("speech", ("lab.vision", "lab", "root")),
    "vision+ops": OnBinding("vision", ("ops", "root")),
    "vision": OnWorkspace("vision"),
    "speech": OnWorkspace("speech"),
    "job-of-dina": OnJob("dlc-1", "vision", "dina"),
    "job-of-oto": OnJob("dlc-2", "vision", "oto"),
    "job-of-otis": OnJob("dlc-3", "speech", "otis"),
    "dina": OnUser("dina"),
}

# What everybody is answered: yes, 403 (may see it, but not this), 404 (an outsider). Written by hand, not computed.
EXPECTED = """
actions                                       target             ruth quentin olga adam oto  dina vera otis nick

see-pools                                     platform           yes  yes     yes  yes  yes  yes  yes  yes  yes
see-nodes                                     platform           yes  yes     403  403  403  403  403  403  403
manage-nodes create-root-quota                platform           yes  403     403  403  403  403  403  403  403
create-workspace manage-users                 platform           yes  403     403  403  403  403  403  403  403
see-audit see-metrics operate name-priorities platform           yes  403     403  403  403  403  403  403  403

see-quota see-ledger                          root               yes  404     404  404  404  404  404  404  404
see-quota see-ledger                          lab                yes  yes     404  404  404  404  404  404  404
see-quota see-ledger                          lab.vision         yes  yes     yes  yes  yes  yes  yes  404  404
see-quota see-ledger                          lab.speech         yes  yes     404  404  404  404  404  yes  404
see-quota see-ledger                          ops                yes  404     404  404  404  404  404  404  404

see-quota-admins create-child-quota           root               yes  404     404  404  404  404  404  404  404
see-quota-admins create-child-quota           lab                yes  yes     404  404  404  404  404  404  404
see-quota-admins create-child-quota           lab.vision         yes  yes     403  403  403  403  403  404  404
see-quota-admins create-child-quota           lab.speech         yes  yes     404  404  404  404  404  403  404
see-quota-admins create-child-quota           ops                yes  404     404  404  404  404  404  404  404
return-loan simulate                          root               yes  404     404  404  404  404  404  404  404
return-loan simulate                          lab                yes  yes     404  404  404  404  404  404  404
return-loan simulate                          lab.vision         yes  yes     403  403  403  403  403  404  404
return-loan simulate                          lab.speech         yes  yes     404  404  404  404  404  403  404
return-loan simulate                          ops                yes  404     404  404  404  404  404  404  404

scale-quota update-quota                      root               yes  404     404  404  404  404  404  404  404
scale-quota update-quota                      lab                yes  403     404  404  404  404  404  404  404
scale-quota update-quota                      lab.vision         yes  yes     403  403  403  403  403  404  404
scale-quota update-quota                      lab.speech         yes  yes     404  404  404  404  404  403  404
scale-quota update-quota                      ops                yes  404     404  404  404  404  404  404  404
delete-quota appoint-quota-admin              root               yes  404     404  404  404  404  404  404  404
delete-quota appoint-quota-admin              lab                yes  403     404  404  404  404  404  404  404
delete-quota appoint-quota-admin              lab.vision         yes  yes     403  403  403  403  403  404  404
delete-quota appoint-quota-admin              lab.speech         yes  yes     404  404  404  404  404  403  404
delete-quota appoint-quota-admin              ops                yes  404     404  404  404  404  404  404  404

bind-quota                                    vision+lab.vision  yes  yes     403  403  403  403  403  404  404
bind-quota                                    speech+lab.speech  yes  yes     404  404  404  404  404  403  404
bind-quota                                    speech+lab.vision  yes  404     404  404  404  404  404  404  404
bind-quota                                    vision+ops         yes  404     404  404  404  404  404  404  404
unbind-quota                                  vision+lab.vision  yes  yes     yes  403  403  403  403  404  404
unbind-quota                                  speech+lab.speech  yes  yes     404  404  404  404  404  yes  404
unbind-quota                                  speech+lab.vision  yes  404     404  404  404  404  404  404  404
unbind-quota                                  vision+ops         yes  404     404  404  404  404  404  404  404

see-workspace                                 vision             yes  404     yes  yes  yes  yes  yes  404  404
see-workspace                                 speech             yes  404     404  404  404  404  404  yes  404
submit-job                                    vision             yes  404     yes  yes  yes  yes  403  404  404
submit-job                                    speech             yes  404     404  404  404  404  404  yes  404
see-workspace-audit update-workspace          vision             yes  404     yes  yes  403  403  403  404  404
see-workspace-audit update-workspace          speech             yes  404     404  404  404  404  404  yes  404
manage-members set-centre manage-webhooks     vision             yes  404     yes  yes  403  403  403  404  404
manage-members set-centre manage-webhooks     speech             yes  404     404  404  404  404  404  yes  404
manage-owners delete-workspace                vision             yes  404     yes  403  403  403  403  404  404
manage-owners delete-workspace                speech             yes  404     404  404  404  404  404  yes  404

see-job explain-job see-exposure              job-of-dina        yes  404     yes  yes  yes  yes  yes  404  404
see-job explain-job see-exposure              job-of-oto         yes  404     yes  yes  yes  yes  yes  404  404
see-job explain-job see-exposure              job-of-otis        yes  404     404  404  404  404  404  yes  404
see-endpoint                                  job-of-dina        yes  404     yes  yes  yes  yes  yes  404  404
see-endpoint                                  job-of-oto         yes  404     yes  yes  yes  yes  yes  404  404
see-endpoint                                  job-of-otis        yes  404     404  404  404  404  404  yes  404
see-logs open-job stop-job                    job-of-dina        yes  404     yes  yes  yes  yes  403  404  404
see-logs open-job stop-job                    job-of-oto         yes  404     yes  yes  yes  403  403  404  404
see-logs open-job stop-job                    job-of-otis        yes  404     404  404  404  404  404  yes  404
cancel-job hold-job resize-job restart-job    job-of-dina        yes  404     yes  yes  yes  yes  403  404  404
cancel-job hold-job resize-job restart-job    job-of-oto         yes  404     yes  yes  yes  403  403  404  404
cancel-job hold-job resize-job restart-job    job-of-otis        yes  404     404  404  404  404  404  yes  404
set-priority checkpoint-job                   job-of-dina        yes  404     yes  yes  yes  yes  403  404  404
set-priority checkpoint-job                   job-of-oto         yes  404     yes  yes  yes  403  403  404  404
set-priority checkpoint-job                   job-of-otis        yes  404     404  404  404  404  404  yes  404

see-user update-user change-password          dina               yes  404     404  404  404  yes  404  404  404
see-tokens manage-tokens                      dina               yes  404     404  404  404  yes  404  404  404
"""


def rows() -> list[tuple[str, str, dict[str, str]]]:
    lines = [line.split() for line in EXPECTED.splitlines() if line.strip()]
    assert tuple(lines[0][2:]) == PEOPLE
    found = []
    for line in lines[1:]:
        answers = dict(zip(PEOPLE, line[-len(PEOPLE) :], strict=True))
        *actions, target = line[: -len(PEOPLE)]
        found += [(action, target, answers) for action in actions]
    return found


@pytest.mark.parametrize(("action", "target", "answers"), rows())
def test_everybody_is_answered_as_written(action: str, target: str, answers: dict[str, str]):
    assert {person: answer(person, Action(action), TARGETS[target]) for person in PEOPLE} == answers


def test_the_table_of_answers_has_every_action_on_every_target_of_its_kind():
    wanted = {
        (action.value, name)
        for action, (name, target) in itertools.product(Action, TARGETS.items())
        if TABLE[action].kind is target.kind
    }
    written = [(action, target) for action, target, _ in rows()]
    assert set(written) == wanted
    assert len(written) == len(wanted)


def answer(actor: str, action: Action, target: Target) -> str:
    try:
        check(company(), actor, action, target)
    except NotFound:
        assert not may(company(), actor, action, target)
        return "404"
    except Forbidden:
        assert not may(company(), actor, action, target)
        return "403"
    assert may(company(), actor, action, target)
    return "yes"


def test_an_outsider_reads_the_same_words_as_for_something_that_does_not_exist():
    with pytest.raises(NotFound) as hidden:
        check(company(), "otis", Action.SEE_WORKSPACE, OnWorkspace("vision"))
    with pytest.raises(NotFound) as missing:
        check(company().without_workspace("vision"), "otis", Action.SEE_WORKSPACE, OnWorkspace("vision"))
    assert str(hidden.value) == str(missing.value) == "no workspace 'vision'"
    with pytest.raises(NotFound) as hidden:
        check(company(), "otis", Action.SCALE_QUOTA, OnQuota(path_of("lab", TREE)))
    with pytest.raises(NotFound) as missing:
        path_of("lab", {})
    assert str(hidden.value) == str(missing.value)


def test_forbidden_names_the_roles_that_have_the_right():
    with pytest.raises(Forbidden, match="platform-admin, owner, admin") as caught:
        check(company(), "oto", Action.SET_CENTRE, OnWorkspace("vision"))
    assert caught.value.needed == ("platform-admin", "owner", "admin")


def test_a_user_with_several_roles_may_what_any_of_them_may():
    both = company().member_added("vision", "vera", Role.DEVELOPER)
    assert may(both, "vera", Action.SUBMIT_JOB, OnWorkspace("vision"))
    assert may(both, "vera", Action.SEE_WORKSPACE, OnWorkspace("vision"))
    again = both.member_removed("vision", "vera", Role.DEVELOPER)
    assert not may(again, "vera", Action.SUBMIT_JOB, OnWorkspace("vision"))


def test_a_disabled_user_may_nothing():
    disabled = company().with_user(User("olga", disabled=True))
    for action, target in itertools.product(Action, TARGETS.values()):
        if TABLE[action].kind is target.kind:
            assert not may(disabled, "olga", action, target)


@pytest.mark.parametrize("role", WORKSPACE_ROLES)
def test_an_admin_gives_roles_below_his_own_and_an_owner_gives_every_role(role: Role):
    check_role_given(company(), "olga", "vision", role)
    if role in (Role.OWNER, Role.ADMIN):
        with pytest.raises(Forbidden):
            check_role_given(company(), "adam", "vision", role)
    else:
        check_role_given(company(), "adam", "vision", role)


def test_a_quota_admin_scales_quotas_below_their_own_and_never_their_own():
    check(company(), "quentin", Action.SCALE_QUOTA, TARGETS["lab.vision"])
    with pytest.raises(Forbidden, match="below"):
        check(company(), "quentin", Action.SCALE_QUOTA, TARGETS["lab"])
    with pytest.raises(NotFound):
        check(company(), "quentin", Action.SCALE_QUOTA, TARGETS["ops"])


def test_a_read_only_token_reads_and_nothing_more():
    token = TokenInfo("a", "ruth", "dashboard", "hash", 0, read_only=True)
    for action in Action:
        if action.value.split("-")[0] in ("see", "explain"):
            check_token(token, action)
        else:
            with pytest.raises(Forbidden, match="read-only"):
                check_token(token, action)


def test_what_each_of_them_sees():
    people = company()
    assert visible_workspaces(people, "ruth") == {"vision", "speech"}
    assert visible_workspaces(people, "vera") == {"vision"}
    assert visible_workspaces(people, "quentin") == frozenset()
    assert visible_quotas(people, "ruth", TREE) == set(TREE)
    assert visible_quotas(people, "quentin", TREE) == {"lab", "lab.vision", "lab.speech"}
    assert visible_quotas(people, "vera", TREE) == {"lab.vision"}
    assert named_quotas(people, "vera", TREE) == {"lab.vision", "lab", "root"}
    assert named_quotas(people, "nick", TREE) == frozenset()
    assert visible_users(people, "otis") == {"otis"}
    assert visible_users(people, "dina") == {"olga", "adam", "oto", "dina", "vera"}
    assert visible_users(people, "ruth") == set(PEOPLE)


@pytest.mark.parametrize("actor", [*PEOPLE, "nobody"])
@pytest.mark.parametrize("disabled", [False, True])
def test_what_one_sees_in_all_is_what_one_sees_one_by_one(actor: str, disabled: bool):
    people = company().with_user(User("second", platform_admin=True)).bound("vision", "deleted")
    if disabled and actor != "nobody":
        people = people.with_user(replace(people.user(actor), disabled=True))
    quotas = {q for q in TREE if may(people, actor, Action.SEE_QUOTA, OnQuota(path_of(q, TREE)))}
    assert visible_quotas(people, actor, TREE) == quotas
    names = people.workspaces
    assert visible_workspaces(people, actor) == {
        w for w in names if may(people, actor, Action.SEE_WORKSPACE, OnWorkspace(w))
    }
    assert workspaces_with_visible_jobs(people, actor) == {
        w for w in names if may(people, actor, Action.SEE_JOB, OnJob("j", w, "x"))
    }


def test_an_action_is_only_asked_of_the_kind_of_thing_it_is_done_to():
    with pytest.raises(ValueError, match="see-job is done to a job"):
        may(company(), "ruth", Action.SEE_JOB, PLATFORM)


def test_every_action_has_a_row_and_the_platform_admin_has_every_right():
    assert set(TABLE) == set(Action)
    assert {row.kind for row in TABLE.values()} == set(TargetKind)
    assert all(Role.PLATFORM_ADMIN in row.needed for row in TABLE.values())
