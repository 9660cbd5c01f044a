"""Names of priorities in scenario files (W6)."""

from __future__ import annotations

import pytest

from quotatree.core import Priorities
from quotatree.core.events import JobAdopted, JobSubmitted, QuotaCreated
from quotatree.scenario.errors import RuleBroken, ScenarioError
from quotatree.scenario.load import read_scenario

NAMED = """
title = "names"
priority_names = { production = 8, nightly = 2 }
[[nodes]]
name = "n"
[[quotas]]
id = "q"
gpus = 8
self_level = { high = "production-9", low = "1-nightly" }
child_level = { priorities = "nightly" }
[[running]]
id = "low"
quota = "q"
gpus = 8
priority = "nightly"
[[at]]
time = "1m"
submit = { id = "high", quota = "q", gpus = 8, priority = "production" }
[[at]]
time = "2m"
priority = { job = "high", priority = "nightly" }
"""


def test_a_name_may_stand_wherever_a_priority_does_w6() -> None:
    scenario = read_scenario(NAMED, "named.toml")
    assert scenario.priority_names == {"production": 8, "nightly": 2}
    events = [one.event for one in scenario.setup]
    (quota,) = [event.quota for event in events if isinstance(event, QuotaCreated)]
    assert (quota.self_level[0].high, quota.self_level[0].low) == (Priorities(8, 9), Priorities(1, 2))
    assert quota.child_level is not None
    assert quota.child_level.priorities == Priorities(2, 2)
    assert [event.job.priority for event in events if isinstance(event, JobAdopted | JobSubmitted)] == [2]
    assert scenario.timeline[1].label == "priority of high to 2"


def test_an_unknown_name_is_refused_with_those_there_are_w6() -> None:
    with pytest.raises(RuleBroken, match=r"named.toml: priority = 'urgent': no such priority; .* production"):
        read_scenario(NAMED.replace('"production" }', '"urgent" }'), "named.toml")


@pytest.mark.parametrize("declared", ["{ production = 10 }", "{ 8 = 8 }", '"production"'])
def test_what_is_no_table_of_names_is_refused_w6(declared: str) -> None:
    with pytest.raises(ScenarioError, match="priorit"):
        read_scenario(f"priority_names = {declared}\ntitle = 'names'\n", "named.toml")
