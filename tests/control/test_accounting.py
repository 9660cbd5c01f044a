"""GPU time by claim adds up to the placements, to the millisecond, whatever happens; a loan to what the quota is above its min."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from quotatree.access.roles import Role
from quotatree.access.values import User
from quotatree.control.accounting import DAY_MS, days_of
from quotatree.control.commands import values as do
from quotatree.core import GPU, Claim, Idle, JobId, loan
from quotatree.core.model.policy import Module, Priorities, SelfLevel, SelfLevels
from quotatree.store import UsageFilter
from quotatree.store.rows import (
    DecisionRow,
    JobRow,
    LossRow,
    PlacementRow,
    PreemptionRow,
    RunRow,
    UsageRow,
    VictimRow,
)
from quotatree.store.usage import KEYS
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission
from tests.control.test_walks import random_command
from tests.profiles import by_profile

WALKS = by_profile(quick=2, deep=8, long=300)
OF_A_JOB = ("quota", "workspace", "owner", "module")


def furnished(directory: Path, store: KeptStore) -> Server:
    """Two nodes, three quotas that may take and lend, ann and pat in vision, eve in speech."""
    server = Server(directory, store).furnish(nodes=2)
    server.do(do.PutUser(actor="root", user=User("eve")))
    server.do(do.CreateWorkspace(actor="root", workspace="speech"))
    server.do(do.AddMember(actor="root", workspace="speech", user="eve", role=Role.OPERATOR))
    for quota in ("team", "a", "b"):
        server.do(do.BindQuota(actor="root", workspace="speech", quota=quota))
        server.allow_preemption(quota)
    return server


def with_loans(server: Server) -> None:
    """Let `a` borrow what `b` does not use (P3)."""
    policy = SelfLevels.of(SelfLevel(Priorities(2, 9), Priorities(1, 1), frozenset(Module)))
    before = server.world.quota("a").spec
    server.do(do.UpdateQuota(actor="root", spec=replace(before, self_level=policy)))


def random_submission(dice: random.Random, quotas: tuple[str, ...]) -> do.Command:
    user, workspace = dice.choice((("ann", "vision"), ("pat", "vision"), ("eve", "speech")))
    replicas = dice.choice((1, 2, 3))
    return submission(
        actor=user, workspace=workspace, quota=dice.choice(quotas), gpus=dice.choice((1, 2, 3)),
        replicas=replicas, min_replicas=dice.choice((None, 1)), max_replicas=dice.choice((None, 4)),
        idle=dice.choice(list(Idle)), seconds=dice.choice((5, 30, None)), leaves_after=dice.choice((0, 3, 20)),
        priority=dice.randint(1, 9), module=dice.choice((Module.DLC, Module.EAS)), grace_ms=5_000,
    )  # fmt: skip


def walk(seed: int, directory: Path, store: KeptStore, steps: int = 60) -> Server:
    dice = random.Random(seed)
    server = furnished(directory, store)
    with_loans(server)
    crowded = seed % 2 == 0  # else only `a` has much to do, and borrows
    quotas = ("a", "a", "b", "team") if crowded else ("a",) * 9 + ("b",)
    for _ in range(steps):
        server.pass_time(
            dice.choice((0.001, 0.2, 1, 4, 4, 3 * 3600, 30 * 3600) if dice.random() < 0.3 else (0.2, 1, 4))
        )
        if dice.random() < 0.05:
            server.kill()
            server.boot()
        jobs: list[str] = [*server.world.state.jobs]
        submits = [random_submission(dice, quotas) for _ in range(1 if crowded else 2)]
        commands = [*submits, *(random_command(dice, jobs) for _ in range(2 if crowded else 0))]
        for command in commands[: dice.randint(1, 3)]:
            server.controller.call(command)
        server.controller.step()
        check_loans(server)
        check_shares(server)
    return server


def check_loans(server: Server) -> None:
    """What is on loan in a quota is what its use is above its min, but for what is only promised (P3, P9)."""
    world = server.world
    for quota in world.state.quotas.values():
        live = [
            (share, job)
            for name, job in quota.jobs.items()
            for replica, share in (world.usage[name].shares.items() if name in world.usage else ())
            if replica not in job.leaving
        ]
        held = sum(
            job.hold.unit.footprint.gpu_milli
            for job in quota.jobs.values()
            if job.hold is not None and job.hold.unit.cls.claim is Claim.REGULAR
        )
        regular = sum(share.gpu_milli for share, _ in live if not share.idle)
        assert regular + held == quota.own_used[GPU]
        lent = sum(share.loan_milli for share, _ in live)
        assert lent == min(regular, max(0, loan(quota, GPU) - held))
        assert all(not share.loan_milli for share, _ in live if share.idle)


def check_shares(server: Server) -> None:
    """The open stretches of each run are what its replicas occupy, in memory and in the store, and none is missing there."""
    world = server.world
    assert not server.store.faults_in_books()
    assert world.usage.keys() == world.runs.keys()
    for name, use in world.usage.items():
        occupied = sum(place.gpu_milli for place in world.places[name].values())
        assert sum(row.gpu_milli for row in use.stretches.values()) == occupied
        assert sum(row.gpu_milli for claim, row in use.stretches.items() if claim == "loan") == sum(
            share.loan_milli for share in use.shares.values()
        )


class ByHand:
    """The sums over what is written, made without the store's own: its rows are read once, after the walk."""

    def __init__(self, server: Server) -> None:
        self._now_ms = server.now_ms
        self._jobs: dict[str, JobRow] = {row.id: row for row in server.store.table(JobRow)}
        self._places: list[PlacementRow] = server.store.table(PlacementRow)
        self.runs: list[RunRow] = server.store.table(RunRow)

    def used(self, from_ms: int, before_ms: int, by: tuple[str, ...]) -> dict[tuple[Any, ...], int]:
        """GPU time of the placements in a stretch of time, cut to it."""
        found: defaultdict[tuple[Any, ...], int] = defaultdict(int)
        for place in self._places:
            until_ms = self._now_ms if place.until_ms is None else place.until_ms
            overlap = min(until_ms, before_ms) - max(place.from_ms, from_ms)
            if overlap > 0:
                found[key_of(self._jobs[place.job], by)] += overlap * place.gpu_milli
        return {key: amount for key, amount in found.items() if amount}

    def begun(self, from_ms: int, before_ms: int, by: tuple[str, ...]) -> dict[tuple[Any, ...], int]:
        """How many runs began in a stretch of time."""
        found: defaultdict[tuple[Any, ...], int] = defaultdict(int)
        for run in self.runs:
            if from_ms <= run.started_ms < before_ms:
                found[key_of(self._jobs[run.job], by)] += 1
        return dict(found)


def key_of(job: JobRow, by: tuple[str, ...]) -> tuple[Any, ...]:
    of = {
        "quota": job.quota,
        "workspace": job.workspace,
        "owner": job.owner,
        "module": job.record.spec.module.value,
    }
    return tuple(of[name] for name in KEYS if name in by)


def windows(first: int, now_ms: int, dice: random.Random) -> Iterator[tuple[int, int]]:
    """Stretches of time to ask for: all of it, from the first run on, and some at random."""
    yield 0, now_ms + 1
    yield first, now_ms
    for _ in range(6):
        one, other = sorted(dice.randint(first - 5_000, now_ms) for _ in range(2))
        yield one, other + 1


@pytest.mark.parametrize("seed", range(WALKS))
def test_use_adds_up_to_the_placements_in_every_time_and_by_every_grouping(
    seed: int, tmp_path: Path, kept: KeptStore
):
    server = walk(seed, tmp_path, kept)
    groupings = [by for size in range(len(OF_A_JOB) + 1) for by in combinations(OF_A_JOB, size)]
    claims = set()
    hand = ByHand(server)
    first = min(run.started_ms for run in hand.runs)
    for from_ms, before_ms in windows(first, server.now_ms, random.Random(seed)):
        asked = UsageFilter(from_ms, before_ms, server.now_ms)
        for by in groupings:
            found = server.store.usage(asked, by)
            assert {one.keys: one.used for one in found if one.used} == hand.used(from_ms, before_ms, by)
            assert {one.keys: one.runs for one in found if one.runs} == hand.begun(from_ms, before_ms, by)
            split = server.store.usage(asked, (*by, "claim"))
            claims |= {one.keys[len(by)] for one in split}
            together: defaultdict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
            for one in split:
                figures = (one.used, one.lost, one.runs, one.preempted)
                so_far = together[one.keys[: len(by)]]
                so_far[:] = [x + y for x, y in zip(so_far, figures, strict=True)]
            assert together == {one.keys: [one.used, one.lost, one.runs, one.preempted] for one in found}
    assert claims == {"guaranteed", "idle"} | ({"loan"} if "loan" in claims or seed % 2 else set())
    for row in server.store.table(UsageRow):
        assert row.until_ms is None or row.from_ms // DAY_MS == (max(row.from_ms, row.until_ms - 1)) // DAY_MS
    check_losses(server)


def check_losses(server: Server) -> None:
    """Every victim of the ledger has its loss, and what counts as a preemption is counted once (P11, P13)."""
    victims = {(row.preemption, row.position): row for row in server.store.table(VictimRow)}
    losses = {(row.preemption, row.position): row for row in server.store.table(LossRow)}
    preemptions = {row.seq: row for row in server.store.table(PreemptionRow)}
    jobs = {row.id: row for row in server.store.table(JobRow)}
    assert losses.keys() == victims.keys()
    for key, loss in losses.items():
        victim, entry = victims[key], preemptions[loss.preemption]
        assert (loss.lost_work, loss.workspace, loss.quota) == (
            victim.lost_work,
            victim.workspace,
            victim.quota,
        )
        taker = (entry.workspace, entry.quota) if entry.preemptor else ("", "")
        assert (loss.at_ms, loss.taker_workspace, loss.taker_quota) == (entry.at_ms, *taker)
        assert loss.cause
        assert (loss.owner, loss.module) == key_of(jobs[victim.job], ("owner", "module"))
    decided = server.store.table(DecisionRow)
    evictions = [row.body for row in decided if row.kind == "Evict"]
    assert len(victims) == len(evictions) + sum(row.kind == "Stop" for row in decided), "all that ends work"
    counted = sum(1 for body in evictions if body["counts"])
    assert sum(loss.preempted for loss in losses.values()) == counted
    every = UsageFilter(0, server.now_ms + 1, server.now_ms)
    by_taker = server.store.usage(every, ("taker_quota", "taker_workspace"))
    assert sum(one.lost for one in by_taker if one.keys != (None, None)) == sum(
        v.lost_work for v in victims.values()
    )
    assert [one.lost for one in by_taker if one.keys == (None, None)] == [0]


def test_a_job_is_on_loan_as_far_as_its_quota_is_above_its_min_and_no_longer(tmp_path: Path):
    """P3: the newest runs are taken for the loan; when an older one ends, the loan shrinks, and nothing restarts."""
    server = Server(tmp_path).furnish(nodes=2)
    with_loans(server)
    first = server.submit(gpus=6, seconds=None, priority=5)
    server.pass_time(10)
    second = server.submit(gpus=4, seconds=None, priority=5)
    began_ms = server.now_ms
    assert claims_of(server, first) == {"guaranteed": 6000}
    assert claims_of(server, second) == {"guaranteed": 2000, "loan": 2000}
    server.pass_time(3600)
    server.do(do.CancelJob(actor="ann", job=first))
    assert claims_of(server, second) == {"guaranteed": 4000}
    server.pass_time(3600)
    asked = UsageFilter(began_ms, began_ms + 2 * 3_600_000, server.now_ms)
    hour = 3_600_000
    of_second = {
        row.keys: row.used for row in server.store.usage(asked, ("claim",))
    }  # fmt: skip
    assert of_second == {("guaranteed",): (6000 + 2000 + 4000) * hour, ("loan",): 2000 * hour}


def test_a_promotion_ends_the_idle_stretch_and_a_leaving_replica_keeps_its_claim(tmp_path: Path):
    """I1, P9: idle until its turn, then guaranteed, in one run; told to stop, it counts until it has left."""
    server = Server(tmp_path).furnish()
    blocks = server.submit(gpus=4, seconds=None)
    job = server.submit(gpus=4, seconds=None, idle=Idle.ALLOW, leaves_after=20, grace_ms=30_000)
    assert claims_of(server, job) == {"idle": 4000}
    server.pass_time(100)
    server.do(do.CancelJob(actor="ann", job=blocks))
    assert claims_of(server, job) == {"guaranteed": 4000}
    server.pass_time(50)
    server.do(do.CancelJob(actor="ann", job=job))
    server.pass_time(10)
    assert claims_of(server, job) == {"guaranteed": 4000}
    server.pass_time(10)
    assert JobId(job) not in server.world.usage
    rows = [
        (row.claim, row.until_ms - row.from_ms, row.begins)
        for row in server.store.table(UsageRow)
        if row.job == job
    ]
    assert sorted(rows) == [("guaranteed", 70_000, 0), ("idle", 100_000, 1)]


def claims_of(server: Server, job: str) -> dict[str, int]:
    return {claim: row.gpu_milli for claim, row in server.world.usage[JobId(job)].stretches.items()}


def test_a_stretch_is_cut_at_midnight():
    row = UsageRow("dlc-1", 1, "idle", DAY_MS - 5, None, 1000, 1, "w", "q", "ann", "DLC")
    pieces = [(one.from_ms, one.until_ms, one.begins) for one in days_of(row, 2 * DAY_MS + 7)]
    assert pieces == [
        (DAY_MS - 5, DAY_MS, 1), (DAY_MS, 2 * DAY_MS, 0), (2 * DAY_MS, 2 * DAY_MS + 7, 0),
    ]  # fmt: skip
    assert [(one.from_ms, one.until_ms) for one in days_of(row, DAY_MS)] == [(DAY_MS - 5, DAY_MS)]
    assert [(one.from_ms, one.until_ms) for one in days_of(row, DAY_MS - 5)] == [(DAY_MS - 5, DAY_MS - 5)]
