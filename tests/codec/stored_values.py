"""The values of the golden files: for every stored kind the least that can be said of one, and then everything.

A file of `golden/` is the JSON of such a list, in its order. Entries are only ever added at the end: see
docs/reference/store.md, "When a stored class changes".
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from quotatree.access.centre import Amount, Ceiling, Centre, ModuleTime
from quotatree.access.roles import Role
from quotatree.core import decisions as say
from quotatree.core.decisions import Preemption, ReplicaPlace, StepTried, VictimCost
from quotatree.core.model.autoscale import Autoscale
from quotatree.core.model.job import Claim, Idle, JobId, JobSpec, Phase, ReplicaGroup, Shape
from quotatree.core.model.node import NodeSpec, NodeState
from quotatree.core.model.policy import ChildLevel, Module, Priorities, Scope, SelfLevel, SelfLevels, Strategy
from quotatree.core.model.quota import AmountLimit, QuotaId, QuotaSpec
from quotatree.core.model.resources import Bounds, Resources
from quotatree.core.model.unit import UnitKind
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.records import (
    Asked,
    JobRecord,
    NodeRecord,
    PoolRecord,
    Promised,
    QuotaRecord,
    Snapshot,
    Standing,
    Stood,
)
from quotatree.core.state import Settings

JOB: Final = JobId("dlc-1")
TAKER: Final = JobId("dlc-2")
OTHER: Final = JobId("dsw-3")
PLAIN: Final = Shape(1000, 8000, 65536)
PICKY: Final = Shape(2000, 16000, 131072, models=("A100", "H100"), labels=(("rack", "r1"), ("zone", "b")))
PLACES: Final = (ReplicaPlace(0, "n1", (0, 1)), ReplicaPlace(1, "n2", (6, 7)))
FITS: Final = Reason(Code.FitsFree)

# -- records ---------------------------------------------------------------------------------------------------------

POOLS: Final = (
    PoolRecord("default", mixed=False),
    PoolRecord("big", mixed=True, asked=(Asked(PLAIN, 3), Asked(PICKY, 1)), pictured=(Asked(PLAIN, 3),)),
)

NODES: Final = (
    NodeRecord(0, NodeSpec("n1"), NodeState.READY),
    NodeRecord(
        1,
        NodeSpec("n2", "big", "H100", 4, 96_000, 524_288, labels=(("rack", "r1"), ("zone", "b"))),
        NodeState.DRAINING,
        ill=(2, 3),
    ),
    NodeRecord(
        2, NodeSpec("n3"), NodeState.READY, foreign=Resources(2_000, 1_500, 512), foreign_devices=(6, 7)
    ),
    NodeRecord(3, NodeSpec("n4"), NodeState.LOST, cordoned=True),
)

QUOTAS: Final = (
    QuotaRecord(0, QuotaSpec(QuotaId("root")), Bounds(), Bounds()),
    QuotaRecord(
        order=1,
        spec=QuotaSpec(
            QuotaId("root"),
            draws=(("default", Bounds(128_000)), ("big", Bounds(32_000, 512_000, 4_194_304))),
        ),
        min=Bounds(160_000, 1_024_000, 8_388_608),
        actual=Bounds(160_000, 1_024_000, 8_388_608),
        guard=JOB,
        guard_nodes=("n1", "n2"),
    ),
    QuotaRecord(
        order=2,
        spec=QuotaSpec(
            id=QuotaId("team-a"),
            parent=QuotaId("root"),
            min=Bounds(16_000, None, 65_536),
            reserved=Resources(4_000, 32_000, 16_384),
            strategy=Strategy.BALANCE,
            self_level=SelfLevels.of(
                SelfLevel(
                    Priorities(6, 9), Priorities(1, 5), frozenset({Module.DSW, Module.DLC}), Scope.SIBLINGS
                )
            ),
            child_level=ChildLevel(Priorities(1, 3), frozenset({Module.EAS})),
            lending=False,
            idle_limit_milli=8_000,
            min_runtime_ms=60_000,
            preemption_delay_ms=120_000,
            name="Team A",
            description="vision",
            labels=(("cost", "4711"),),
        ),
        min=Bounds(8_000, None, 65_536),
        actual=Bounds(12_000, 64_000, None),
        shrinking=True,
        limits=(AmountLimit("team-a", "user:ann", 1, 5, 4_000),),
        shadow=Resources(2_000, 16_000, 131_072),
        stood=(Stood(JOB, 1_000), Stood(TAKER, 2_000)),
    ),
    QuotaRecord(
        order=3,
        spec=QuotaSpec(
            QuotaId("team-b"),
            QuotaId("root"),
            self_level=SelfLevels.of(
                SelfLevel(Priorities(8, 9), Priorities(1, 7), frozenset({Module.DLC}), Scope.OWN, off=True),
                SelfLevel.over_any_lower(frozenset({Module.DSW})),
            ),
            child_level=ChildLevel(Priorities(1, 3), frozenset({Module.EAS}), off=True),
        ),
        min=Bounds(),
        actual=Bounds(),
    ),
    QuotaRecord(
        order=4,
        spec=QuotaSpec(
            QuotaId("team-c"), QuotaId("root"), weight=Bounds(32_000, None, 65_536), fair_idle=True
        ),
        min=Bounds(),
        actual=Bounds(),
    ),
)

SPEC: Final = JobSpec(JOB, "team-a", (ReplicaGroup(1, PLAIN),), 1_000)

JOBS: Final = (
    JobRecord(SPEC, Phase.WAITING, Claim.REGULAR, priority=1, core_replicas=1, queued_ms=1_000),
    JobRecord(
        spec=JobSpec(
            id=TAKER,
            quota="team-a",
            groups=(ReplicaGroup(4, PICKY, "trainer"),),
            submitted_ms=1_000,
            module=Module.EAS,
            priority=7,
            workspace="lab",
            min_replicas=2,
            idle=Idle.ALLOW,
            grace_ms=45_000,
            checkpoint_interval_ms=600_000,
            max_preemptions=3,
            requeue=True,
            subjects=("user:ann", "role:developer"),
        ),
        phase=Phase.RUNNING,
        claim=Claim.IDLE,
        priority=8,
        core_replicas=3,
        queued_ms=2_000,
        run=2,
        started_ms=3_000,
        checkpoint_ms=4_000,
        core=Standing(3_000, PLACES),
        extras=(Standing(3_500, (ReplicaPlace(3, "n2", (2, 3)),)),),
        hold=Promised(Standing(5_000, (ReplicaPlace(2, "n1", (4, 5)),)), (JOB, OTHER), expires_ms=35_000),
        leaving=(ReplicaPlace(4, "n1", (6, 7)),),
        preempted_ms=(1_500, 2_500),
        preempted_by=OTHER,
        lost_last=7_200_000_000,
        replan_first=True,
        reason="FitsIdle",
        told=because(Code.OwnQuotaFull, quota="team-a", free="1 GPU", min="16 GPU", wanted="4 GPU"),
        story=("1000 submitted", "3000 Running: FitsIdle"),
    ),
    JobRecord(
        spec=JobSpec(
            id=OTHER,
            quota="team-a",
            groups=(ReplicaGroup(2, PLAIN),),
            submitted_ms=1_000,
            module=Module.EAS,
            max_replicas=4,
        ),
        phase=Phase.WAITING,
        claim=Claim.REGULAR,
        priority=1,
        core_replicas=1,
        queued_ms=1_000,
    ),
    JobRecord(
        spec=JobSpec(
            id=OTHER,
            quota="team-a",
            groups=(ReplicaGroup(2, PLAIN),),
            submitted_ms=1_000,
            module=Module.EAS,
            max_replicas=3,
            idle=Idle.ALLOW,
        ),
        phase=Phase.RUNNING,
        claim=Claim.REGULAR,
        priority=1,
        core_replicas=1,
        queued_ms=1_000,
        run=1,
        started_ms=3_000,
        core=Standing(3_000, (ReplicaPlace(0, "n1", (0,)),)),
        extras=(
            Standing(3_000, (ReplicaPlace(1, "n1", (1,)),), claim=Claim.IDLE),
            Standing(3_500, (ReplicaPlace(2, "n1", (2,)),), surplus=True),
        ),
    ),
    JobRecord(
        SPEC,
        Phase.WAITING,
        Claim.REGULAR,
        priority=1,
        core_replicas=1,
        queued_ms=1_000,
        run=3,
        losses=2,
        retry_ms=15_000,
    ),
    JobRecord(
        spec=JobSpec(OTHER, "team-a", (ReplicaGroup(2, PLAIN),), 1_000),
        phase=Phase.CANCELLED,
        claim=Claim.REGULAR,
        priority=1,
        core_replicas=2,
        queued_ms=1_000,
        run=1,
        leaving=(ReplicaPlace(0, "n1", (0,)), ReplicaPlace(1, "n1", (1,))),
        ending=(0, 1),
    ),
)

SNAPSHOTS: Final = (
    Snapshot(Settings(), (), (), (), ()),
    Snapshot(
        Settings(
            aging_interval_ms=1_000, balance_timeout_ms=2_000, starvation_guard_ms=3_000, eas_outage_ms=4_000
        ),
        POOLS[:1],
        NODES[:1],
        QUOTAS[:1],
        JOBS[:1],
    ),
    Snapshot(Settings(longest_grace_ms=5_000), (), (), (), ()),
)

CENTRES: Final = (
    Centre("lab", "team-a"),
    Centre(
        workspace="lab",
        quota="team-a",
        modules=frozenset({Module.DSW, Module.DLC}),
        roles=frozenset({Role.OWNER, Role.DEVELOPER}),
        amounts=(Amount("user:ann", Priorities(1, 5), 4_000),),
        ceilings=(Ceiling("role:developer", 6),),
        longest_run_ms=86_400_000,
        longest_wait_ms=3_600_000,
        version=3,
    ),
    Centre(
        "lab",
        "team-a",
        longest_run_of=(ModuleTime(Module.DLC, 43_200_000),),
        longest_wait_of=(ModuleTime(Module.DSW, 60_000),),
    ),
)

# -- decisions -------------------------------------------------------------------------------------------------------

PREEMPTIONS: Final = (
    Preemption(TAKER, Step.IDLE, (), (), 0, 0, 0, ()),
    Preemption(
        preemptor=TAKER,
        step=Step.SIBLINGS,
        victims=(
            VictimCost(
                job=JOB,
                kind=UnitKind.CORE,
                replicas=(0, 1),
                quota="team-b",
                priority=3,
                lost_work=7_200_000_000,
                cost=14_400_000_000,
                freed=Resources(2_000, 16_000, 131_072),
            ),
        ),
        demoted=(OTHER,),
        cost=14_400_000_000,
        cost_without_ladder=1_000_000_000,
        highest_priority=3,
        tried=(StepTried(Step.FREE, because(Code.NoEligibleVictims, step="FREE")),),
    ),
    Preemption(TAKER, Step.OWN, (), (), 0, 0, 0, (), kept=(JOB, OTHER)),
    Preemption(
        None, None,
        (VictimCost(JOB, UnitKind.CORE, (0,), "team-b", 3, 40_000_000, 160_000_000, Resources(1_000), Code.ScaleReclaim),),
        (), 160_000_000, 160_000_000, 3, (), reason=because(Code.ScaleReclaim, quota="team-b"),
    ),
)  # fmt: skip

STARTS: Final = (
    say.Start(JOB, 1, Claim.REGULAR, PLACES[:1], Step.FREE, FITS),
    say.Start(
        job=TAKER,
        run=2,
        claim=Claim.IDLE,
        replicas=PLACES,
        step=Step.SIBLINGS,
        reason=because(Code.AfterPreemption, victims=1, rule="SelfLevelSibling", highest=3, cost=14_400),
        surplus=True,
        preemption=PREEMPTIONS[1],
    ),
    say.Start(JOB, 1, Claim.IDLE, PLACES[1:], Step.FREE, FITS, grows=True),
)
HOLDS: Final = (
    say.Hold(JOB, PLACES[:1], (), None, Step.FREE, FITS),
    say.Hold(
        job=TAKER,
        replicas=PLACES,
        waiting_on=(JOB, OTHER),
        expires_ms=35_000,
        step=Step.OWN,
        reason=because(Code.WaitsForLeaving, leaving=2),
        preemption=PREEMPTIONS[1],
    ),
)
EVICTS: Final = (
    say.Evict(JOB, 1, UnitKind.HOLD, (), None, 0, 0, 0, False, False, Reason(Code.HoldExpired)),
    say.Evict(
        job=JOB,
        run=1,
        kind=UnitKind.SURPLUS,
        replicas=(3,),
        preemptor=TAKER,
        cost=14_400_000_000,
        lost_work=7_200_000_000,
        grace_ms=30_000,
        requeued=True,
        counts=True,
        reason=because(Code.SelfLevelSibling, preemptor="dlc-2", quota="team-a"),
        moved=True,
    ),
)
DEMOTES: Final = (
    say.Demote(JOB, None, Reason(Code.Promoted)),
    say.Demote(JOB, TAKER, because(Code.Demoted, preemptor="dlc-2")),
    say.Demote(JOB, TAKER, because(Code.Demoted, preemptor="dlc-2"), replicas=(3,)),
)
PROMOTES: Final = (
    say.Promote(JOB, Reason(Code.Promoted)),
    say.Promote(JOB, Reason(Code.Promoted), (2, 3), preemption=PREEMPTIONS[0]),
)
RELEASES: Final = (say.Release(JOB, Reason(Code.HoldExpired)),)
STOPS: Final = (
    say.Stop(JOB, 1, (0, 1), 30_000, Reason(Code.StoppedByOwner)),
    say.Stop(JOB, 1, (0, 1), 30_000, Reason(Code.StoppedByOwner), 40_000_000, 160_000_000),
)
FAILS: Final = (say.Fail(JOB, because(Code.PreemptionLimit, count=4, limit=3)),)
ALARMS: Final = (say.Alarm(JOB, because(Code.OftenPreempted, count=5)),)
WAITS: Final = (say.Wait(JOB, because(Code.BehindHead, head="dlc-2", strategy="fifo")),)

# -- by file ---------------------------------------------------------------------------------------------------------

AUTOSCALES: Final = (Autoscale(1, 4, 8_000), Autoscale(2, 3, 500, 60_000))

GOLDEN: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "pool": (PoolRecord, POOLS),
    "node": (NodeRecord, NODES),
    "quota": (QuotaRecord, QUOTAS),
    "job": (JobRecord, JOBS),
    "snapshot": (Snapshot, SNAPSHOTS),
    "centre": (Centre, CENTRES),
    "autoscale": (Autoscale, AUTOSCALES),
    "preemption": (Preemption, PREEMPTIONS),
    "decision_start": (say.Decision, STARTS),
    "decision_hold": (say.Decision, HOLDS),
    "decision_evict": (say.Decision, EVICTS),
    "decision_demote": (say.Decision, DEMOTES),
    "decision_promote": (say.Decision, PROMOTES),
    "decision_release": (say.Decision, RELEASES),
    "decision_stop": (say.Decision, STOPS),
    "decision_fail": (say.Decision, FAILS),
    "decision_alarm": (say.Decision, ALARMS),
    "decision_wait": (say.Decision, WAITS),
}
"""What is written, and read: the type under which it is stored, and the values."""

OLD: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "node": (NodeRecord, NODES[:1]),
    "job": (JobRecord, JOBS[:1]),
}
"""What is only read: the files of `golden/old`. Today keys that a person left out of a snapshot file."""

ENUMS: Final[dict[str, type[Enum]]] = {
    "phase": Phase,
    "claim": Claim,
    "module": Module,
    "idle": Idle,
    "node_state": NodeState,
    "strategy": Strategy,
    "scope": Scope,
    "unit": UnitKind,
    "role": Role,
    "step": Step,
    "reason": Code,
}
