"""An estimate in a process of its own: what is known comes in on stdin, one JSON object goes out on stdout.

What comes in is a pickle that the server made. The process bounds its own time and memory.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final

from quotatree.codec import decode
from quotatree.core import JobId, JobRecord, JobSpec, NodeRecord, PoolRecord, QuotaRecord, Settings, Snapshot
from quotatree.sim.calibration import Outcome
from quotatree.sim.durations import Durations, RunKind
from quotatree.sim.estimate import SECONDS, Question, estimate
from quotatree.store.estimating import Material

MOST_BYTES: Final = 4 << 30


@dataclass(frozen=True, slots=True)
class Work:
    """The job in question, and what is known. `longest_run_ms` by (workspace, quota, module)."""

    material: Material
    job: str
    now_ms: int
    settings: Settings
    longest_run_ms: dict[tuple[str, str, str], int]


def main() -> None:
    work = pickle.load(sys.stdin.buffer)  # written by the server that started this process, to a pipe
    assert isinstance(work, Work)
    with suppress(OSError, ValueError):
        os.nice(10)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    sys.stdout.write(json.dumps(estimated(work)))


def estimated(work: Work, seconds: float = SECONDS) -> dict[str, Any]:
    known = work.material
    nodes = [decode(NodeRecord, json.loads(one)) for one in known.nodes]
    quotas = [decode(QuotaRecord, json.loads(one)) for one in known.quotas]
    snapshot = Snapshot(
        work.settings,
        tuple(decode(PoolRecord, json.loads(one)) for one in known.pools),
        tuple(sorted(nodes, key=lambda record: record.index)),
        tuple(sorted(quotas, key=lambda record: record.order)),
        tuple(decode(JobRecord, json.loads(one)) for one in known.jobs),
    )
    durations = Durations((RunKind(*one[:4]), one.ran_ms) for one in known.finished)

    def longest_run_ms(spec: JobSpec) -> int | None:
        return work.longest_run_ms.get((spec.workspace, spec.quota, spec.module.value))

    asked = Question(
        snapshot=snapshot,
        job=JobId(work.job),
        now_ms=work.now_ms,
        owners=known.owners,
        durations=durations,
        longest_run_ms=longest_run_ms,
        outcomes=tuple(Outcome(*one) for one in known.outcomes),
    )
    return asdict(estimate(asked, seconds))
