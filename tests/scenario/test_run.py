"""Playing a scenario: what counts as being at rest."""

from quotatree.core import Code, JobId, Phase, QuotaId, because
from quotatree.core import events as ev
from quotatree.core.changes.apply import apply
from quotatree.core.decisions import Start
from quotatree.core.model.wait_queue import Failure
from quotatree.core.planning.plan import plan
from quotatree.scenario.load import read_scenario
from quotatree.scenario.run import Player

WORLD = """
title = "one node, one job that runs and one that waits"

[[nodes]]
name = "n0"

[[quotas]]
id = "lab"
gpus = 8

[[running]]
id = "first"
quota = "lab"
gpus = 8

[[waiting]]
id = "second"
quota = "lab"
gpus = 8
"""


def test_a_planner_that_wrongly_remembers_a_failure_is_not_at_rest():
    player = Player(read_scenario(WORLD, "world.toml"))
    list(player.instants())
    assert player.at_rest() == []

    state = player.state
    apply(state, ev.JobEnded(JobId("first"), Phase.SUCCEEDED), player.now_ms)
    (waiting,) = state.waiting_quotas[QuotaId("lab")].queue.classes.values()
    waiting.failed = Failure(because(Code.NoEligibleVictims, step="test"), waiting.quota.tree.version)

    assert [type(decision) for decision in player.at_rest()] == [Start]
    assert not [d for d in plan(state, player.now_ms).decisions if isinstance(d, Start)], "it must remember"
