"""The scheduling centre of a workspace: amounts, and what makes no sense (W3)."""

import pytest

from quotatree.access.centre import Amount, Ceiling, Centre
from quotatree.access.roles import Role
from quotatree.access.submitting import limits_of, subjects_of
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.decisions import Start
from quotatree.core.errors import Refused
from quotatree.core.explanation import explain
from quotatree.core.model.job import JobId, JobSpec, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec
from quotatree.core.model.policy import Priorities
from quotatree.core.model.quota import QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds
from quotatree.core.planning.plan import plan
from quotatree.core.reasons import Code
from quotatree.core.state import State
from tests.access.teams import company, ruled

GPUS = 1000


def test_the_core_holds_the_strictest_amount():
    """W3's own example, 100 GPUs at 1-7 and 10 GPUs at 7-9: 8 GPUs at priority 7 start, 8 more wait, 8 at priority 6 start."""
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
