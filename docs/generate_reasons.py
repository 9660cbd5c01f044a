"""Writes docs/reference/reasons.md from `quotatree.core.reasons`: run it after a change there.

    .venv/bin/python docs/generate_reasons.py

Codes, sentences, rules, their order and their groups come from there; when each appears is said here, in WHEN. A code
without a line there, or a line without a code, is an error, and tests/docs fails when the page is not up to date.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from quotatree.core import Code, Reason, Step

PAGE: Final = Path(__file__).parent / "reference" / "reasons.md"

# The groups are the comments inside `Code`.
HEADINGS: Final = {
    "starts": (
        "Starts, holds and promotions",
        "Why a job got its places: carried by `start`, `grow`, `hold` and `promote`.",
    ),
    "evictions": (
        "Evictions and other ends",
        "Why something stopped: carried by `evict`, `shrink`, `move`, `demote`, `release`, `stop`, `fail` and `alarm`.",
    ),
    "waits": (
        "Waits",
        "Why a job has no places yet: carried by `wait`, by `explain`, and by the steps a preemption lists as tried.",
    ),
}

# code: when it appears
WHEN: Final = {
    "FitsFree": "`start`: quota and devices were free; nobody was touched.",
    "AfterIdleBorrowers": "`start` or `hold` after idle borrowers, or surplus replicas of the tree, were told to leave. No policy is needed.",
    "OnLoan": "`start` beyond the own min, never beyond an ancestor's, without a victim.",
    "AfterPreemption": "`start` or `hold` after regular work was evicted; the ledger's entry names each victim and its cost.",
    "EvictsInstead": "`start` or `hold` after others were evicted in the stead of a first victim, which keeps running where it is; the ledger's entry names both.",
    "HoldComplete": "`start` of a held job on its promised places.",
    "StartsElsewhere": "`start` of a held job before its victims have left; its hold is given up.",
    "FitsIdle": "`start` on an idle claim, in the second round of a plan; regular work may take it back at any time.",
    "SurplusFits": "`grow`: one more replica beyond those the job wants, in the last round of a plan.",
    "Promoted": "`promote`: quota has room for a job that runs idle; nothing restarts.",
    "CoreGrows": "`promote`: `min_replicas` was raised, and replicas that run beyond the core cover it, or part of it; nothing restarts.",
    "WaitsForLeaving": "`hold` without victims: the job fits as soon as those who are leaving already have left. `explain` says it of every held job.",
    "StarvationGuard": "`hold` without places and without an end: quota and nodes are kept for the longest-waiting head of a tree.",
    "SelfLevelOwn": "`evict` by the self-level policy of the quota, from the quota itself.",
    "SelfLevelSibling": "`evict` by the self-level policy of the preemptor's quota, from a sibling or from below one.",
    "ChildLevel": "`evict` by the child-level policy of an ancestor.",
    "ReturnOfLoan": "`evict` from a sibling above its min, for a job that fits the min of its own quota. No policy is needed.",
    "TakenInTurn": "`evict` by the right of a job that would have been stopped and started again in one plan: it stays, and its preemptor, which has no such right, starts where the victim was.",
    "FairShare": "`evict` of an `idle: only` claim for a waiting borrower. Not counted as a preemption.",
    "StoodInFor": "`promote`: a regular job of the same quota, priority, module and size that allows idle was evicted in its place, since it loses less.",
    "IdleTakenBack": "`evict` of an idle claim. Not counted as a preemption.",
    "LargestShare": "`evict` of an idle claim below a quota with `fair_idle`, where borrowers with a smaller share were spared. Not counted as a preemption.",
    "SurplusGivesWay": "`shrink`, for any waiting regular request of the tree that fits once it has left; no policy is needed and no priority is looked at. Not counted as a preemption.",
    "Demoted": "`demote`: a victim with `idle: allow` runs on, because only quota was short. It costs nothing.",
    "ScaleReclaim": "`evict` at the moment a quota is scaled down, or gives capacity away, in mode `reclaim`.",
    "LoanReturnedByHand": "`evict` when an admin returns a loan.",
    "NodeDrained": "`evict` with grace, or the end of a hold there. Not counted as a preemption.",
    "NodeCordoned": "`release`: a hold had places on a node that takes nothing new; the job is planned anew.",
    "NodeCrowded": "`release`: others use the node beyond what our work leaves them; the job is planned anew.",
    "NodeLost": "`evict`, or the end of a hold there. Not counted as a preemption.",
    "DeviceIll": "`evict` with grace, or the end of a hold there: nobody stays on a GPU that is ill. Queued again; not counted as a preemption.",
    "HoldExpired": "`release`: somebody did not leave within the longest grace and 60 s; the job is planned anew before its victims.",
    "GuardEnded": "`release` of what a guard kept: the job is over a limit, or no nodes could hold it any more.",
    "CoreResized": "`release`: the owner changed `min_replicas` of a held job.",
    "RequestChanged": "`release`: the owner edited the object of a held job, so that it asks for something else.",
    "FewerReplicas": "`shrink`: the owner lets it have fewer replicas; the newest beyond the core leave with grace. Not counted as a preemption.",
    "HoldTaken": "`release`: whoever could evict the job took its hold; nothing of it was running.",
    "RunLost": "`evict` in a server: the engine does not know the run any more. Queued again like work of a lost node; not counted as a preemption.",
    "CancelledByOwner": "`stop` of a running job.",
    "StoppedByOwner": "`stop`, or the end of a hold: its owner may start the job again.",
    "IdleNotebook": "`stop` in a server: the engine saw a notebook idle for as long as its `idle_stop` says; its owner may start it again.",
    "HeldByOwner": "In a server: its owner put a waiting job on hold; it takes no part in the queue.",
    "DidNotBegin": "In a server: the job had its places, and its pods were not made, not placed or not as planned. A new start would end in the same way, so it takes no work again until its request changes or you release it.",
    "NotAsPlanned": "In a server: the object of the job was edited and asks for something else than was planned; it is planned anew as soon as that can be.",
    "LongestRun": "`stop` and `fail` (a notebook: `stop`) in a server: the scheduling centre's longest run.",
    "LongestWait": "A notebook that waited too long is stopped in a server; a training job raises an event.",
    "PreemptionLimit": "`fail`, after an eviction that counts and found the job no other place.",
    "OftenPreempted": "`alarm`, from the fifth counted preemption within 24 hours on.",
    "OwnQuotaFull": "The job's own quota has too little left of its min. Free may be negative: a loan.",
    "AncestorFull": "A quota above has too little left; reserved parts of others count as taken (Q8).",
    "OverAmountLimit": "`explain`: the job is passed over in every strategy until jobs of the same subject end.",
    "BehindHead": "`explain`: the job has not been tried; `traverse` never says this.",
    "NoPlacement": "Quota has room, nodes have not: too few replicas of the largest shape fit on free devices, or of another beside the larger ones.",
    "NoPolicy": "No step of P4 beyond the loan gives the job a right to anybody's work.",
    "NoEligibleVictims": "The search was skipped: not even all victims of the step together would help.",
    "NoLawfulSet": "Units are eligible, but no set of them was found whose places fit together, which leaves reserved parts and lenders' mins alone and, among descendants and siblings, touches no higher priority than another.",
    "ReturnRefused": "The job fits its own min and a sibling is above its own, but that sibling's policy would let it take the job again at once. What is claimable is its loan without what such jobs of it use.",
    "ReturnNotBelow": "A quota above lacks room because others beside it are above their min; a return is only for jobs that wait at the lender itself.",
    "PreemptionDelayed": "The job has not waited for the `preemption_delay` of its quota.",
    "StopsAtIdle": "A job with `idle: allow` fits as idle, so the steps with regular victims are not tried.",
    "IdleRoomShort": "Non-lending quotas and other idle work leave too little for an idle claim.",
    "IdleLimitReached": "The quota's own `idle_limit` is used up.",
    "FairTurn": "Others have left or are leaving so that it gets its share of what is idle.",
    "FairShareReached": "Idle capacity is divided by share here (`fair_idle`), and the job's branch has its share already, as compared with the branch that borrows most.",
    "FairNoWeight": "Idle capacity is divided by share here (`fair_idle`); a quota with a weight of 0, or without one in what is short, never takes.",
    "IdleNoPlacement": "The idle claim is allowed, but the devices are not there.",
    "WaitsForEnding": "It runs idle; it becomes regular once what its owner's quota has cancelled has left its devices.",
    "StillLeaving": "An idle job that was taken back or stopped: it starts again once its replicas have left their devices.",
    "PoolPartFull": "Free devices are there, but the root draws on several pools, and its part of one that other roots draw on too is used up.",
    "ReplicasRun": "A running job with fewer replicas than it wants or could use: how many run. Why there are no more follows.",
    "KeptForGuard": "There would be room, but the starvation guard keeps it for somebody else.",
    "LoanNotAllowed": "The quota is being scaled down in mode `lazy` and is still above its target.",
    "WouldBeTaken": "The start was left out because another job would evict this one, in the same plan or right after it.",
    "TakesItsPlace": "`start` or `hold` of a preemptor after whose start nobody has to stop: its victim finds room, so it stays instead.",
    "KeptRunning": "Why a job is `Running` that a plan would have stopped and started again elsewhere.",
    "LostAtStart": "`wait` in a server: the engine lost its runs one after another; the pause is 10 s after the second, then doubles up to 5 min.",
    "NotYetTried": "`explain`: tried now, it would start; the next plan will see to it. If the last plan was cut short: how many come first.",
    "SoughtBriefly": "A whole plan was not enough to search for its victims. Then they are sought with little effort: lawful and minimal, but perhaps not the cheapest.",
}

STEPS: Final = {
    "FREE": "start at once, or on places that others are leaving already",
    "IDLE": "take idle borrowers and surplus replicas of the tree back",
    "LOAN": "go beyond the own min, on what siblings do not use",
    "RETURN": "take what siblings have above their min, for a job that fits its own min",
    "OWN": "evict by self-level, from the own quota",
    "SIBLINGS_ABOVE_MIN": "evict from quotas below and beside that are above their min, down to it",
    "DESCENDANTS": "evict by child-level, from below",
    "SIBLINGS": "evict by self-level, from all siblings and what is below them",
}

HEAD: Final = """# Reasons

<!-- Written by docs/generate_reasons.py from quotatree.core.reasons. Do not edit. -->

Every decision carries one reason, made where the decision is made (A2). Its code is stable: it stands in the JSON of
`plan`, `explain` and `preview`, and in the words `reason` and `why` of [scenario files](scenario.md). Names in braces are the
reason's `facts`; the last column links the [rules](rules.md) behind it. There is no "unknown".
"""

STEPS_HEAD: Final = """## Steps

What a waiting job tries, least disruptive first (P4); each step may use everything of the steps before it. `step` of a start or
hold says which one worked, and `tried` why those before it did not. The last three are one step: there the highest priority touched
decides first, among equals their order here, and then the cost. [Preemption](../explanation/preemption.md) explains them.
Scenario files and what is told of them spell a step as here; answers of the API, events and the ledger in capitals with `_`, as they are
stored: `SIBLINGS_ABOVE_MIN`.

| step | told as | what it adds |
|---|---|---|
"""


def page() -> str:
    """The whole text of the page."""
    parts = [linked(HEAD)]
    for group, codes in groups().items():
        heading, intro = HEADINGS[group]
        parts.append(f"\n## {heading}\n\n{intro}\n\n| code | told as | when | rule |\n|---|---|---|---|\n")
        for code in codes:
            when, rules = linked(WHEN[code.name]), linked(", ".join(Reason(code).rules))
            parts.append(f"| `{code.name}` | {code.value} | {when} | {rules} |\n")
    parts.append("\n" + linked(STEPS_HEAD))
    parts += [f"| `{_word(Step[name])}` | {Step[name].value} | {adds} |\n" for name, adds in STEPS.items()]
    return "".join(parts)


def linked(text: str) -> str:
    """The text with every rule number linked to its place in the rulebook."""
    return re.sub(r"\b([A-Z]\d{1,2})\b", lambda rule: f"[{rule[1]}](rules.md#{rule[1].lower()})", text)


def groups() -> dict[str, list[Code]]:
    """The codes under the comments that group them in the source."""
    _check_names("WHEN", WHEN, [code.name for code in Code])
    _check_names("STEPS", STEPS, [step.name for step in Step])
    found: dict[str, list[Code]] = {}
    group = ""
    for line in inspect.getsource(Code).splitlines():
        comment = re.fullmatch(r" {4}# (\w+)", line)
        member = re.match(r" {4}([A-Z]\w+) = ", line)
        if comment:
            group = comment[1]
        elif member:
            found.setdefault(group, []).append(Code[member[1]])
    return found


def _check_names(table: str, told: Collection[str], names: list[str]) -> None:
    missing = [name for name in names if name not in told]
    superfluous = [name for name in told if name not in names]
    if missing or superfluous:
        raise ValueError(
            f"{table} in docs/generate_reasons.py: missing {missing}, no longer there {superfluous}"
        )


def _word(step: Step) -> str:
    return step.name.lower().replace("_", "-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
