"""Runs a scenario against its own expectations and tells every fault with its time."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

from quotatree.core.decisions import Decision
from quotatree.scenario.amounts import moment_text
from quotatree.scenario.errors import RuleBroken
from quotatree.scenario.expect import WORDS
from quotatree.scenario.kinds import kind_of
from quotatree.scenario.model import Expectation, Scenario
from quotatree.scenario.run import Instant, Outcome, Player
from quotatree.scenario.seen import Seen


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a check. `checks` counts everything that could have failed."""

    scenario: Scenario
    checks: int
    faults: tuple[str, ...]

    @property
    def good(self) -> bool:
        return not self.faults


def check_scenario(scenario: Scenario) -> Verdict:
    if scenario.refusal is not None:
        return Verdict(scenario, 1, tuple(_refusal_faults("load", scenario.load_refused, scenario.refusal)))
    try:
        player = Player(scenario)
    except RuleBroken as why:
        if not scenario.load_refused:
            raise
        return Verdict(scenario, 1, tuple(_refusal_faults("load", scenario.load_refused, why.message)))
    if scenario.load_refused:
        return Verdict(scenario, 1, ("load: expected to be refused; it was accepted",))
    faults = _play_and_compare(player)
    return Verdict(scenario, _count(scenario), tuple(faults))


def _play_and_compare(player: Player) -> list[str]:
    scenario = player.scenario
    faults: list[str] = []
    due = list(scenario.expectations)
    for instant in player.instants():
        faults += [fault for outcome in instant.outcomes for fault in _outcome_faults(outcome)]
        faults += _forbidden_faults(scenario, instant)
        if instant.restless:
            faults.append(f"{moment_text(instant.time_ms)}: planning again decided {_told(instant.restless)}")
        while due and due[0].time_ms == instant.time_ms:
            faults += _expectation_faults(due.pop(0), player, instant)
    faults += [f"{moment_text(expected.time_ms)}: lies after the end of the scenario" for expected in due]
    if scenario.steady:
        restless = player.at_rest()
        if restless:
            faults.append(f"{moment_text(player.now_ms)}: not steady at the end: {_told(restless)}")
    return faults


def _expectation_faults(expected: Expectation, player: Player, instant: Instant) -> list[str]:
    seen = Seen(deepcopy(player.state), instant.time_ms, instant.decisions, player.scenario.previews)
    faults = []
    for check in expected.checks:
        fault = WORDS[check.word].check(seen, check.wanted)
        if fault:
            note = f" ({expected.note})" if expected.note else ""
            faults.append(f"{moment_text(expected.time_ms)}{note}: {check.word}: {fault}")
    return faults


def _outcome_faults(outcome: Outcome) -> list[str]:
    entry = outcome.entry
    where = f"{moment_text(entry.time_ms)}: {entry.label}"
    if outcome.refusal is None:
        return [f"{where}: expected to be refused; it was accepted"] if entry.refused else []
    if not entry.refused:
        return [f"{where}: was refused: {outcome.refusal}"]
    return _refusal_faults(where, entry.refused, outcome.refusal)


def _refusal_faults(where: str, wanted: tuple[str, ...], refusal: str) -> list[str]:
    return [
        f"{where}: expected a refusal with {text!r}; it says {refusal!r}"
        for text in wanted
        if text not in refusal
    ]


def _forbidden_faults(scenario: Scenario, instant: Instant) -> list[str]:
    faults = []
    for ban in scenario.forbidden:
        if instant.time_ms < ban.from_ms or (ban.until_ms is not None and instant.time_ms > ban.until_ms):
            continue
        for decision in instant.decisions:
            if kind_of(decision) == ban.kind and decision.job in ban.jobs:
                note = f" ({ban.note})" if ban.note else ""
                faults.append(
                    f"{moment_text(instant.time_ms)}: forbidden{note}: {ban.kind} {decision.job}: {decision.reason.text}"
                )
    return faults


def _told(decisions: list[Decision]) -> str:
    return "; ".join(f"{kind_of(d)} {d.job} ({d.reason.text})" for d in decisions)


def _count(scenario: Scenario) -> int:
    expected = sum(len(expectation.checks) for expectation in scenario.expectations)
    steps = len(scenario.timeline)
    return expected + steps + len(scenario.forbidden) + (1 if scenario.steady else 0)
