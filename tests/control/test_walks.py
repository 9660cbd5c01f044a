"""Random walks through a server: whatever happens, memory is what is written, and a failed commit leaves no trace (A6, A7)."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from quotatree.access.centre import Amount, Centre
from quotatree.control.commands import values as do
from quotatree.control.errors import Fault
from quotatree.control.health import LoopSettings
from quotatree.control.load_world import world_from
from quotatree.core.errors import QuotaTreeError
from quotatree.core.events import ScaleMode
from quotatree.core.model.node import NodeState
from quotatree.core.model.policy import Module, Priorities
from quotatree.core.model.resources import Bounds
from quotatree.core.snapshots import snapshot
from quotatree.store.rows import PlacementRow
from tests.control.faulty_store import FaultyStore
from tests.control.kept_store import KeptStore
from tests.control.server import Server, submission
from tests.profiles import by_profile

STEPS = 60


def random_command(dice: random.Random, jobs: list[str]) -> do.Command:
    job = dice.choice(jobs) if jobs else "dlc-none"
    quota = dice.choice(("a", "b"))
    module = dice.choice((Module.DLC, Module.DLC, Module.DSW, Module.EAS))
    submit = submission(
        actor="pat", gpus=dice.choice((1, 2)), replicas=dice.choice((1, 2)), seconds=dice.choice((5, 30, None)),
        leaves_after=dice.choice((0, 3, 50)), quota=dice.choice(("a", "b", "team")), module=module,
        priority=dice.randint(1, 9), on_hold=dice.random() < 0.1, grace_ms=5_000,
    )  # fmt: skip
    centre = Centre(
        "vision", quota, amounts=(Amount("role:operator", Priorities(1, 9), dice.choice((1000, 4000))),),
        longest_run_ms=dice.choice((None, 20_000)), longest_wait_ms=dice.choice((None, 20_000)),
    )  # fmt: skip
    state = dice.choice((NodeState.READY, NodeState.READY, NodeState.CORDONED, NodeState.DRAINING))
    mode = dice.choice(list(ScaleMode))
    choices: list[do.Command] = [
        *[submit] * 6,
        do.CancelJob(actor="pat", job=job),
        do.SetPriority(actor="pat", job=job, priority=dice.randint(1, 9)),
        do.HoldJob(actor="pat", job=job),
        do.ReleaseJob(actor="pat", job=job),
        do.StopJob(actor="pat", job=job),
        do.ResubmitJob(actor="pat", job=job),
        do.ResizeJob(actor="pat", job=job, min_replicas=dice.randint(1, 2)),
        do.ResizeJob(actor="pat", job=job, replicas=dice.randint(1, 4)),
        do.CheckpointJob(actor="pat", job=job),
        do.TransferQuota(actor="root", source="a", target="b", amount=Bounds(1000), mode=mode),
        do.TransferQuota(actor="root", source="b", target="a", amount=Bounds(1000), mode=mode),
        do.SetNodeState(actor="root", node=dice.choice(("n0", "n1")), state=state),
        do.SetCentre(actor="root", centre=centre),
        do.ReturnLoan(actor="root", quota=quota),
    ]
    return dice.choice(choices)


@pytest.mark.parametrize("seed", range(by_profile(quick=2, deep=4, long=200)))
def test_memory_is_what_is_written_and_a_failed_commit_changes_nothing(
    seed: int, tmp_path: Path, kept: KeptStore
):
    dice = random.Random(seed)
    server = Server(tmp_path, FaultyStore(kept)).furnish(nodes=2)
    server.allow_preemption("a")
    server.allow_preemption("team")
    for _ in range(STEPS):
        server.pass_time(dice.choice((0.2, 1, 4)))
        if dice.random() < 0.05:
            server.kill()
            server.boot()
        before = snapshot(server.world.state)
        if dice.random() < 0.2:
            server.store.fail_commits = 1
        commands = [random_command(dice, list(server.world.state.jobs)) for _ in range(dice.randint(1, 4))]
        calls = [server.controller.call(command) for command in commands]
        server.controller.step()
        for call in calls:
            assert isinstance(call.exception(0), QuotaTreeError | None)
            assert not isinstance(call.exception(0), Fault)
        if server.store.fail_commits == 0 and server.mode().value.startswith("read only"):
            assert snapshot(server.world.state) == before
            server.pass_time(1)
        server.store.fail_commits = 0
        _check_written(server)
        assert server.controller.metrics.registry.get_sample_value("quotatree_faults_total") == 0
    _check_devices(server)


def _check_written(server: Server) -> None:
    """What a restart would read is what the loop has in memory."""
    here = server.world
    there = world_from(server.store.load(LoopSettings().core))
    assert snapshot(there.state) == snapshot(here.state)
    for name in ("directory", "cards", "runs", "versions", "webhooks"):
        assert getattr(there, name) == getattr(here, name), name
    assert there.places == {job: places for job, places in here.places.items() if places}
    assert {job: use.stretches for job, use in there.usage.items()} == {
        job: use.stretches for job, use in here.usage.items()
    }
    assert there.counters == here.counters


def _check_devices(server: Server) -> None:
    """No GPU is given twice, as far as the placements tell."""
    held: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for row in server.store.table(PlacementRow):
        until = float("inf") if row.until_ms is None else row.until_ms
        for device in row.devices:
            held.setdefault((row.node, device), []).append((row.from_ms, until))
    assert held
    for where, spans in held.items():
        spans.sort()
        for one, other in pairwise(spans):
            assert one[1] <= other[0], where
