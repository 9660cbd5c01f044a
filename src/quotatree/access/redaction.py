"""What does a reader see of other teams' work? Priority, size and the level of the quota; no names (W2, P13).

A `Reader` turns what the core says (explanations, decisions, the ledger, refusals) into the same values with every
name replaced that its actor may not read. Names are known by where they stand, never looked for in a finished text: in the
facts of a reason and the fields of a decision by their key, in a `Sentence` by its parts. It fails closed: a fact of a
reason that is not known to be harmless is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

from quotatree.access.check import (
    PLATFORM,
    Tree,
    named_quotas,
    path_of,
    roles_on,
    visible_users,
    visible_workspaces,
    workspaces_with_visible_jobs,
)
from quotatree.access.directory import Directory
from quotatree.access.roles import Role
from quotatree.core import GPU, Code, Explanation, Exposure, Help, JobId, Reason, Refused, amount_text
from quotatree.core import decisions as say
from quotatree.core.sentences import Named, NameKind, Sentence

HIDDEN: Final = "[hidden]"
JOB_FACTS: Final = frozenset({"preemptor", "head", "stays", "victim"})
QUOTA_FACTS: Final = frozenset({"quota", "beside"})
PLAIN_FACTS: Final = frozenset(
    {
        "claimable", "cost", "count", "delay", "detail", "device", "fits", "free", "freed", "highest", "kept", "leaving", "left",
        "limit", "loan", "losses", "min", "most", "pause", "priorities", "replicas", "rule", "running", "shape", "share",
        "step", "strategy", "used", "victims", "waited", "wanted", "when",
    }
)  # fmt: skip
"""Facts whose values are figures or words of our own, so that they cannot contain a name."""

EVENT_NAMES: Final = {
    "quota": NameKind.QUOTA, "parent": NameKind.QUOTA, "source": NameKind.QUOTA, "target": NameKind.QUOTA, "job": NameKind.JOB,
    "by": NameKind.USER,
}  # fmt: skip
"""Keys of the bodies of events whose values are names."""

D = TypeVar("D", bound=say.Decision)


class JobFacts(NamedTuple):
    """What redaction needs to know of a job."""

    workspace: str
    quota: str
    priority: int
    gpu_milli: int


@dataclass(frozen=True, slots=True)
class Reader:
    """What one actor may read, and the methods that hide the rest. `reader` makes one for every answer."""

    everything: bool
    workspaces: frozenset[str]
    jobs_of: frozenset[str]
    """Workspaces whose jobs the actor may see by name."""
    quotas: frozenset[str]
    users: frozenset[str]
    directory: Directory
    tree: Tree
    facts: Callable[[str], JobFacts | None]

    def sees(self, job: str) -> bool:
        if self.everything:
            return True
        facts = self.facts(job)
        return facts is not None and facts.workspace in self.jobs_of

    def job(self, job: str) -> JobId:
        """The job's id if the actor may see it, else a description of it; "[job]" for one that is no longer known."""
        if not job or self.sees(job):
            return JobId(job)
        facts = self.facts(job)
        return JobId("[job]") if facts is None else self._sized(facts.priority, facts.gpu_milli, facts.quota)

    def quota(self, quota: str) -> str:
        if self.everything or quota in self.quotas:
            return quota
        return f"[quota at level {len(path_of(quota, self.tree))}]" if quota in self.tree else "[quota]"

    def reason(self, reason: Reason, *, of_visible: bool = True) -> Reason:
        """The reason with hidden names replaced.

        `of_visible`: it is about a job the actor may see, so a node or pool in it is one of that job's own tree and stays.
        """
        if self.everything:
            return reason
        facts = tuple((key, self._fact(key, value, of_visible)) for key, value in reason.facts)
        if reason.code is Code.TakesItsPlace:  # in other reasons `kept` is an amount
            facts = tuple((key, self.job(value)) for key, value in reason.facts)
        return Reason(reason.code, facts)

    def decision(self, decision: D) -> D:
        if self.everything:
            return decision
        seen = self.sees(decision.job)
        changes: dict[str, Any] = {
            "job": self.job(decision.job),
            "reason": self.reason(decision.reason, of_visible=seen),
        }
        if isinstance(decision, say.Start | say.Hold | say.Evict | say.Stop) and not seen:
            changes["replicas"] = ()
        if isinstance(decision, say.Start | say.Evict | say.Stop) and not seen:
            changes["run"] = 0
        if isinstance(decision, say.Start | say.Hold | say.Promote) and decision.preemption is not None:
            changes["preemption"] = self.preemption(decision.preemption)
        if isinstance(decision, say.Hold):
            changes["waiting_on"] = tuple(self.job(job) for job in decision.waiting_on)
        if isinstance(decision, say.Evict | say.Demote) and decision.preemptor is not None:
            changes["preemptor"] = self.job(decision.preemptor)
        return decision._replace(**changes)  # type: ignore[return-value]  # mypy does not narrow the variable

    def concerns(self, decision: say.Decision) -> bool:
        """True if the decision is about, or caused by, a job the actor may see; the rest of a plan is not shown."""
        preemptor = decision.preemptor if isinstance(decision, say.Evict | say.Demote) else None
        named = [decision.job, *([preemptor] if preemptor is not None else [])]
        if isinstance(decision, say.Start | say.Hold | say.Promote) and decision.preemption is not None:
            named += [victim.job for victim in decision.preemption.victims] + [*decision.preemption.demoted]
        return any(self.sees(job) for job in named)

    def preemption(self, entry: say.Preemption) -> say.Preemption:
        """An entry of the ledger (P13) with hidden jobs masked. Costs stay: they reveal no name."""
        if self.everything:
            return entry
        return replace(
            entry,
            preemptor=None if entry.preemptor is None else self.job(entry.preemptor),
            reason=None if entry.reason is None else self.reason(entry.reason),
            victims=tuple(self._victim(victim) for victim in entry.victims),
            demoted=tuple(self.job(job) for job in entry.demoted),
            kept=tuple(self.job(job) for job in entry.kept),
            tried=self._tried(entry.tried),
        )

    def explanation(self, told: Explanation) -> Explanation:
        """The explanation of a job that the actor may see, with all hidden jobs and quotas in it masked."""
        if self.everything:
            return told
        return replace(
            told,
            job=self.job(told.job),
            quota=self.quota(told.quota),
            ahead=tuple(self.job(job) for job in told.ahead),
            reasons=tuple(self.reason(reason) for reason in told.reasons),
            holders=tuple(replace(holder, quota=self.quota(holder.quota)) for holder in told.holders),
            tried=self._tried(told.tried),
            helps=tuple(self._help(one) for one in told.helps),
            preempted_by=None if told.preempted_by is None else self.job(told.preempted_by),
            next_try=self.text(told.next_try),
        )

    def exposure(self, told: Exposure) -> Exposure:
        return replace(told, quota=self.quota(told.quota), who=self.text(told.who))

    def refusal(self, refused: Refused) -> Refused:
        """The refusal with hidden names in its message replaced; what is in the way may belong to others."""
        return Refused(refused.field, refused.value, refused.rule, self.text(refused.message))

    def text(self, text: str) -> str:
        """The text with every name replaced that the actor may not know; one that is no Sentence has no names."""
        return text if self.everything or not isinstance(text, Sentence) else text.shown(self._name)

    def event(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of an event about a quota or the cluster, with hidden names replaced: a transfer names the other quota."""
        if self.everything:
            return dict(body)
        return {
            key: self._name(Named(EVENT_NAMES[key], value))
            if key in EVENT_NAMES and isinstance(value, str)
            else value
            for key, value in body.items()
        }

    def _help(self, told: Help) -> Help:
        """The help; only in words if it is a change of something the actor may not know."""
        text = self.text(told.text)
        if (told.quota is not None and told.quota not in self.quotas) or (
            told.job and not self.sees(told.job)
        ):
            return Help(text)
        return told._replace(text=text)

    def _name(self, named: Named) -> str:
        kind, name = named
        if kind is NameKind.JOB:
            return self.job(name)
        if kind is NameKind.QUOTA:
            return self.quota(name)
        if kind is NameKind.USER:
            return (
                name if name in self.users or name.startswith("(") else HIDDEN
            )  # "(server)" is no user (E1)
        workspace = name.partition("/")[0] if kind is NameKind.SUBJECT else name
        return name if workspace in self.workspaces else HIDDEN

    def _fact(self, key: str, value: str, of_visible: bool) -> str:
        if key in PLAIN_FACTS or (key in ("node", "pool") and of_visible):
            return value
        if key in JOB_FACTS:
            return self.job(value)
        if key in QUOTA_FACTS:
            return self.quota(value)
        if key in ("workspace", "subject"):
            return self._name(Named(NameKind(key), value))
        return HIDDEN

    def _victim(self, victim: say.VictimCost) -> say.VictimCost:
        if self.sees(victim.job):
            return victim._replace(quota=self.quota(victim.quota))
        label = self._sized(victim.priority, victim.freed.gpu_milli, victim.quota)
        return victim._replace(job=label, quota=self.quota(victim.quota), replicas=())

    def _tried(self, tried: tuple[say.StepTried, ...]) -> tuple[say.StepTried, ...]:
        return tuple(say.StepTried(step, self.reason(reason)) for step, reason in tried)

    def _sized(self, priority: int, gpu_milli: int, quota: str) -> JobId:
        level = f", level {len(path_of(quota, self.tree))}" if quota in self.tree else ""
        return JobId(f"[job of priority {priority}, {amount_text(GPU, gpu_milli)}{level}]")


def reader(directory: Directory, actor: str, tree: Tree, facts: Callable[[str], JobFacts | None]) -> Reader:
    """What this actor may read. `facts` returns the facts of a job by its id, or None for what is not a job."""
    return Reader(
        everything=Role.PLATFORM_ADMIN in roles_on(directory, actor, PLATFORM),
        workspaces=visible_workspaces(directory, actor),
        jobs_of=workspaces_with_visible_jobs(directory, actor),
        quotas=named_quotas(directory, actor, tree),
        users=visible_users(directory, actor),
        directory=directory,
        tree=tree,
        facts=facts,
    )
