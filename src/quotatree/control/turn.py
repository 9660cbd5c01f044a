"""One batch in the making: what happened, what was decided, what must be written, and what to tell the engine.

Everything collected here is entered in the state's journal as well: `mark` and `rollback_to` of the state take a refused
command out of the batch without a trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from quotatree.access.check import Target, check, check_role_given
from quotatree.access.differences import differences
from quotatree.access.directory import Directory
from quotatree.access.roles import Action, Role
from quotatree.control.world import ITSELF, World
from quotatree.core import JobId, apply
from quotatree.core.decisions import Decision
from quotatree.core.events import Event
from quotatree.engines.base import Engine, RestartOrder, StartOrder, StopOrder
from quotatree.store.rows import (
    Card,
    DeliveryRow,
    Drop,
    EngineRow,
    IdempotencyRow,
    PlacementRow,
    RunRow,
    UsageRow,
    WebhookRow,
)

T = TypeVar("T")
Order = StartOrder | StopOrder | RestartOrder
ExtraRow = RunRow | PlacementRow | UsageRow | WebhookRow | DeliveryRow | IdempotencyRow | EngineRow


class Told(NamedTuple):
    """A domain event before it has a number."""

    kind: str
    job: JobId | None
    workspace: str | None
    quota: str | None
    body: Mapping[str, Any]


class Audited(NamedTuple):
    actor: str
    action: str
    target: str
    workspace: str | None
    body: Mapping[str, Any]


class Turn:
    def __init__(self, world: World, engine: Engine, now_ms: int) -> None:
        self.world = world
        self.state = world.state
        self.engine = engine
        self.now_ms = now_ms
        self.directory_before: Directory = world.directory
        self.decisions: list[Decision] = []
        self.told: list[Told] = []
        self.audited: list[Audited] = []
        self.orders: list[Order] = []
        self.forgets: list[tuple[JobId, int]] = []
        self.rows: dict[tuple[Any, ...], ExtraRow] = {}
        self.drops: list[Drop] = []
        self.cards: dict[JobId, None] = {}  # jobs whose card was written

    @property
    def directory(self) -> Directory:
        return self.world.directory

    def allow(self, actor: str, action: Action, target: Target) -> None:
        """Raise NotFound or Forbidden unless the actor has the right (W2). The server itself has every right."""
        if actor not in ITSELF:
            check(self.world.directory, actor, action, target)

    def allow_role(self, actor: str, workspace: str, role: Role) -> None:
        """Raise NotFound or Forbidden unless the actor may give or take this role (W2)."""
        if actor not in ITSELF:
            check_role_given(self.world.directory, actor, workspace, role)

    def apply(self, event: Event) -> tuple[Decision, ...]:
        """Apply an event to the core; return the decisions it takes at once, which become part of the batch."""
        found = apply(self.state, event, self.now_ms)
        for decision in found:
            self._add(self.decisions, decision)
        return found

    def replace_directory(self, directory: Directory) -> None:
        world = self.world
        if world.directory is not directory:
            self.state.on_undo(world.set_directory, world.directory)
            world.set_directory(directory)

    def put_card(self, job: JobId, card: Card) -> None:
        self.state.put_entry(self.world.cards, job, card)
        self.state.put_entry(self.cards, job, None)

    def change_card(self, job: JobId, **changes: Any) -> None:
        self.put_card(job, replace(self.world.cards[job], **changes))

    def tell(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        job: JobId | None = None,
        workspace: str | None = None,
        quota: str | None = None,
    ) -> None:
        """Add a domain event, which streams and webhooks pass on. With `job`, workspace and quota are the job's."""
        if job is not None:
            spec = self.state.jobs[job].spec
            workspace, quota = spec.workspace, spec.quota
        self._add(self.told, Told(kind, job, workspace, quota, body))

    def audit(
        self, actor: str, action: str, target: str, body: Mapping[str, Any], workspace: str | None = None
    ) -> None:
        self._add(self.audited, Audited(actor, action, target, workspace, body))

    def order(self, order: Order) -> None:
        """Add an order, which is sent to the engine after the commit, never before (A6)."""
        self._add(self.orders, order)

    def forget_run(self, job: JobId, run: int) -> None:
        self._add(self.forgets, (job, run))

    def put_row(self, key: tuple[Any, ...], row: ExtraRow) -> None:
        self.state.put_entry(self.rows, (type(row), *key), row)

    def drop_row(self, drop: Drop) -> None:
        self._add(self.drops, drop)

    def changed_anything(self) -> bool:
        touched = self.state.touched
        return bool(
            self.told or self.audited or self.orders or self.forgets or self.rows or self.drops or self.cards
            or self.decisions or self.world.directory is not self.directory_before
            or (touched is not None and (touched.jobs or touched.quotas or touched.nodes or touched.pools))
        )  # fmt: skip

    def directory_differences(self) -> Any:
        if self.world.directory is self.directory_before:
            return None
        return differences(self.directory_before, self.world.directory)

    def _add(self, where: list[T], item: T) -> None:
        where.append(item)
        self.state.on_undo(where.pop)
