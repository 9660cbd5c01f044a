"""What can be asked of the live state: explanations, exposure, figures, queues, previews that change nothing (X1-X4)."""

from dataclasses import replace
from pathlib import Path

import pytest

from quotatree.access.errors import Forbidden, NotFound
from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.control import queries
from quotatree.control.commands import values as do
from quotatree.core import decisions as say
from quotatree.core.errors import Refused
from quotatree.core.events import ScaleMode
from quotatree.core.model.job import JobId
from quotatree.core.model.policy import Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import QuotaId
from quotatree.core.model.resources import Bounds
from quotatree.core.snapshots import snapshot
from quotatree.store.rows import JobRow
from tests.control.server import Server, submission


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """Beside `vision` there is `speech`, with eve, on quota b."""
    made = Server(tmp_path).furnish()
    made.do(do.PutUser(actor="root", user=User("eve")))
    made.do(do.CreateWorkspace(actor="root", workspace="speech"))
    made.do(do.AddMember(actor="root", workspace="speech", user="eve", role=Role.DEVELOPER))
    made.do(do.BindQuota(actor="root", workspace="speech", quota="b"))
    return made


def ask(server: Server, query):
    future = server.controller.ask(query)
    server.controller.step()
    return future.result(0)


def test_a_waiting_job_is_explained_to_its_team_and_to_nobody_else(server: Server):
    server.submit(gpus=4, seconds=None)
    waits = server.submit(gpus=4)
    told = ask(server, queries.explain("ann", waits))
    assert (told.told.position, [reason.code.name for reason in told.told.reasons][:1]) == (
        1,
        ["OwnQuotaFull"],
    )
    with pytest.raises(NotFound):
        ask(server, queries.explain("eve", waits))


def test_names_of_other_teams_are_masked_in_queues_and_figures(server: Server):
    server.submit(gpus=4, quota="b", seconds=None)
    mine, theirs = (
        server.submit(gpus=4, quota="b"),
        server.submit("eve", quota="b", workspace="speech", gpus=4),
    )
    places = ask(server, queries.queue("eve", "b"))
    assert [place.position for place in places] == [1, 2]
    assert (mine in str(places), theirs in str(places)) == (False, True)
    assert ask(server, queries.figures("eve", "b")).queued_jobs == 2
    with pytest.raises(NotFound):
        ask(server, queries.figures("eve", "a"))
    assert [report.id for report in ask(server, queries.tree("eve"))] == ["b"]
    assert [report.id for report in ask(server, queries.tree("root"))] == ["team", "a", "b"]


def test_a_list_says_why_jobs_wait_now_not_why_they_were_evicted_x1(server: Server):
    """The victim, and two jobs behind it that are alike: a plan tries the first of them alone."""
    server.allow_preemption()
    server.submit(gpus=4, quota="b", seconds=None)
    low = server.submit(gpus=4, leaves_after=5)
    server.submit(actor="pat", gpus=4, priority=7, seconds=None)
    alike = [server.submit(gpus=2), server.submit(gpus=2)]
    places = ask(server, queries.queue("root", "a"))
    assert {place.job for place in places} == {low, *alike}
    assert {place.reason_code for place in places} == {"OwnQuotaFull"}
    why = ask(server, queries.reasons([JobId(job) for job in (low, *alike, "nobody")]))
    assert [dict(why[JobId(job)].facts)["wanted"] for job in (low, *alike)] == ["4 GPU", "2 GPU", "2 GPU"]


def test_a_preview_of_a_submit_names_the_victims_and_changes_nothing(server: Server):
    server.allow_preemption()
    server.submit(gpus=4, quota="b", seconds=None)
    low = server.submit(gpus=4, leaves_after=5)
    before, commits = snapshot(server.world.state), server.store.commits
    submit = submission(actor="pat", gpus=4, priority=7)
    seen = ask(server, queries.preview(server.engine, submit))
    assert [d.job for d in seen.decisions if isinstance(d, say.Evict)] == [low]
    assert snapshot(server.world.state) == before
    assert server.store.commits == commits
    assert server.world.cards.keys() == server.world.state.jobs.keys()


def test_a_preview_of_a_scaling_and_of_a_deletion_is_refused_like_the_thing_itself(server: Server):
    job = server.submit(gpus=4)
    with pytest.raises(Refused, match="Q5"):
        ask(server, queries.preview(server.engine, do.ScaleQuota(actor="root", quota="a", min=Bounds(2000))))
    scale = do.ScaleQuota(actor="root", quota="a", min=Bounds(2000), mode=ScaleMode.RECLAIM)
    seen = ask(server, queries.preview(server.engine, scale))
    assert [d.job for d in seen.decisions if isinstance(d, say.Evict)] == [job]
    with pytest.raises(Refused, match="Q6"):
        ask(server, queries.preview(server.engine, do.DeleteQuota(actor="root", quota="a")))
    with pytest.raises(Forbidden):
        ask(server, queries.preview(server.engine, replace(scale, actor="ann")))


def test_saving_a_policy_warns_whose_running_work_becomes_exposed(server: Server):
    job = server.submit(gpus=2, quota="b", seconds=None)
    assert ask(server, queries.exposure("ann", job)) == ()
    policy = SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), frozenset(Module), Scope.SIBLINGS))
    spec = replace(server.world.state.quotas[QuotaId("a")].spec, self_level=policy)
    seen = ask(server, queries.preview(server.engine, do.UpdateQuota(actor="root", spec=spec)))
    assert [exposed.job for exposed in seen.exposed] == [job]
    assert ask(server, queries.exposure("ann", job)) == ()


def test_a_running_service_that_misses_replicas_is_listed_so_not_with_what_was_decided_last_p12(
    server: Server,
):
    """Its owner let it have two replicas, and then three; others took the room of the third meanwhile."""
    service = server.submit(gpus=1, replicas=3, min_replicas=1, module=Module.EAS, seconds=None)
    server.do(do.ResizeJob(actor="ann", job=service, replicas=2))
    assert reason_code(server, service) == "FewerReplicas", "it has all that it wants"
    server.submit(gpus=2, seconds=None)
    server.do(do.ResizeJob(actor="ann", job=service, replicas=3))
    assert server.job(service).running_replicas == 2
    assert reason_code(server, service) == "ReplicasRun"


def reason_code(server: Server, job: str) -> str:
    return next(row.reason_code for row in server.store.table(JobRow) if row.id == job)
