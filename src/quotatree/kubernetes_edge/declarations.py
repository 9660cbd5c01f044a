"""Which resources must be looked at, and when again? All that changed together; what was refused again when something else changed.

A resource is kept from vanishing by our finalizer until what it declared is deleted, or given to the API.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from quotatree.control.loop import Controller
from quotatree.control.world import World
from quotatree.core import QuotaId, quota_report
from quotatree.engines.kubernetes.errors import Missing
from quotatree.engines.kubernetes.kinds import Kind, Object
from quotatree.kubernetes_edge.declaring import Declaring, Refusal
from quotatree.kubernetes_edge.inside import ANSWER_SECONDS
from quotatree.kubernetes_edge.resources import FINALIZER, GROUP, QUOTA, VERSION, WORKSPACE, Declared
from quotatree.kubernetes_edge.status import Statuses, quota_figures

QUOTAS: Final = Kind(f"{GROUP}/{VERSION}", "quotas", "Quota", namespaced=False)
WORKSPACES: Final = Kind(f"{GROUP}/{VERSION}", "workspaces", "Workspace", namespaced=False)
KINDS: Final = {QUOTA: QUOTAS, WORKSPACE: WORKSPACES}
FIRST_RETRY_MS: Final = 1_000
LONGEST_RETRY_MS: Final = 30_000
NEVER_MS: Final = 1 << 62
SHOW_MS: Final = 500
"""How often figures are looked at; each status is written at most once a second."""


class Cluster(Protocol):
    """The part of `client.Cluster` that is needed here."""

    def get(self, kind: Kind, namespace: str | None, name: str) -> Object: ...
    def merge(
        self, kind: Kind, namespace: str | None, name: str, patch: Object, *, sub: str = ""
    ) -> Object: ...


@dataclass(slots=True)
class _Known:
    resource: Declared
    due_ms: int = 0
    retry_ms: int = 0


class Declarations:
    """All `Quota` and `Workspace` resources. `changed` may be called from any thread, everything else from one."""

    def __init__(self, controller: Controller, cluster: Cluster) -> None:
        self._controller = controller
        self._cluster = cluster
        self._declaring = Declaring(controller)
        self._statuses = Statuses(self._write_status)
        self._inbox: queue.SimpleQueue[tuple[Declared | None, Declared | None]] = queue.SimpleQueue()
        self._known: dict[str, _Known] = {}  # by `Declared.of`
        self._shown_ms = 0

    def changed(self, before: Declared | None, after: Declared | None) -> None:
        self._inbox.put((before, after))

    def begin(self) -> None:
        """This server leads now: everything is looked at once."""
        self._hear()
        for known in self._known.values():
            known.due_ms = 0

    def settle(self, now_ms: int) -> bool:
        """Apply what changed or is due, delete what goes; return whether anything was accepted that was not before."""
        self._hear()
        due = [known for known in self._known.values() if known.due_ms <= now_ms]
        gone = [self._let_go(known, now_ms) for known in due if known.resource.deleting]
        staying = [one for one in due if not one.resource.deleting]
        for one in staying:
            self._hold(one.resource)
        answers = self._declaring.apply([one.resource for one in staying], self._leaving())
        for one in staying:
            self._answered(one, answers[one.resource.of], now_ms)
        accepted = any(answers[one.resource.of] is None for one in staying)
        if accepted or any(gone):
            self.look_again()
        return accepted

    def look_again(self) -> None:
        """Try at once what was refused: something it may hang on has changed."""
        for known in self._known.values():
            if known.retry_ms:
                known.due_ms = 0

    def show(self, now_ms: int) -> None:
        """Write statuses: answers, and figures as they are now; at most once in SHOW_MS."""
        if now_ms - self._shown_ms < SHOW_MS:
            return
        self._shown_ms = now_ms
        quotas = [one.resource for one in self._known.values() if one.resource.kind == QUOTA]
        workspaces = [one.resource for one in self._known.values() if one.resource.kind == WORKSPACE]
        figures = self._ask(_figures([one.name for one in quotas], [one.name for one in workspaces]))
        for one in (*quotas, *workspaces):
            if one.of in figures:
                self._statuses.show(one, figures[one.of])
        self._statuses.flush(now_ms)

    # -- one resource ----------------------------------------------------------------------------------------------

    def _leaving(self) -> set[str]:
        """Names of quotas whose resources are being deleted and wait for something."""
        known = [one.resource for one in self._known.values()]
        return {one.name for one in known if one.kind == QUOTA and one.deleting and one.kept}

    def _hear(self) -> None:
        while not self._inbox.empty():
            before, after = self._inbox.get()
            if after is not None:
                self._known[after.of] = _Known(after)
            elif before is not None:
                self._known.pop(before.of, None)
                self._statuses.forget([before.of])

    def _hold(self, one: Declared) -> None:
        """Put our finalizer on it, before anything is made that must be deleted with it."""
        if one.kept:
            return
        thing = self._cluster.get(KINDS[one.kind], None, one.name)
        finalizers = thing["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers and thing["metadata"]["uid"] == one.uid:
            self._set_finalizers(one, thing, [*finalizers, FINALIZER])

    def _let_go(self, known: _Known, now_ms: int) -> bool:
        """Delete what a resource declared, and our finalizer; return whether that could be done."""
        one = known.resource
        refusal = self._declaring.remove(one) if one.kept else None
        if refusal is not None:
            self._answered(known, refusal, now_ms)
            return False
        known.due_ms = NEVER_MS
        try:
            thing = self._cluster.get(KINDS[one.kind], None, one.name)
            if thing["metadata"]["uid"] == one.uid:
                left = [name for name in thing["metadata"].get("finalizers") or [] if name != FINALIZER]
                self._set_finalizers(one, thing, left)
        except Missing:
            pass
        return True

    def _set_finalizers(self, one: Declared, thing: Object, finalizers: list[str]) -> None:
        meta = {"finalizers": finalizers, "resourceVersion": thing["metadata"]["resourceVersion"]}
        self._cluster.merge(KINDS[one.kind], None, one.name, {"metadata": meta})

    def _answered(self, known: _Known, refusal: Refusal | None, now_ms: int) -> None:
        if refusal is None:
            known.due_ms, known.retry_ms = NEVER_MS, 0
        else:
            known.retry_ms = min(max(known.retry_ms * 2, FIRST_RETRY_MS), LONGEST_RETRY_MS)
            known.due_ms = now_ms + known.retry_ms
        self._statuses.answer(known.resource, refusal, now_ms)

    def _write_status(self, one: Declared, patch: dict[str, Any]) -> None:
        try:
            self._cluster.merge(KINDS[one.kind], None, one.name, {"status": patch}, sub="status")
        except Missing:
            return

    def _ask(self, query: Callable[[World], Any]) -> Any:
        return self._controller.ask(lambda world, _: query(world)).result(ANSWER_SECONDS)


def _figures(quotas: list[str], workspaces: list[str]) -> Callable[[World], dict[str, dict[str, Any]]]:
    def query(world: World) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {
            f"{QUOTA}/{name}": quota_figures(quota_report(world.state, name))
            for name in quotas
            if QuotaId(name) in world.state.quotas
        }
        for name in workspaces:
            workspace = world.directory.workspaces.get(name)
            if workspace is not None:
                members = {member.user for member in workspace.members}
                found[f"{WORKSPACE}/{name}"] = {"quotas": len(workspace.quotas), "members": len(members)}
        return found

    return query
