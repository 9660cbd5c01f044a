"""What becomes of an object that was made with kubectl? It is gated, submitted once, kept suspended until its turn, cancelled with it.

Everything is keyed by the object's uid: the submit carries it as its idempotency key, the job's program names it, and the object is
annotated with the job. So a server that comes later finds what there is, whatever the one before it was doing when it died.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from quotatree.access.errors import NotFound
from quotatree.api.models.fields import PRIORITY_NAMES
from quotatree.api.models.jobs import JobIn
from quotatree.control.commands import values as do
from quotatree.control.errors import Unavailable
from quotatree.control.eyes import eyes
from quotatree.control.loop import Controller
from quotatree.control.world import RESOURCES, SYSTEM, World
from quotatree.core import JobId, QuotaTreeError, Refused, in_numbers
from quotatree.engines.kubernetes import adopted
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.adopted_view import run_name
from quotatree.engines.kubernetes.errors import Clash, ClusterError
from quotatree.engines.kubernetes.native import FIELD
from quotatree.kubernetes_edge.accounts import account_of, with_account
from quotatree.kubernetes_edge.inside import ANSWER_SECONDS
from quotatree.kubernetes_edge.native_edits import WrongAsk, follow, put_aside
from quotatree.kubernetes_edge.native_reading import Asked
from quotatree.kubernetes_edge.native_writing import UNPROCESSABLE, Cluster, ObjectWriter, plain
from quotatree.kubernetes_edge.object_events import NORMAL, WARNING, Subject

FIRST_RETRY_MS: Final = 2_000
LONGEST_RETRY_MS: Final = 60_000
CLASH_MS: Final = 100
LOOK_MS: Final = 1_000
"""How often jobs are looked for that were taken out of the queue because of what they ask for."""
TELLING: Final = (403, UNPROCESSABLE)
"""Answers of the cluster that an object's owner, or an admin, must know of."""
NEVER_MS: Final = 1 << 62
T = TypeVar("T")


class Tell(Protocol):
    def tell(self, about: Subject, reason: str, text: str, kind: str = NORMAL) -> None: ...


class Standing(NamedTuple):
    """How a job stands in the loop. `stands`: its devices are taken, by a run or by what is left of it."""

    run: int
    priority: int
    stands: bool
    on_hold: bool


@dataclass(slots=True)
class _Known:
    asked: Asked
    refused: str = ""
    retry_ms: int = 0
    due_ms: int = 0
    by_hand: bool = False
    """Somebody else resumed it."""
    edit: str = ""
    """What was told last of an edit."""
    changes: dict[str, Any] = field(default_factory=dict)
    """What its owner changed since it was queued: `priority`, `hold`."""


class NativeJobs:
    """All objects of one cluster. `changed` may be called from any thread, everything else from one."""

    def __init__(
        self,
        controller: Controller,
        cluster: Cluster,
        sorts: Mapping[str, Adoptable],
        events: Tell,
        *,
        gpu_names: tuple[str, ...],
        was_submitted: Callable[[str, str], bool],
    ) -> None:
        """`was_submitted(job, uid)`: whether there ever was such a job for that object."""
        self._controller = controller
        self._write = ObjectWriter(cluster, sorts, gpu_names)
        self._events = events
        self._was_submitted = was_submitted
        self._inbox: queue.SimpleQueue[tuple[Asked | None, Asked | None]] = queue.SimpleQueue()
        self._known: dict[str, _Known] = {}  # by uid
        self._gone: list[tuple[str, bool]] = []  # by uid, and whether it had ended
        self._looked_ms = 0
        self._jobs: dict[str, JobId] = {}  # by uid: what was queued here
        self.workspaces: dict[str, str] = {}
        """The workspace of each namespace that belongs to one."""

    def changed(self, before: Asked | None, after: Asked | None) -> None:
        """An object is there, is another, or is gone (None)."""
        self._inbox.put((before, after))

    def look_again(self) -> None:
        """Try at once what was refused: something it may hang on has changed."""
        for known in self._known.values():
            if known.refused:
                known.due_ms = 0

    def begin(self, complete: bool) -> None:
        """This server leads now: find what is queued already. `complete`: all objects were seen, so what is missing is gone."""
        self._hear()
        self._jobs = self.ask(_native_jobs)
        for known in self._known.values():
            known.due_ms = 0
        if complete:
            self._gone += [(uid, False) for uid in self._jobs if uid not in self._known]

    def queued(self) -> dict[JobId, Subject]:
        """All jobs of objects that are there."""
        known = [(job, self._known.get(uid)) for uid, job in self._jobs.items()]
        return {job: _subject(one.asked) for job, one in known if one is not None}

    def settle(self, now_ms: int) -> None:
        """Look at every object that changed or is due."""
        self._hear()
        while self._gone:
            self._let_go(*self._gone[-1])
            self._gone.pop()
        self._look_for_put_aside(now_ms)
        for uid, known in list(self._known.items()):
            if known.due_ms <= now_ms:
                self._settle(uid, known, now_ms)

    def is_queued(self, uid: str) -> bool:
        """Whether the object of this uid was queued here, whatever stands on it now."""
        return uid in self._jobs

    def _look_for_put_aside(self, now_ms: int) -> None:
        """Try again at once what an engine did not start, since the object asks for something else by now."""
        if now_ms - self._looked_ms < LOOK_MS:
            return
        self._looked_ms = now_ms
        for uid in self.ask(put_aside(list(self._jobs.items()))):
            known = self._known.get(uid)
            if known is not None and not known.refused:
                known.due_ms = 0

    def _let_go(self, uid: str, ended: bool) -> None:
        """Cancel the job of an object that is gone; but one that had ended is over as it ended, which the engine tells."""
        job = self._jobs.get(uid)
        now = None if job is None else self.ask(_standing(job))
        if ended and now is not None and now.stands:
            self._jobs.pop(uid, None)
        else:
            self._cancel(uid)

    def _hear(self) -> None:
        while not self._inbox.empty():
            before, after = self._inbox.get()
            if before is not None and (after is None or after.uid != before.uid):
                self._known.pop(before.uid, None)
                self._gone.append((before.uid, before.ended))
                before = None
            if after is not None:
                self._note(before, after)

    def _note(self, before: Asked | None, after: Asked) -> None:
        known = self._known.setdefault(after.uid, _Known(after))
        if before is not None and before.priority != after.priority:
            known.changes["priority"] = after.priority
        if before is not None and before.on_hold != after.on_hold:
            known.changes["hold"] = after.on_hold
        resumed = after.run == 0 if before is None else before.suspended and before.run == after.run
        known.by_hand = not after.suspended and (resumed or known.by_hand)
        known.asked, known.due_ms, known.retry_ms = after, 0, 0

    # -- one object ------------------------------------------------------------------------------------------------

    def _settle(self, uid: str, known: _Known, now_ms: int) -> None:
        asked = known.asked
        try:
            if asked.ended:
                pass
            elif asked.deleting:
                self._cancel(uid)
            elif not asked.quota:
                self._unlabelled(known)
            elif uid in self._jobs:
                self._keep(known, self._jobs[uid])
            elif asked.job and self._was_submitted(
                asked.job, uid
            ):  # and is over, or it would be among the jobs
                self._suspend_unless(known, None)
            else:
                self._submit(known)
            known.refused, known.retry_ms, known.due_ms = "", 0, NEVER_MS
        except Unavailable:
            raise
        except (QuotaTreeError, WrongAsk) as error:
            if not isinstance(error, ClusterError) or error.status in TELLING:
                self._refuse(known, plain(str(error)))
            first_ms = CLASH_MS if isinstance(error, Clash) else FIRST_RETRY_MS
            known.retry_ms = min(max(known.retry_ms * 2, first_ms), LONGEST_RETRY_MS)
            known.due_ms = now_ms + known.retry_ms

    def _submit(self, known: _Known) -> None:
        asked = known.asked
        self._suspend_unless(known, None)
        workspace = self._readable(asked)
        self._write.gate(asked)
        edit = do.EditDirectory(
            actor=SYSTEM,
            action="native.account",
            change=lambda directory: with_account(directory, workspace, asked.key.namespace),
        )
        account = account_of(workspace, asked.key.namespace)
        if not self.ask(lambda world: account in world.directory.users):
            self.do(edit)
        elif not self.ask(lambda world: _has_role(world, workspace, account)):
            raise WrongAsk(
                f"{account}, the account of this namespace, has no role in workspace {workspace}: an owner may give it one [W2]"
            )
        command = self._command(asked, workspace, account)
        job = JobId(self._submitted(command, account))
        self._jobs[asked.uid] = job
        known.changes.clear()
        self._write.annotate(asked, {adopted.JOB: job})
        where = f"quota {asked.quota} at priority {command.asked.priority}"
        self._events.tell(_subject(asked), "Queued", f"queued in {where} as {job}")

    def _submitted(self, command: do.SubmitJob, account: str) -> str:
        """Submit; return the id. A refusal names nothing that the namespace may not know."""
        try:
            return self.do(command).id
        except Refused as refused:
            said = refused
        raise self.ask(lambda world: eyes(world, account).refusal(said))

    def _command(self, asked: Asked, workspace: str, account: str) -> do.SubmitJob:
        PRIORITY_NAMES.set(self.ask(lambda world: world.directory.priority_names))
        body = {**asked.body, "workspace": workspace, "program": asked.program}
        try:
            return JobIn.model_validate(body).command(account, f"native:{asked.uid}")
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise WrongAsk(f"{where}: {str(first['msg']).removeprefix('Value error, ')}") from None

    def _readable(self, asked: Asked) -> str:
        """The workspace of an object. Raises WrongAsk if it has none, or cannot be read."""
        workspace = self._workspace(asked)
        if asked.wrong:
            raise WrongAsk(asked.wrong)
        return workspace

    def _workspace(self, asked: Asked) -> str:
        workspace = self.workspaces.get(asked.key.namespace, "")
        if not workspace:
            raise WrongAsk(
                f"namespace {asked.key.namespace} belongs to no workspace: an admin labels it quotatree.io/workspace"
            )
        if asked.workspace not in ("", workspace):
            raise WrongAsk(
                f"label quotatree.io/workspace {asked.workspace}: namespace {asked.key.namespace} belongs to {workspace} [W1]"
            )
        return workspace

    def _keep(self, known: _Known, job: JobId) -> None:
        """Hold an object that is queued or runs to what the loop says of it, and follow what its owner changed."""
        asked = known.asked
        self._suspend_unless(known, job)
        self._put_right(asked, job)
        told = follow(
            self,
            job,
            lambda: self._command(asked, self._readable(asked), self._account(asked)),
            asked.on_hold,
        )
        if told and told != known.edit:
            self._events.tell(_subject(asked), "Edited", told)
        known.edit = told
        if "priority" in known.changes:
            self._set_priority(asked, job, known.changes["priority"])
            del known.changes["priority"]
        if "hold" in known.changes:
            self._set_hold(job, known.changes["hold"])
            del known.changes["hold"]
        quota = self.ask(
            lambda world: world.state.jobs[job].spec.quota if job in world.state.jobs else asked.quota
        )
        if quota != asked.quota:
            raise WrongAsk(
                f"label quotatree.io/quota {asked.quota}: it is queued in {quota}; delete it and make it anew there"
            )

    def _unlabelled(self, known: _Known) -> None:
        """Cancel the job of an object whose owner took the label off; its pods are told to leave, and count until they have."""
        if self.is_queued(known.asked.uid):
            self._cancel(known.asked.uid)
            text = (
                "its label quotatree.io/quota is gone: its job is cancelled, and its pods are told to leave"
            )
            self._events.tell(_subject(known.asked), "Unlabelled", text, WARNING)

    def _put_right(self, asked: Asked, job: JobId) -> None:
        """Write the annotations that are ours as they must be, where others have changed them."""
        notes: dict[str, str | None] = {} if asked.job == job else {adopted.JOB: job}
        now = self.ask(_standing(job))
        if now is not None and asked.run and (asked.run_job != job or asked.run > now.run):
            notes[adopted.RUN] = run_name(job, now.run) if now.stands else None
        if not notes:
            return
        self._write.annotate(asked, notes)
        if asked.job or adopted.RUN in notes:
            text = f"annotations that QuotaTree writes were changed by others, and are put right: {', '.join(notes)}"
            self._events.tell(_subject(asked), "PutRight", text, WARNING)

    def _suspend_unless(self, known: _Known, job: JobId | None) -> None:
        """Suspend an object that runs although it should not."""
        if known.asked.suspended:
            return
        now = None if job is None else self.ask(_standing(job))
        suspended = self._write.suspend_unless(
            known.asked, lambda fresh: now is not None and now.stands and now.run == fresh.run
        )
        if suspended and known.by_hand:
            known.by_hand = False
            text = "resumed by somebody else, and suspended again: QuotaTree resumes it when its turn comes"
            self._events.tell(_subject(known.asked), "SuspendedAgain", text, WARNING)

    def _set_priority(self, asked: Asked, job: str, said: object) -> None:
        number = in_numbers("priority", said, self.ask(lambda world: world.directory.priority_names))
        if not isinstance(number, int):
            raise WrongAsk(f"label quotatree.io/priority {said}: must be 1 to 9, or the name of a priority")
        self.do(do.SetPriority(actor=self._account(asked), job=job, priority=number))

    def _account(self, asked: Asked) -> str:
        return account_of(self._workspace(asked), asked.key.namespace)

    def _set_hold(self, job: JobId, held: bool) -> None:
        now = self.ask(_standing(job))
        if now is not None and now.on_hold != held:
            self.do(do.HoldJob(actor=RESOURCES, job=job) if held else do.ReleaseJob(actor=RESOURCES, job=job))

    def _cancel(self, uid: str) -> None:
        job = self._jobs.get(uid)
        if job is None:
            return
        with suppress(Refused, NotFound):  # it is over
            self.do(do.CancelJob(actor=RESOURCES, job=job))
        self._jobs.pop(uid, None)

    def _refuse(self, known: _Known, text: str) -> None:
        if known.refused != text:
            known.refused = text
            self._events.tell(_subject(known.asked), "Refused", text, WARNING)

    def do(self, command: do.Command) -> do.Answer:
        return self._controller.call(command).result(ANSWER_SECONDS)

    def ask(self, query: Callable[[World], T]) -> T:
        return self._controller.ask(lambda world, _: query(world)).result(ANSWER_SECONDS)


def _has_role(world: World, workspace: str, account: str) -> bool:
    found = world.directory.workspaces.get(workspace)
    return found is not None and bool(found.roles_of(account))


def _native_jobs(world: World) -> dict[str, JobId]:
    found = {}
    for job, card in world.cards.items():
        said: Any = card.program.get(FIELD)
        if isinstance(said, Mapping) and "uid" in said:
            found[str(said["uid"])] = job
    return found


def _standing(job: JobId) -> Callable[[World], Standing | None]:
    def query(world: World) -> Standing | None:
        found = world.state.jobs.get(job)
        if found is None:
            return None
        stands = found.core is not None or bool(found.leaving)
        return Standing(found.run, found.priority, stands, world.cards[job].on_hold)

    return query


def _subject(asked: Asked) -> Subject:
    return Subject(asked.api, asked.kind, asked.key, asked.uid)
