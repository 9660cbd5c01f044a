"""Who may submit where, at which priority, and with which modules (W1, W4)."""

from dataclasses import replace

import pytest

from quotatree.access.centre import Ceiling
from quotatree.access.check import OnJob
from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.roles import Role
from quotatree.access.submitting import ceiling_of, check_priority, check_submit
from quotatree.core import JobId, JobRequest, Module
from quotatree.core.errors import Refused
from tests.access.teams import company, ruled


def asked(quota: str, module: Module, priority: int) -> JobRequest:
    return JobRequest(JobId(""), quota, (), 0, module, priority, workspace="vision")


DLC, DSW, EAS = Module.DLC, Module.DSW, Module.EAS


def test_a_job_names_a_quota_bound_to_its_workspace():
    check_submit(company(), "dina", asked("lab.vision", DLC, 9))
    with pytest.raises(Refused, match=r"not bound to vision; bound: lab.vision \[W1\]"):
        check_submit(company(), "dina", asked("lab.speech", DLC, 1))


def test_an_unbound_quota_is_refused_in_the_same_words_whether_it_exists_or_not():
    said = []
    for quota in ("lab.speech", "lab.nowhere"):
        with pytest.raises(Refused) as caught:
            check_submit(company(), "dina", asked(quota, DLC, 1))
        said.append(caught.value.message)
    assert said[0] == said[1]


def test_outsiders_cannot_submit_and_viewers_may_not():
    with pytest.raises(NotFound):
        check_submit(company(), "otis", asked("lab.vision", DLC, 1))
    with pytest.raises(Forbidden):
        check_submit(company(), "vera", asked("lab.vision", DLC, 1))


def test_only_allowed_modules_and_roles_submit():
    people = ruled(modules=frozenset({DLC, DSW}), roles=frozenset({Role.OPERATOR}))
    check_submit(people, "oto", asked("lab.vision", DSW, 1))
    with pytest.raises(Refused, match=r"only DLC, DSW \[W3\]"):
        check_submit(people, "oto", asked("lab.vision", EAS, 1))
    with pytest.raises(Forbidden, match=r"only these roles submit to lab\.vision: operator") as caught:
        check_submit(people, "dina", asked("lab.vision", DLC, 1))
    assert caught.value.needed == ("operator",)


def test_a_request_over_the_ceiling_is_refused_and_the_lowest_ceiling_counts():
    people = ruled(ceilings=(Ceiling("role:developer", 5), Ceiling("user:dina", 3), Ceiling("role:owner", 8)))
    check_submit(people, "dina", asked("lab.vision", DLC, 3))
    with pytest.raises(Refused, match=r"ceiling of dina for vision in lab.vision is 3 \[W4\]"):
        check_submit(people, "dina", asked("lab.vision", DLC, 4))
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
        check_submit(company(), "dina", asked("lab.vision", DLC, priority))
