"""Random walks with an engine that lives: reports come early, late, twice and never, and the server dies anywhere (A7).

After every step memory is what is written, the core's figures are right, and the engine runs what the server thinks it
does. The engine itself breaks if a job runs twice or a GPU is given twice.
"""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path

import pytest

from quotatree.control.commands import jobs
from quotatree.control.commands import values as do
from quotatree.control.errors import Fault
from quotatree.core.errors import QuotaTreeError
from quotatree.core.model.job import Job, JobId, Phase
from quotatree.core.model.policy import Module
from tests.control.faulty_store import FaultyStore
from tests.control.kept_store import KeptStore
from tests.control.living_engine import LivingEngine
from tests.control.server import Server, submission
from tests.control.test_walks import _check_devices, _check_written, random_command
from tests.profiles import by_profile
from tests.property.accounting import check_jobs, check_nodes, check_quotas, check_units

WALKS = by_profile(quick=2, deep=6, long=300)
STEPS = 80
GPUS = 4


def living_command(dice: random.Random, jobs: list[str]) -> do.Command:
    """The others' commands, and what is about running services and notebooks."""
    job = dice.choice(jobs) if jobs else "eas-none"
    total = dice.randint(1, 4)
    module = dice.choice((Module.EAS, Module.EAS, Module.DSW))
    submit = submission(
        actor="pat", gpus=1, replicas=1 if module is Module.DSW else dice.randint(1, 4), seconds=None, module=module,
        quota=dice.choice(("a", "b", "team")), priority=dice.randint(1, 9), grace_ms=5_000,
    )  # fmt: skip
    own: list[do.Command] = [
        submit,
        do.RestartService(actor="pat", job=job),
        do.StopJob(actor="pat", job=job),
        do.ResubmitJob(actor="pat", job=job),
        do.ResizeJob(actor="pat", job=job, replicas=total),
        do.ResizeJob(actor="pat", job=job, replicas=total, min_replicas=dice.randint(1, total)),
        do.ResizeJob(actor="pat", job=job, min_replicas=dice.randint(1, 4)),
    ]
    return dice.choice(own) if dice.random() < 0.5 else random_command(dice, jobs)


def walk(dice: random.Random, directory: Path, store: KeptStore) -> tuple[Server, LivingEngine]:
    engine = LivingEngine(dice, {"n0": GPUS, "n1": GPUS})
    server = Server(directory, FaultyStore(store), engine).furnish(nodes=2, gpus=GPUS)
    server.allow_preemption("a")
    server.allow_preemption("team")
    for _ in range(STEPS):
        _something_breaks(dice, server, engine)
        commands = [living_command(dice, list(server.world.state.jobs)) for _ in range(dice.randint(0, 3))]
        calls = [server.controller.call(command) for command in commands]
        engine.live()
        server.pass_time(dice.choice((0.2, 1, 4)))
        for call in calls:
            assert isinstance(call.exception(0), QuotaTreeError | None)
            assert not isinstance(call.exception(0), Fault)
        if engine.deaf:  # it died between a commit and its orders
            engine.deaf = False
            server.kill()
            engine.live()
            server.boot()
        _heal(server)
        _check(server, engine)
    return server, engine


def _something_breaks(dice: random.Random, server: Server, engine: LivingEngine) -> None:
    dies = dice.random()
    if dies < 0.06:
        server.kill()
        engine.close()
        engine.live()
        server.boot()
    elif dies < 0.14:
        engine.deaf = True
    elif dies < 0.24:
        server.store.fail_commits = 1
    elif dies < 0.3:
        server.store.lose_answers, server.store.then_away = 1, dice.random() < 0.5
    elif dies < 0.36:
        engine.fail_orders = dice.randint(1, 3)


def _heal(server: Server) -> None:
    store = server.store
    store.fail_commits, store.lose_answers, store.away, store.then_away = 0, 0, False, False
    server.engine.fail_orders = 0
    for _ in range(3):
        server.pass_time(1.5)
    assert server.mode().value == "ready"


def _check(server: Server, engine: LivingEngine) -> None:
    _check_written(server)
    state = server.world.state
    for check in (check_jobs, check_quotas, check_nodes, check_units):
        check(state)
    assert server.controller.metrics.registry.get_sample_value("quotatree_faults_total") == 0
    for (name, number), run in engine.runs.items():
        if not run.replicas:
            continue
        job = state.jobs.get(name)
        assert job is not None, f"{name} run {number} runs, and nobody knows"
        assert job.run == number, f"{name}: run {number} is there, {job.run} is meant"
        meant = _places(job, server)
        for replica, one in run.replicas.items():
            assert meant.get(replica) == (one.node, one.devices), (
                f"{name} {replica}: {meant.get(replica)}, {one}"
            )
            if replica in run.leaving:
                assert replica in job.leaving
    for job in state.jobs.values():
        if job.phase is Phase.RUNNING:
            there = engine.runs[job.id, job.run].replicas.keys()
            meant = _places(job, server)
            missing = {r for r in meant.keys() - there if r not in job.leaving}
            assert not missing, f"{job.id} run {job.run} should run {missing}"
            key = server.world.cards[job.id].restart_key
            assert not key or key in engine.runs[job.id, job.run].restarts


def _places(job: Job, server: Server) -> dict[int, tuple[str, tuple[int, ...]]]:
    nodes = server.world.state.nodes
    units = [job.core, *job.extras.values()] if job.core is not None else []
    places = [*(place for unit in units for place in unit.places), *job.leaving.values()]
    return {place.replica: (nodes[place.node].spec.name, place.devices) for place in places}


@pytest.fixture(autouse=True)
def _ids_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk that failed fails again: ids decide ties."""
    numbers = count(1)
    monkeypatch.setattr(jobs, "new_id", lambda module: JobId(f"{module.value.lower()}-{next(numbers):04}"))


@pytest.mark.parametrize("seed", range(WALKS))
def test_whatever_engine_and_clients_do_nothing_runs_twice_and_all_can_end(
    seed: int, tmp_path: Path, kept: KeptStore
):
    server, engine = walk(random.Random(seed), tmp_path, kept)
    _check_devices(server)
    for job in list(server.world.state.jobs):
        if server.job(job).phase not in (Phase.CANCELLED, Phase.FAILED, Phase.SUCCEEDED):
            server.do(do.CancelJob(actor="pat", job=job))
    for _ in range(4):
        engine.let_all_leave()
        server.pass_time(70)
    assert {key: run.replicas for key, run in engine.runs.items() if run.replicas} == {}
    assert server.world.state.jobs == {}
    for node, device in sorted(engine.ill):
        engine.device(node, device, True)
    server.step()
    assert [(node.spec.name, node.ill) for node in server.world.state.nodes if node.ill] == []
