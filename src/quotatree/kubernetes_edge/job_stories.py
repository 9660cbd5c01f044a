"""What is told on an object while its job waits, runs and is taken? Why it waits, where it started, who preempted it, how it ended.

What happened is read from the log of events, in order and nothing twice; why a job waits is asked now and then, and told when the
reason is another one, or its figures have changed and the last word is old. Names that the namespace may not know are masked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from quotatree import core
from quotatree.control.eyes import eyes
from quotatree.control.loop import Controller
from quotatree.control.queries import reasons
from quotatree.control.world import World
from quotatree.core import JobId, Reason
from quotatree.kubernetes_edge.inside import ANSWER_SECONDS
from quotatree.kubernetes_edge.native_jobs import Tell
from quotatree.kubernetes_edge.object_events import NORMAL, WARNING, Subject
from quotatree.store import HistoryFilter, Store
from quotatree.store.rows import EventRow

AT_ONCE: Final = 500
LOOK_MS: Final = 2_000
"""How often waiting jobs are asked why they wait."""
REPEAT_MS: Final = 60_000
"""How old the last word is before changed figures are told."""
KINDS: Final = (
    "job.started", "job.evicted", "job.moved", "job.stopped", "job.cancelled", "job.failed", "job.ended", "job.lost", "job.alarm",
    "job.does_not_leave", "job.hindered", "job.not_as_planned", "job.did_not_begin", "job.unplanned", "job.ran_too_long", "job.waited_too_long",
)  # fmt: skip
T = TypeVar("T")


@dataclass(slots=True)
class _Word:
    code: str
    text: str
    at_ms: int


class JobStories:
    def __init__(self, controller: Controller, store: Store, events: Tell) -> None:
        self._controller = controller
        self._store = store
        self._events = events
        self._seq: int | None = None
        self._words: dict[JobId, _Word] = {}
        self._looked_ms = 0

    def begin(self, seq: int) -> None:
        """Tell what happens after this event; what was before, another server has told."""
        self._seq = seq if self._seq is None else self._seq

    def tell(self, queued: Mapping[JobId, Subject], now_ms: int) -> None:
        self._tell_events(queued)
        if now_ms - self._looked_ms >= LOOK_MS:
            self._looked_ms = now_ms
            self._tell_waiting(queued, now_ms)

    def _tell_events(self, queued: Mapping[JobId, Subject]) -> None:
        asked = HistoryFilter(kinds=KINDS)
        while self._seq is not None:
            rows = self._store.events(self._seq, asked, AT_ONCE)
            for row in rows:
                about = queued.get(JobId(row.job or ""))
                if about is not None:
                    self._tell_event(about, row)
                self._seq = row.seq
            if len(rows) < AT_ONCE:
                return

    def _tell_event(self, about: Subject, row: EventRow) -> None:
        job = JobId(row.job or "")
        self._words.pop(job, None)
        kind, reason, text = _TOLD[row.kind](
            row.body, lambda query: self._ask(lambda world, now_ms: query(world, job, now_ms))
        )
        self._events.tell(about, reason, text, kind)

    def _tell_waiting(self, queued: Mapping[JobId, Subject], now_ms: int) -> None:
        why = self._ask(_why(list(queued)))
        for job in [job for job in self._words if job not in why]:
            del self._words[job]
        for job, reason in why.items():
            said, code, text = self._words.get(job), reason.code.name, _text(reason)
            old = said is not None and now_ms - said.at_ms >= REPEAT_MS and said.text != text
            if said is None or said.code != code or old:
                self._words[job] = _Word(code, text, now_ms)
                self._events.tell(queued[job], "Waiting", text)

    def _ask(self, query: Callable[[World, int], T]) -> T:
        return self._controller.ask(query).result(ANSWER_SECONDS)


def _why(jobs: list[JobId]) -> Callable[[World, int], dict[JobId, Reason]]:
    """Why each of the jobs waits that do, as their owners may read it."""

    def query(world: World, now_ms: int) -> dict[JobId, Reason]:
        found = reasons(jobs)(world, now_ms)
        return {job: eyes(world, world.cards[job].owner).reason(reason) for job, reason in found.items()}

    return query


def _text(reason: Reason) -> str:
    return f"{reason.text} [{', '.join((reason.code.name, *reason.rules))}]"


Told = tuple[str, str, str]
Asks = Callable[[Callable[[World, JobId, int], Any]], Any]


def _started(body: Mapping[str, Any], ask: Asks) -> Told:
    nodes: Counter[str] = ask(_nodes)
    where = ", ".join(f"{node} ({pods})" if pods > 1 else node for node, pods in sorted(nodes.items()))
    idle = " on idle capacity" if body.get("claim") == "idle" else ""
    return NORMAL, "Started", f"run {body.get('run')}{idle}" + (f" on {where}" if where else "")


def _nodes(world: World, job: JobId, now_ms: int) -> Counter[str]:
    del now_ms
    return Counter(place.node for place in world.places.get(job, {}).values())


def _evicted(body: Mapping[str, Any], ask: Asks) -> Told:
    by = ask(_preempted_by)
    lost = f"{body.get('lost_gpu_seconds', 0):,.0f} GPU-seconds of work lost"
    then = "; queued again at its old place" if body.get("requeued") else ""
    who = f" by {by}" if by else ""
    reason = "Preempted" if body.get("counts") or by else "Evicted"
    return WARNING, reason, f"taken{who} [{body.get('reason')}]: {lost}{then}"


def _preempted_by(world: World, job: JobId, now_ms: int) -> str:
    """Who took the job, as its owner may read it; "" if nobody did, or the job is over."""
    if job not in world.state.jobs:
        return ""
    told = core.explain(world.state, job, now_ms)
    by = eyes(world, world.cards[job].owner).explanation(told).preempted_by
    return by or ""


def _plain(kind: str, reason: str, text: str) -> Callable[[Mapping[str, Any], Asks], Told]:
    def told(body: Mapping[str, Any], ask: Asks) -> Told:
        del ask
        why = " ".join(str(body[name]) for name in ("phase", "detail", "reason") if body.get(name))
        return kind, reason, f"{text}: {why}" if why else text

    return told


_TOLD: Final[Mapping[str, Callable[[Mapping[str, Any], Asks], Told]]] = {
    "job.started": _started,
    "job.evicted": _evicted,
    "job.moved": _plain(NORMAL, "Moved", "restarts elsewhere to make room"),
    "job.stopped": _plain(NORMAL, "Stopped", "stopped"),
    "job.cancelled": _plain(
        NORMAL, "Cancelled", "cancelled; it stays suspended, make it anew to queue it again"
    ),
    "job.failed": _plain(WARNING, "GivenUp", "not started any more"),
    "job.ended": _plain(NORMAL, "Ended", "ended"),
    "job.lost": _plain(WARNING, "Lost", "its pods are gone, and it is queued again"),
    "job.alarm": _plain(WARNING, "PreemptedOften", "preempted again and again"),
    "job.ran_too_long": _plain(
        WARNING, "RanTooLong", "stopped, since it ran longer than its workspace allows"
    ),
    "job.waited_too_long": _plain(WARNING, "WaitedTooLong", "waits longer than its workspace allows"),
    "job.hindered": _plain(WARNING, "NotPlaced", "started, and its pods have not begun"),
    "job.not_as_planned": _plain(
        WARNING, "NotAsPlanned", "not started, since its object asks for something else than was planned"
    ),
    "job.did_not_begin": _plain(
        WARNING, "DidNotBegin", "not started again until it asks for something else or is released"
    ),
    "job.unplanned": _plain(
        WARNING, "PodsUnplanned", "a pod that was not planned is told to leave, and counts until it has"
    ),
    "job.does_not_leave": _plain(WARNING, "Overdue", "its pods do not go although their grace is over"),
}
