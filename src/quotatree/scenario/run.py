"""Plays a scenario through the core: at every time at which something happens, apply all of it, then plan.

`Player.instants` is a generator, so that whoever listens can look at `player.state` between two times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from quotatree.core import QuotaId, Reason, Refused, State, apply, plan, restore, snapshot
from quotatree.core.decisions import Decision, Wait
from quotatree.core.events import Event, JobAdopted, JobCheckpointed, QuotaUpdated
from quotatree.scenario.amounts import ORIGIN_MS, moment_text
from quotatree.scenario.engine import Engine, Happening, Look, Report, WakeUp
from quotatree.scenario.errors import RuleBroken, ScenarioError
from quotatree.scenario.model import Action, Entry, QuotaPatch, Scenario, with_changes

ROUNDS_AT_ONE_TIME: Final = 1_000
INSTANTS: Final = 100_000
A_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a step of the timeline: `refusal` is None if it was accepted."""

    entry: Entry
    refusal: str | None


@dataclass(slots=True)
class Instant:
    """Everything that happened at one time.

    `restless` are decisions of a second plan right after the first; in a steady scenario there must be none.
    """

    time_ms: int
    outcomes: list[Outcome] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    restless: list[Decision] = field(default_factory=list)


class Player:
    """Plays a scenario once. Raises RuleBroken if the core refuses the state at the beginning."""

    def __init__(self, scenario: Scenario) -> None:
        if scenario.refusal is not None:
            raise ScenarioError(scenario.name, scenario.refusal)
        self.scenario = scenario
        self.state = State(scenario.settings)
        self.now_ms = ORIGIN_MS
        self._engine = Engine(scenario)
        self._last_waits: dict[str, Reason] = {}
        self._at_the_start: list[Decision] = []
        for setup in scenario.setup:
            try:
                self._at_the_start += self._apply(setup.event)
            except Refused as why:
                raise RuleBroken(setup.where, why) from None
        self._engine.push(ORIGIN_MS, WakeUp())
        for entry in scenario.timeline:
            self._engine.push(entry.time_ms, entry)
        for expected in scenario.expectations:
            self._engine.push(expected.time_ms, Look())

    def instants(self, until_ms: int | None = None) -> Iterator[Instant]:
        """Play on and yield each time until nothing is to come, or up to and including `until_ms`.

        `until_ms` None means the scenario's own end.
        """
        if until_ms is None:
            until_ms = self.scenario.until_ms
        for _ in range(INSTANTS):
            time_ms = self._engine.next_time_ms()
            if time_ms is None or (until_ms is not None and time_ms > until_ms):
                if until_ms is not None:
                    self.now_ms = max(self.now_ms, until_ms)
                return
            yield self._play_instant(time_ms)
        raise ScenarioError(self.scenario.name, f"still not at rest at {moment_text(self.now_ms)}")

    def at_rest(self) -> list[Decision]:
        """Decisions that a plan would still take now, or, if nothing more is to come, a day from now."""
        later_ms = A_DAY_MS if self._engine.next_time_ms() is None else 0
        return _decided_afresh(self.state, self.now_ms + later_ms)

    def _play_instant(self, time_ms: int) -> Instant:
        self.now_ms = time_ms
        instant = Instant(time_ms)
        for _ in range(ROUNDS_AT_ONE_TIME):
            happenings = self._engine.pop(time_ms)
            if not happenings:
                return instant
            self._play_round(happenings, instant)
        raise ScenarioError(self.scenario.name, f"does not come to an end at {moment_text(time_ms)}")

    def _play_round(self, happenings: list[Happening], instant: Instant) -> None:
        decided, self._at_the_start = self._at_the_start, []
        for happening in happenings:
            if isinstance(happening, Entry):
                decided += self._play_entry(happening, instant)
            elif isinstance(happening, Report):
                event = self._engine.event_of(happening, self.state)
                if event is not None:
                    decided += self._apply(event)
        self._record(decided, instant)
        if all(isinstance(happening, Look) for happening in happenings):
            return
        planned = plan(self.state, self.now_ms)
        self._record(planned.decisions, instant)
        wake_up_ms = planned.next_wakeup_ms
        if self.scenario.steady:
            instant.restless += _decided_afresh(self.state, self.now_ms)
            again = plan(self.state, self.now_ms)
            instant.restless += _deciding(again.decisions)
            self._record(again.decisions, instant)
            wake_up_ms = again.next_wakeup_ms
        if wake_up_ms is not None:
            self._engine.push(max(wake_up_ms, self.now_ms + 1), WakeUp())

    def _play_entry(self, entry: Entry, instant: Instant) -> list[Decision]:
        decided: list[Decision] = []
        refusal = entry.refusal
        for action in entry.actions:
            try:
                decided += self._apply(self._event(action))
            except Refused as why:
                refusal = str(why)
                break
        instant.outcomes.append(Outcome(entry, refusal))
        return decided

    def _event(self, action: Action) -> Event:
        if not isinstance(action, QuotaPatch):
            return action
        quota = self.state.quotas.get(QuotaId(action.quota))
        if quota is None:
            raise Refused("quota", action.quota, "Q6", "there is no such quota")
        return QuotaUpdated(with_changes(quota.spec, action.changes))

    def _apply(self, event: Event) -> list[Decision]:
        decided = list(apply(self.state, event, self.now_ms))
        if isinstance(event, JobAdopted):
            self._engine.adopted(event, self.state.jobs[event.job.id].run)
        elif isinstance(event, JobCheckpointed):
            self._engine.saw(event, self.now_ms)
        return decided

    def _record(self, decisions: list[Decision] | tuple[Decision, ...], instant: Instant) -> None:
        """Pass decisions to the engine and keep them in the instant; a Wait only if its reason is new."""
        self._engine.react(decisions, self.state, self.now_ms)
        for decision in decisions:
            if isinstance(decision, Wait):
                if self._last_waits.get(decision.job) == decision.reason:
                    continue
                self._last_waits[decision.job] = decision.reason
            else:
                self._last_waits.pop(decision.job, None)
            instant.decisions.append(decision)


def _decided_afresh(state: State, now_ms: int) -> list[Decision]:
    """Decisions of a plan on a copy of the state that remembers nothing of earlier plans (A8)."""
    return _deciding(plan(restore(snapshot(state)), now_ms).decisions)


def _deciding(decisions: tuple[Decision, ...]) -> list[Decision]:
    """The decisions that change anything: all but Wait."""
    return [decision for decision in decisions if not isinstance(decision, Wait)]
