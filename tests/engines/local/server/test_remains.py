"""What a killed supervisor leaves is cleared away before its run is lost; until then its devices are taken (A7)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from typing import Any

from quotatree.core.model.job import JobId
from quotatree.engines.base import Confirmed, Lost
from quotatree.engines.local.files import journal
from quotatree.engines.local.files.layout import EngineDir
from quotatree.engines.local.host.identity import Identity
from quotatree.engines.local.server import birth, remains
from tests.engines.contract import replicas_running, start_order, told
from tests.engines.local.harness import LocalHarness, until

JOB = JobId("dlc-a")


def test_what_a_killed_supervisor_leaves_behind_is_killed_too(local: LocalHarness):
    """A child in a session of its own, and one of another process group, survive the main process."""
    command = "setsid sleep 1000 & (set -m; sleep 1000 & wait) & echo ready; wait"
    local.engine.start(start_order({"command": command}))
    until(lambda: len(local.marked()) >= 4)
    local.lose(JOB, 1)
    until(lambda: told(local, Lost))
    assert local.marked() == [], "lost is said only when nothing is left"
    assert told(local, Lost) == [Lost(JOB, 1, (0,), "its supervisor was killed")]


def test_what_was_lost_while_no_server_was_there_is_cleared_when_one_comes(local: LocalHarness):
    local.engine.start(start_order({"command": "setsid sleep 1000 & wait"}))
    until(lambda: len(local.marked()) >= 2)
    supervisor = local.supervisor(JOB, 1)
    local.engine.close()
    supervisor.send(signal.SIGKILL)
    until(lambda: not supervisor.alive())
    local.reopen()
    until(lambda: told(local, Lost))
    assert local.marked() == []
    assert replicas_running(local.engine) == {}


def test_until_the_remains_are_cleared_the_devices_are_taken(local: LocalHarness, monkeypatch):
    local.engine.start(start_order(local.program()))
    local.pass_time(0)
    may_go_on = threading.Event()
    really_clear = remains.clear

    def clear(*arguments: Any, **more: Any) -> None:
        assert may_go_on.wait(30)
        really_clear(*arguments, **more)

    monkeypatch.setattr("quotatree.engines.local.server.remains.clear", clear)
    local.lose(JOB, 1)
    until(lambda: local.engine._clearer.is_at((JOB, 1)))
    assert replicas_running(local.engine) == {(JOB, 1): (0,)}
    may_go_on.set()
    until(lambda: told(local, Lost))
    assert replicas_running(local.engine) == {}


def test_after_a_reboot_what_ran_is_lost_and_strangers_are_left_alone(local: LocalHarness):
    """The numbers in the journal belong to others by now: here, to ourselves."""
    innocent = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    path = EngineDir(local._directory).run(JOB, 1)
    os.makedirs(path.path)
    birth.write_spec(
        path, {"job": JOB, "run": 1, "module": "DLC", "program": {"env": {}}},
        [{"do": "start", "replicas": [{"replica": 0}]}],
    )  # fmt: skip
    found = Identity.of(innocent.pid)
    assert found is not None
    of_old = {"pid": innocent.pid, "started": found.started, "boot": "another-boot"}
    journal.append(path.journal, {"is": "supervising", **of_old})
    journal.append(path.journal, {"is": "started", "replica": 0, "port": 1, **of_old})
    journal.append(path.journal, {"is": "confirmed", "replicas": [0]})
    local.reopen()
    until(lambda: told(local, Lost))
    assert replicas_running(local.engine) == {}
    assert innocent.poll() is None
    innocent.kill()
    innocent.wait()


def test_a_run_whose_directory_is_removed_ends_and_is_lost_and_others_begin(local: LocalHarness):
    local.engine.start(start_order(local.program()))
    local.pass_time(0)
    main = local.engine._runs[JOB, 1].processes[0]
    shutil.rmtree(local.engine._directory.path)
    until(lambda: told(local, Lost))
    assert told(local, Lost) == [Lost(JOB, 1, (0,), "its directory was removed")]
    assert not main.alive()
    assert replicas_running(local.engine) == {}
    local.engine.start(start_order(local.program(), run=2))
    until(lambda: Confirmed(JOB, 2, (0,)) in local.reports)
    name = local.engine._premises.engine_id
    local.reopen()
    assert local.engine._premises.engine_id == name, "or nobody would know whose the processes are"
