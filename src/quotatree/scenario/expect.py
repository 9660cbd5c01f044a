"""Did the scenario go as its file says? Every word an expectation may use, how it is read and how it is checked.

WORDS is the whole vocabulary. A check returns None, or a sentence with what was expected and what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from quotatree.core import GPU_SECOND, WHOLE_GPU, Claim, Code, Phase, Step
from quotatree.scenario import seen as see
from quotatree.scenario.amounts import (
    Unreadable,
    as_count,
    as_flag,
    as_gpu_milli,
    as_gpu_seconds,
    as_map,
    as_text,
    as_text_or_texts,
    as_texts,
    one_of,
)
from quotatree.scenario.kinds import KINDS, jobs_by_kind, step_word
from quotatree.scenario.seen import Seen

Checker = Callable[[Seen, Any], str | None]

FIGURES: Final = (
    "min", "actual", "used", "own", "below", "loan", "squeezed", "shortfall", "idle_lent", "idle_borrowed",
    "queued", "queued_jobs", "free",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Word:
    """One word that an expectation may use.

    `jobs` says where job names stand in its value, so that the loader can check and expand them: "list", "keys" (of a
    table), "values" (lists in a table), or "none".
    """

    read: Callable[[object], object]
    check: Checker
    jobs: str
    meaning: str


# -- comparing ---------------------------------------------------------------------------------------------------


def _same(value_of: Callable[[Seen, str], object], text: Callable[[object], str] = str) -> Checker:
    """A check of a table name -> value: each value must equal what `value_of` finds. Faults print it by `text`."""

    def check(seen: Seen, wanted: tuple[tuple[str, object], ...]) -> str | None:
        faults = []
        for name, value in wanted:
            found = value_of(seen, name)
            if found != value:
                faults.append(
                    f"{name} expected {text(value)}, seen {'nothing' if found is None else text(found)}"
                )
        return _joined(faults)

    return check


def _among(codes_of: Callable[[Seen, str], list[Code]]) -> Checker:
    """A check of a table job -> reason codes: each code must be among those that `codes_of` finds."""

    def check(seen: Seen, wanted: tuple[tuple[str, tuple[Code, ...]], ...]) -> str | None:
        faults = []
        for name, codes in wanted:
            found = codes_of(seen, name)
            missing = [code for code in codes if code not in found]
            if missing:
                faults.append(
                    f"{name} expected {_names(c.name for c in missing)}, seen {_names(c.name for c in found)}"
                )
        return _joined(faults)

    return check


def _decided(kind: str) -> Checker:
    def check(seen: Seen, wanted: tuple[str, ...]) -> str | None:
        return _same_jobs(wanted, jobs_by_kind(seen.decisions).get(kind, ()))

    return check


def _quiet(seen: Seen, wanted: bool) -> str | None:
    decided = [
        f"{kind} {_names(jobs)}" for kind, jobs in jobs_by_kind(seen.decisions).items() if kind != "wait"
    ]
    if wanted:
        return f"expected no decision; seen {'; '.join(decided)}" if decided else None
    return None if decided else "expected some decision; seen none"


def _all_in(phase: Phase, inside: bool) -> Checker:
    def check(seen: Seen, wanted: tuple[str, ...]) -> str | None:
        found = [(name, see.phase(seen, name)) for name in wanted]
        wrong = [
            f"{name} is {seen_phase.value if seen_phase else 'not there'}"
            for name, seen_phase in found
            if (seen_phase is phase) is not inside
        ]
        return f"expected {'' if inside else 'not '}{phase.value}; seen {', '.join(wrong)}" if wrong else None

    return check


def _quota(seen: Seen, wanted: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]) -> str | None:
    faults = []
    for name, figures in wanted:
        found = see.quota_figures(seen.state, name)
        if found is None:
            faults.append(f"there is no quota {name}")
            continue
        for figure, value in figures:
            if found[figure] != value:
                faults.append(f"{name} {figure} expected {_gpus(value)}, seen {_gpus(found[figure])}")
    return _joined(faults)


def _preview(
    seen: Seen, wanted: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
) -> str | None:
    faults = []
    for name, kinds in wanted:
        found = see.previewed(seen, name)
        if found is None:
            faults.append(f"{name} is not declared in [[preview]]")
            continue
        for kind, jobs in kinds:
            fault = _same_jobs(jobs, found.get(kind, ()))
            if fault:
                faults.append(f"{name} {kind} {fault}")
    return _joined(faults)


def _same_jobs(wanted: tuple[str, ...], seen: tuple[str, ...]) -> str | None:
    return None if set(wanted) == set(seen) else f"expected {_names(wanted)}; seen {_names(seen)}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "nobody"


def _joined(faults: list[str]) -> str | None:
    return "; ".join(faults) or None


def _gpus(milli: object) -> str:
    return f"{milli / WHOLE_GPU:g}" if isinstance(milli, int) else str(milli)


def _gpu_seconds(cost: object) -> str:
    return f"{cost / GPU_SECOND:g} GPU-s" if isinstance(cost, int) else str(cost)


def _value(member: object) -> str:
    return str(getattr(member, "value", member))


def _list(names: object) -> str:
    return _names(names) if isinstance(names, tuple) else str(names)


# -- reading -----------------------------------------------------------------------------------------------------


def _as_codes(value: object) -> tuple[Code, ...]:
    names = as_text_or_texts(value)
    for name in names:
        if name not in Code.__members__:
            raise Unreadable(f"{name} is not a reason code; allowed: {', '.join(Code.__members__)}")
    return tuple(Code[name] for name in names)


def _as_step(value: object) -> str:
    allowed = [step_word(step) for step in Step]
    if value not in allowed:
        raise Unreadable(f"must be one of {', '.join(allowed)}")
    return str(value)


def _as_set(value: object) -> tuple[str, ...]:
    return tuple(sorted(as_text_or_texts(value)))


def _as_figures(value: object) -> tuple[tuple[str, int], ...]:
    found = as_map(as_gpu_milli)(value)
    for figure, _ in found:
        if figure not in FIGURES:
            raise Unreadable(f"{figure} is not a figure of a quota; allowed: {', '.join(FIGURES)}")
    return found


def _as_kinds(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = as_map(as_texts)(value)
    for kind, _ in found:
        if kind not in KINDS:
            raise Unreadable(f"{kind} is not a kind of decision; allowed: {', '.join(KINDS)}")
    return found


_COST = _same(see.of_preemption(lambda entry: entry.cost), _gpu_seconds)
_COST_WITHOUT_LADDER = _same(see.of_preemption(lambda entry: entry.cost_without_ladder), _gpu_seconds)

WORDS: Final[dict[str, Word]] = {
    # decisions of this time
    **{
        kind: Word(as_texts, _decided(kind), "list", f"exactly these: {meaning}")
        for kind, meaning in KINDS.items()
        if kind != "wait"
    },
    "quiet": Word(as_flag, _quiet, "none", "no decision at this time (false: at least one)"),
    "reason": Word(as_map(_as_codes), _among(see.reason_codes), "keys", "reason codes of decisions about a job"),
    "step": Word(as_map(_as_step), _same(see.step), "keys", "step of P4 by which a job starts or is held"),
    "cost": Word(as_map(as_gpu_seconds), _COST, "keys", "cost of a job's preemption, in GPU-seconds (P5)"),
    "cost_without_ladder": Word(
        as_map(as_gpu_seconds), _COST_WITHOUT_LADDER, "keys", "what ignoring the priority ladder would have cost (P5)"
    ),
    "lost": Word(
        as_map(as_gpu_seconds), _same(see.lost_work, _gpu_seconds), "keys", "lost work of a victim, in GPU-seconds (P6)"
    ),
    # the state after it
    "running": Word(as_texts, _all_in(Phase.RUNNING, True), "list", "these jobs run, maybe others too"),
    "not_running": Word(as_texts, _all_in(Phase.RUNNING, False), "list", "these jobs do not run"),
    "waiting": Word(as_texts, _all_in(Phase.WAITING, True), "list", "these jobs wait"),
    "held": Word(as_texts, _all_in(Phase.HELD, True), "list", "these jobs have a hold"),
    "phase": Word(as_map(one_of(Phase)), _same(see.phase, _value), "keys", "phase of a job"),
    "claim": Word(as_map(one_of(Claim)), _same(see.claim, _value), "keys", "claim of a running job: regular or idle"),
    "replicas": Word(as_map(as_count), _same(see.replicas), "keys", "how many replicas of a job run"),
    "preemptions": Word(as_map(as_count), _same(see.preemptions), "keys", "how many preemptions count for a job"),
    "on": Word(as_map(_as_set), _same(see.nodes_of, _list), "keys", "the nodes a job stands on or is promised"),
    "node_free": Word(as_map(as_gpu_milli), _same(see.node_free, _gpus), "none", "GPUs of a node free at this moment"),
    "quota": Word(as_map(_as_figures), _quota, "none", "figures of a quota (Q7)"),
    # what explain and preview say
    "queue": Word(as_map(as_texts), _same(see.queue, _list), "values", "the queue of a quota, in order"),
    "why": Word(as_map(_as_codes), _among(see.told_codes), "keys", "reason codes that explain names (X1)"),
    "holders": Word(as_map(_as_set), _same(see.holders, _list), "keys", "quotas that explain names as holders (X1)"),
    "ahead": Word(as_map(as_texts), _same(see.ahead, _list), "keys", "jobs ahead of a waiting one, in order (X1)"),
    "preempted_by": Word(as_map(as_text), _same(see.preempted_by), "keys", "who took a victim's place (X2)"),
    "exposed": Word(as_map(_as_set), _same(see.exposed_to, _list), "keys", "quotas whose jobs could take it (X4)"),
    "preview": Word(as_map(_as_kinds), _preview, "keys", "what submitting a job of [[preview]] would decide (X3)"),
}  # fmt: skip
