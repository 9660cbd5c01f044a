"""Why: one table of reason codes and their sentences (A2).

A reason is made where the decision is made. Its code is also the metric label and the API code; its facts fill the
sentence. There is no "unknown".
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class Code(Enum):
    """Every reason; the name is the public code, the value the sentence that facts fill."""

    __hash__ = object.__hash__  # each member is one object; an Enum would hash its name at every look-up

    # starts
    FitsFree = "fits in its quota path and on free devices"
    AfterIdleBorrowers = "took back {freed} from idle borrowers or surplus replicas"
    OnLoan = "starts beyond the min of {quota}, on capacity its siblings do not use: loan {loan}"
    AfterPreemption = (
        "evicts {victims} unit(s) by {rule}; highest priority touched {highest}, cost {cost} GPU-s"
    )
    EvictsInstead = (
        "evicts {victims} unit(s), so that {stays} keeps running, which it could take by {rule}; highest priority touched {highest}, "
        "cost {cost} GPU-s"
    )
    HoldComplete = "everybody it waited for has left"
    StartsElsewhere = "free devices turned up before its victims had left"
    FitsIdle = "no regular room, but {free} is used by nobody"
    SurplusFits = "replica beyond what it wants fits in min and on free devices"
    Promoted = "its turn came: the idle claim becomes regular in place"
    CoreGrows = "replicas that already run become part of the larger core"
    WaitsForLeaving = "its places are promised; {leaving} job(s) still have to leave them"
    StarvationGuard = "has waited {waited} as head; what becomes free on its places is kept for it"
    # evictions
    SelfLevelOwn = "taken for {preemptor} by the self-level policy of {quota} (own quota)"
    SelfLevelSibling = "taken for {preemptor} by the self-level policy of {quota} (sibling quota)"
    ChildLevel = "taken for {preemptor} by the child-level policy of {quota}"
    ReturnOfLoan = "taken for {preemptor}: {quota} is above its min and hands the loan back"
    TakenInTurn = (
        "taken for {preemptor}, so that {stays} keeps running, which may take it by {rule} of {quota}"
    )
    StoodInFor = (
        "becomes regular in place: {victim} of its quota loses less and goes to {preemptor} in its stead"
    )
    IdleTakenBack = "an idle claim gives way to the regular job {preemptor}"
    LargestShare = "an idle claim gives way to the regular job {preemptor}: of what is borrowed below {quota} it has the largest share"
    FairShare = "taken for {preemptor}: below {quota} idle work is divided by share, and it has less"
    SurplusGivesWay = "a surplus replica gives way to {preemptor}"
    Demoted = "only quota was short: keeps running on an idle claim so that {preemptor} can start"
    ScaleReclaim = "{quota} was scaled below its use in mode reclaim"
    LoanReturnedByHand = "an admin returned the loan of {quota}"
    NodeDrained = "node {node} is drained"
    NodeCordoned = "node {node} is cordoned: what was promised there is given up; planned anew"
    NodeCrowded = "others use node {node}: what was promised there is given up; planned anew"
    NodeLost = "node {node} was lost"
    DeviceIll = "GPU {device} of node {node} is ill"
    HoldExpired = "the hold expired; planned anew"
    GuardEnded = "cannot start any more even if others left: nothing is kept for it any longer"
    CoreResized = "its min_replicas changed; planned anew"
    RequestChanged = "what it asks for has changed; planned anew"
    FewerReplicas = "its owner lets it have {replicas} replicas at most"
    HoldTaken = "the hold was taken for {preemptor}"
    RunLost = "its replica(s) {replicas} vanished and nobody knows how they ended"
    CancelledByOwner = "cancelled"
    StoppedByOwner = "stopped by its owner, who may start it again"
    IdleNotebook = "did nothing for as long as its idle rule allows: {detail}"
    HeldByOwner = "on hold until its owner releases it"
    NotAsPlanned = "on hold until it asks again for what can be planned: {detail}"
    DidNotBegin = "on hold, since it was started and its pods could not begin: {detail}"
    LongestRun = "ran longer than the {limit} that {workspace} allows in {quota}"
    LongestWait = "waited longer than the {limit} that {workspace} allows in {quota}"
    PreemptionLimit = "preempted {count} times, more than its max_preemptions {limit}"
    OftenPreempted = "preempted {count} times in 24 hours"
    # waits
    OwnQuotaFull = "{quota} has {free} free of its min {min}, {wanted} wanted"
    AncestorFull = "{quota}, above it, has {free} free of its min {min}, {wanted} wanted"
    OverAmountLimit = (
        "the limit of {subject} at priorities {priorities} is {limit}; {used} in use, {wanted} wanted"
    )
    BehindHead = "{head} is ahead and strategy {strategy} lets nobody pass"
    NoPlacement = "quota allows it, but nodes do not: {fits} of {wanted} replicas of {shape} fit"
    NoPolicy = "no policy lets it take from anybody"
    NoEligibleVictims = "{step}: even with every eligible unit gone it would not fit"
    NoLawfulSet = "{step}: found no eligible units that are enough and leave reserved parts, mins and higher priorities alone"
    ReturnRefused = (
        "{quota} is {loan} above its min, but its jobs that use {kept} could take this one again by its self-level policy: "
        "{claimable} of that may be claimed"
    )
    ReturnNotBelow = "quotas beside {quota} are above their min, but only jobs of {quota} itself may claim that, not those below it"
    PreemptionDelayed = "may preempt only after waiting {delay}; {left} left"
    StopsAtIdle = "runs on idle capacity rather than evict (idle: allow)"
    IdleRoomShort = "idle room of the tree is {free}, {wanted} wanted"
    IdleLimitReached = "{quota} may borrow {limit} in all, {used} borrowed, {wanted} wanted"
    WaitsForEnding = "work of {quota} that was cancelled or stopped has yet to leave"
    FairTurn = "has its turn on idle capacity when {leaving} replica(s) have left"
    FairShareReached = (
        "with it {quota} would have {share} of its weight, and {beside} would keep {left}: it takes from {beside} only while its own "
        "share is not above that"
    )
    FairNoWeight = "{quota} has no weight, so that it takes no idle capacity from others"
    IdleNoPlacement = "idle room is there, but no free devices for {shape}"
    KeptForGuard = "{quota} keeps {kept} free for {head}, which has waited too long"
    LoanNotAllowed = "{quota} takes no new loan while it shrinks"
    WouldBeTaken = "starting it now would only make it a victim of {preemptor}"
    LostAtStart = (
        "its last {losses} runs were lost at their start{detail}: it is tried again {pause} after the last"
    )
    NotYetTried = "not tried yet: {when}"
    SoughtBriefly = "its victims were sought with little effort, since a whole plan was not enough: others might cost less"
    StillLeaving = "its last run has not ended yet: {replicas} replica(s) are still leaving"
    TakesItsPlace = "takes the place to which {kept} would have moved, so that {kept} keeps running"
    KeptRunning = "keeps running: it would have been stopped and started again in one plan"
    ReplicasRun = "{running} replica(s) run; it wants {wanted} and can use {most}"
    PoolPartFull = (
        "{quota} may take {limit} from pool {pool}, which it shares; {used} of that in use, {wanted} wanted"
    )


RULES: Final[dict[Code, tuple[str, ...]]] = {
    Code.FitsFree: ("P4",),
    Code.AfterIdleBorrowers: ("P4", "I3", "P12"),
    Code.OnLoan: ("P3", "P4"),
    Code.AfterPreemption: ("P4", "P5", "P13"),
    Code.EvictsInstead: ("P4", "P8", "P13"),
    Code.HoldComplete: ("P9",),
    Code.StartsElsewhere: ("P9",),
    Code.FitsIdle: ("I1", "I2"),
    Code.SurplusFits: ("P12",),
    Code.Promoted: ("I1",),
    Code.CoreGrows: ("P12",),
    Code.WaitsForLeaving: ("P9",),
    Code.StarvationGuard: ("S10",),
    Code.SelfLevelOwn: ("P1",),
    Code.SelfLevelSibling: ("P1", "P3"),
    Code.ChildLevel: ("P2",),
    Code.ReturnOfLoan: ("P15",),
    Code.TakenInTurn: ("P8", "P13"),
    Code.StoodInFor: ("I3",),
    Code.IdleTakenBack: ("I3",),
    Code.LargestShare: ("I3", "I4"),
    Code.FairShare: ("I4",),
    Code.SurplusGivesWay: ("P12",),
    Code.Demoted: ("I1",),
    Code.ScaleReclaim: ("Q5",),
    Code.LoanReturnedByHand: ("P15",),
    Code.NodeDrained: ("R5",),
    Code.NodeCordoned: ("R5", "P9"),
    Code.NodeCrowded: ("R6", "P9"),
    Code.NodeLost: ("R5",),
    Code.DeviceIll: ("R5",),
    Code.HoldExpired: ("P9",),
    Code.GuardEnded: ("S10",),
    Code.CoreResized: ("P12",),
    Code.RequestChanged: ("J5",),
    Code.FewerReplicas: ("P12",),
    Code.HoldTaken: ("P9",),
    Code.RunLost: ("A7", "R5"),
    Code.CancelledByOwner: ("P9",),
    Code.StoppedByOwner: ("P14",),
    Code.IdleNotebook: ("P14",),
    Code.HeldByOwner: ("J5", "S0"),
    Code.NotAsPlanned: ("J5", "A7"),
    Code.DidNotBegin: ("P7", "J5"),
    Code.LongestRun: ("W3",),
    Code.LongestWait: ("W3",),
    Code.PreemptionLimit: ("P11",),
    Code.OftenPreempted: ("P11",),
    Code.OwnQuotaFull: ("Q3",),
    Code.AncestorFull: ("Q3", "Q4"),
    Code.OverAmountLimit: ("W3", "W4"),
    Code.BehindHead: ("S1", "S3", "S4"),
    Code.NoPlacement: ("P7",),
    Code.NoPolicy: ("P1", "P2", "P15"),
    Code.NoEligibleVictims: ("P7",),
    Code.NoLawfulSet: ("Q8", "P15", "P4"),
    Code.ReturnRefused: ("P15",),
    Code.ReturnNotBelow: ("P15",),
    Code.PreemptionDelayed: ("P11",),
    Code.StopsAtIdle: ("P4", "I1"),
    Code.IdleRoomShort: ("I2",),
    Code.IdleLimitReached: ("I2",),
    Code.FairTurn: ("I4",),
    Code.FairShareReached: ("I4",),
    Code.FairNoWeight: ("I4",),
    Code.IdleNoPlacement: ("I2",),
    Code.KeptForGuard: ("S10",),
    Code.LoanNotAllowed: ("Q5",),
    Code.WouldBeTaken: ("S8",),
    Code.LostAtStart: ("R5",),
    Code.NotYetTried: ("A8", "X1"),
    Code.SoughtBriefly: ("A8", "P5"),
    Code.StillLeaving: ("P9",),
    Code.WaitsForEnding: ("P9",),
    Code.TakesItsPlace: ("P8",),
    Code.KeptRunning: ("P8",),
    Code.ReplicasRun: ("P12",),
    Code.PoolPartFull: ("Q1",),
}
"""The rules (docs/reference/rules.md) that each reason follows from."""


class Reason(NamedTuple):
    """A code and the facts that fill its sentence."""

    code: Code
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        return self.code.value.format_map(dict(self.facts))

    @property
    def rules(self) -> tuple[str, ...]:
        """Numbers of the rules that this reason follows from."""
        return RULES[self.code]


def because(code: Code, **facts: object) -> Reason:
    return Reason(code, tuple([(key, str(value)) for key, value in facts.items()]) if facts else ())


class Step(Enum):
    """The steps of P4, least disruptive first.

    The last three are one step, in which the highest priority touched decides before which of them it is; among equals quotas
    above their min come first.
    """

    FREE = "free capacity"
    IDLE = "idle borrowers and surplus"
    LOAN = "loan on siblings' unused capacity"
    RETURN = "return of loans"
    OWN = "own quota"
    DESCENDANTS = "descendants"
    SIBLINGS_ABOVE_MIN = "siblings above their min"
    SIBLINGS = "siblings"
