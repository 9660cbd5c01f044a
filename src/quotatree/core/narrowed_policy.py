"""How much narrower may a policy be that would help, and still let the job take the same work (X1)?

Of a new policy, the priorities end where the victims' end; of one that is changed, what it had stays, and it reaches just as much
further as it must: the priorities first, then the modules, then the scope. Whether the narrower one still helps is for the
planner to say (wider_policy.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from quotatree.core.model.policy import (
    LOWEST_PRIORITY,
    ChildLevel,
    Module,
    Priorities,
    Scope,
    SelfLevel,
    SelfLevels,
)
from quotatree.core.model.quota import QuotaSpec
from quotatree.core.model.rights import Work
from quotatree.core.sentences import Sentence

NARROWINGS: Final = 4
"""Most attempts made, for one answer, with narrower policies; those that reach the same running work need none."""


class Part(NamedTuple):
    """One changed policy: how the sentence about it begins, and which self-level policy it is; None: the child-level policy."""

    begins: str
    at: int | None


class Change(NamedTuple):
    """Other policies for a quota: those that are changed, and the quota's declaration with them."""

    parts: tuple[Part, ...]
    spec: QuotaSpec

    @property
    def text(self) -> Sentence:
        told = [Sentence(part.begins, f" ({self._settings(part)})") for part in self.parts]
        return Sentence(told[0], *(Sentence(" and ", one) for one in told[1:]))

    def _settings(self, part: Part) -> str:
        if part.at is not None:
            return _self_level_text(self.spec.self_level[part.at])
        policy = self.spec.child_level
        assert policy is not None
        return f"priorities {policy.priorities}, {_modules_text(policy.modules)}"


def narrower_changes(declared: QuotaSpec, change: Change, took: tuple[Work, ...]) -> Iterator[Change]:
    """Yield narrower forms of a change that let the same work be taken, the narrowest first; none if there is no narrower one.

    `declared`: the quota as it is. A policy that was only switched on keeps its settings.
    """
    seen = {change.spec}
    for with_scope, with_modules in ((True, True), (False, True), (False, False)):
        spec = change.spec
        for part in change.parts:
            if part.at is None:
                spec = _narrower_child_level(declared, spec, took, with_modules)
            else:
                spec = _narrower_self_level(declared, spec, part.at, took, with_scope, with_modules)
        if spec not in seen:
            seen.add(spec)
            yield Change(change.parts, spec)


def _narrower_self_level(
    declared: QuotaSpec,
    spec: QuotaSpec,
    at: int,
    took: tuple[Work, ...],
    with_scope: bool,
    with_modules: bool,
) -> QuotaSpec:
    """Return the declaration with its self-level policy number `at` made narrower: also in its modules, in its scope, or not."""
    wider = spec.self_level[at]
    before = declared.self_level[at] if at < len(declared.self_level) else None
    if before is not None and before.off:
        return spec
    if not wider.any_lower:  # what is not below all of `high` goes by another right
        took = tuple(work for work in took if work.priority < wider.high.low)
    own = [work for work in took if work.quota.id == spec.id]
    beside = [work for work in took if work.quota.spec.id != spec.id and not _is_below(work, spec)]
    policy = wider
    if not wider.any_lower:
        kept = before.low if before is not None and before.low.high < wider.high.low else None
        policy = replace(policy, low=_priorities(kept, [*own, *beside]))
    if with_modules:
        policy = replace(policy, modules=_needed_modules(before, [*own, *beside]))
    if with_scope:
        scope = Scope.OWN if own and not beside else Scope.LEVEL if own else Scope.SIBLINGS
        policy = replace(policy, scope=scope if before is None or before.scope is scope else Scope.LEVEL)
    policies = (*spec.self_level[:at], policy, *spec.self_level[at + 1 :])
    return replace(spec, self_level=SelfLevels.of(*policies))


def _narrower_child_level(
    declared: QuotaSpec, spec: QuotaSpec, took: tuple[Work, ...], with_modules: bool
) -> QuotaSpec:
    """Return the declaration with its child-level policy made narrower: also in its modules, or not."""
    wider, before = spec.child_level, declared.child_level
    below = [work for work in took if _is_below(work, spec)]
    if wider is None or not below or (before is not None and before.off):
        return spec
    policy = replace(wider, priorities=_priorities(before.priorities if before is not None else None, below))
    if with_modules:
        policy = replace(policy, modules=_needed_modules(before, below))
    return replace(spec, child_level=policy)


def _is_below(work: Work, spec: QuotaSpec) -> bool:
    return any(above.id == spec.id for above in work.quota.path[1:])


def _priorities(kept: Priorities | None, taken: list[Work]) -> Priorities:
    """Return the priorities that were named before and those of what is taken; of a new policy all from the lowest on."""
    named = [work.priority for work in taken]
    if kept is None:
        return Priorities(LOWEST_PRIORITY, max(named, default=LOWEST_PRIORITY))
    return Priorities(min(kept.low, *named, kept.high), max(kept.high, *named, kept.low))


def _needed_modules(before: SelfLevel | ChildLevel | None, taken: list[Work]) -> frozenset[Module]:
    """Return the modules that were named before and those of what is taken; at least one."""
    needed = frozenset(work.module for work in taken) | (
        before.modules if before is not None else frozenset()
    )
    return needed or frozenset({Module.DLC})


def _self_level_text(policy: SelfLevel) -> str:
    pairs = "any lower" if policy.any_lower else f"high {policy.high}, low {policy.low}"
    return f"{pairs}, {_modules_text(policy.modules)}, scope {policy.scope.value}"


def _modules_text(modules: frozenset[Module]) -> str:
    return "+".join(sorted(module.value for module in modules))
