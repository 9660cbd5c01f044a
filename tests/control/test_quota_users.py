"""Who uses a quota: the rows add up to its figures, and nobody learns a name by them (Q7, W2)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from quotatree.access.errors import NotFound
from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.control.commands import values as do
from quotatree.control.quota_users import UserTotal, quota_users
from quotatree.core import Idle, quota_report
from tests.control.server import Server, submission
from tests.control.test_walks import random_command
from tests.profiles import by_profile

PEOPLE = (("ann", "vision"), ("pat", "vision"), ("eve", "speech"))


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """Beside `vision` there is `speech`, with eve, on the same quotas."""
    made = Server(tmp_path).furnish(nodes=2)
    made.do(do.PutUser(actor="root", user=User("eve")))
    made.do(do.CreateWorkspace(actor="root", workspace="speech"))
    made.do(do.AddMember(actor="root", workspace="speech", user="eve", role=Role.OPERATOR))
    for quota in ("team", "a", "b"):
        made.do(do.BindQuota(actor="root", workspace="speech", quota=quota))
    return made


def users(server: Server, actor: str, quota: str, *, below: bool = False) -> tuple[UserTotal, ...]:
    future = server.controller.ask(quota_users(actor, quota, below=below))
    server.controller.step()
    return future.result(0)


def test_each_user_has_a_row_by_workspace_with_what_they_have_and_wait_for(server: Server):
    server.submit("ann", gpus=2, replicas=2, seconds=None)
    server.submit("pat", gpus=3, quota="b", seconds=None)
    server.submit("pat", gpus=1, idle=Idle.ONLY, seconds=None)
    since_ms = server.now_ms
    server.submit("ann", gpus=5, seconds=None)
    server.pass_time(60)
    server.submit("ann", gpus=6, seconds=None)
    stopped = server.submit("pat", gpus=1, seconds=None, on_hold=True)
    assert stopped
    ann = UserTotal("ann", "vision", 1, 4000, 0, 2, 11_000, since_ms)
    assert users(server, "root", "a") == (ann, UserTotal("pat", "vision", 1, 0, 1000))
    assert users(server, "root", "team", below=True) == (ann, UserTotal("pat", "vision", 2, 3000, 1000))
    assert users(server, "root", "team") == ()


def test_people_whose_jobs_one_may_not_see_are_one_row_without_names(server: Server):
    server.submit("ann", gpus=2, seconds=None)
    server.submit("pat", gpus=1, seconds=None)
    server.submit("eve", workspace="speech", gpus=1, seconds=None)
    others = UserTotal(None, None, 2, 3000)
    assert users(server, "eve", "a") == (others, UserTotal("eve", "speech", 1, 1000))
    server.do(do.PutUser(actor="root", user=User("quinn")))
    server.do(do.AppointQuotaAdmin(actor="root", user="quinn", quota="team"))
    assert users(server, "quinn", "team", below=True) == (UserTotal(None, None, 3, 4000),)
    with pytest.raises(NotFound):
        users(server, "out", "a")


@pytest.mark.parametrize("seed", range(by_profile(quick=2, deep=6, long=200)))
def test_the_rows_add_up_to_the_figures_of_the_quota_whoever_looks(seed: int, server: Server):
    dice = random.Random(seed)
    server.allow_preemption("a")
    server.allow_preemption("team")
    for _ in range(40):
        server.pass_time(dice.choice((0.2, 1, 4)))
        user, workspace = dice.choice(PEOPLE)
        quota = dice.choice(("a", "b", "team"))
        submit = submission(
            actor=user, workspace=workspace, quota=quota, gpus=dice.choice((1, 2)), replicas=dice.choice((1, 2, 3)),
            max_replicas=dice.choice((None, 4)), idle=dice.choice(list(Idle)), seconds=dice.choice((30, None)),
            leaves_after=dice.choice((0, 3)), grace_ms=5_000,
        )  # fmt: skip
        for command in (submit, random_command(dice, list(server.world.state.jobs))):
            server.controller.call(command)
        server.step()
        state = server.world.state
        for name in ("team", "a", "b"):
            told = quota_report(state, name)
            for actor in ("root", "ann", "eve"):
                for below in (False, True):
                    rows = users(server, actor, name, below=below)
                    regular = told.used_own.gpu_milli + (told.used_below.gpu_milli if below else 0)
                    assert sum(row.regular_milli for row in rows) == regular
                    if below or name != "team":
                        assert sum(row.idle_milli for row in rows) == told.idle_borrowed.gpu_milli
                    if not below:
                        waiting = (
                            sum(row.waiting_jobs for row in rows),
                            sum(row.waiting_milli for row in rows),
                        )
                        assert waiting == (told.queued_jobs, told.queued.gpu_milli)
                    names = {row.user for row in rows} - {None}
                    assert actor == "root" or names <= ({"ann", "pat"} if actor == "ann" else {"eve"})
