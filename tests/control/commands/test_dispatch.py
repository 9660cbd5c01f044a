"""A request sent twice is done once, and every change is in the audit."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from quotatree.access.errors import Forbidden
from quotatree.control.commands import dispatch
from quotatree.control.commands import values as do
from quotatree.control.errors import KeyReused
from quotatree.control.program_secrets import sealed
from quotatree.core.errors import Refused
from quotatree.core.model.resources import Bounds
from quotatree.store.rows import AuditRow, JobRow
from tests.control.server import Server, submission


def audited(server: Server) -> list[tuple[str, str]]:
    return [(row.actor, row.action) for row in server.store.table(AuditRow)]


def test_a_submit_sent_twice_makes_one_job_also_after_a_restart(server: Server):
    submit = submission(key="once")
    first, second = server.controller.call(submit), server.controller.call(submit)
    server.step()
    assert first.result(0).id == second.result(0).id
    server.kill()
    server.boot()
    assert server.do(submit).id == first.result(0).id
    assert len(server.store.table(JobRow)) == 1
    with pytest.raises(KeyReused):
        server.do(submission(gpus=2, key="once"))
    assert server.do(replace(submit, actor="pat")).id != first.result(0).id, "keys are everybody's own"


def test_a_key_with_another_secret_is_another_request(server: Server):
    """Else whoever repeats his key with a new secret hears that it was done, and his job runs with the old one."""
    programs = [sealed({"secrets": {"KEY": value}}) for value in ("old", "new")]
    old, new = (submission(program=one, key="k") for one in programs)
    assert dispatch._fingerprint(old) != dispatch._fingerprint(new)
    assert repr(old) == repr(new), "and no log tells them apart"


KEYED = """
from quotatree.control.commands import values as do
from quotatree.control.commands.dispatch import _fingerprint
from quotatree.core.model.policy import Module, Priorities, Scope, SelfLevel, SelfLevels
from quotatree.core.model.quota import QuotaId, QuotaSpec
policy = SelfLevels.of(SelfLevel(Priorities(6, 9), Priorities(1, 5), frozenset(Module), Scope.OWN))
print(_fingerprint(do.CreateQuota(actor="root", key="k", spec=QuotaSpec(QuotaId("a"), self_level=policy))))
"""


def test_a_request_is_known_again_by_the_next_server():
    """Sets have another order in every process: a quota created again after a restart was told KeyReused."""
    told = {
        subprocess.run(
            [sys.executable, "-c", KEYED], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3", "4")
    }  # fmt: skip
    assert len(told) == 1


def test_a_refused_request_may_be_repeated_with_its_key(server: Server):
    with pytest.raises(Refused):
        server.do(submission(gpus=64, key="k"))
    server.do(submission(gpus=64 // 32, key="k"))


def test_every_change_is_audited_and_a_refused_one_is_not(server: Server):
    before = len(audited(server))
    job = server.submit()
    server.do(do.CancelJob(actor="pat", job=job))
    with pytest.raises(Forbidden):
        server.do(do.ScaleQuota(actor="ann", quota="a", min=Bounds(1000)))
    assert audited(server)[before:] == [("ann", "job.submit"), ("pat", "job.cancel")]
