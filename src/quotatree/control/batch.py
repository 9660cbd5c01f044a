"""One batch: everything that waits is applied, the core plans once, and what follows is gathered (A6).

Nothing here talks to store or engine. A refused command is taken back alone; whatever else goes wrong takes the whole
batch back, and the caller decides.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import structlog

from quotatree.control.accounting import account
from quotatree.control.commands.dispatch import handle
from quotatree.control.commands.values import Answer, Command
from quotatree.control.deadlines import Deadline
from quotatree.control.decision_effects import book_decisions, close_what_is_over
from quotatree.control.errors import Fault
from quotatree.control.overdue import meet
from quotatree.control.recovery import reconcile
from quotatree.control.reports import hear
from quotatree.control.turn import Turn
from quotatree.core import Defect, QuotaTreeError, plan
from quotatree.engines.base import Observed, Report
from quotatree.store.rows import EngineRow

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    command: Command
    future: Future[Answer]


@dataclass(slots=True)
class Inputs:
    """What goes into one batch. `observed` is what the engine sees when a server begins to lead, else None."""

    calls: Sequence[Call] = ()
    reports: Sequence[Report] = ()
    deadlines: Sequence[Deadline] = ()
    observed: Observed | None = None
    engine: EngineRow | None = None  # the engine that has the runs from now on; None: no change

    def __len__(self) -> int:
        return len(self.calls) + len(self.reports) + len(self.deadlines)

    def one_by_one(self) -> list[Inputs]:
        """Each report, deadline and call as inputs of its own, to find the one that breaks a batch."""
        return [
            *(Inputs(reports=[report]) for report in self.reports),
            *(Inputs(deadlines=[deadline]) for deadline in self.deadlines),
            *(Inputs(calls=[call]) for call in self.calls),
        ]


@dataclass(slots=True)
class Outcome:
    """The answers to give once the batch is committed, and when to plan again; None: only when something happens."""

    answers: list[tuple[Call, Answer | QuotaTreeError]] = field(default_factory=list)
    next_wakeup_ms: int | None = None
    plan_seconds: float = 0.0
    cut_short: bool = False


def run_batch(turn: Turn, inputs: Inputs) -> Outcome:
    """Apply the inputs, plan once, and book what follows, all inside an open transaction of the state."""
    outcome = Outcome()
    if inputs.engine is not None:
        turn.put_row(("engine",), inputs.engine)
    if inputs.observed is not None:
        reconcile(turn, inputs.observed)
    for report in inputs.reports:
        hear(turn, report)
    for deadline in inputs.deadlines:
        meet(turn, deadline)
    for call in inputs.calls:
        outcome.answers.append((call, _answer(turn, call.command)))
    began = time.perf_counter()
    decided = plan(turn.state, turn.now_ms)
    outcome.plan_seconds = time.perf_counter() - began
    outcome.next_wakeup_ms, outcome.cut_short = decided.next_wakeup_ms, decided.cut_short
    turn.decisions.extend(decided.decisions)
    book_decisions(turn)
    close_what_is_over(turn)
    account(turn)
    return outcome


def _answer(turn: Turn, command: Command) -> Answer | QuotaTreeError:
    mark = turn.state.mark()
    try:
        return handle(turn, command)
    except QuotaTreeError as error:
        turn.state.rollback_to(mark)
        if isinstance(error, Defect):
            log.error("command_met_defect", command=type(command).__name__, error=str(error))
            return Fault()
        return error
    except Exception:
        turn.state.rollback_to(mark)
        log.exception("command_broke", command=type(command).__name__, actor=command.actor)
        return Fault()
