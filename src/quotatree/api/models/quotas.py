"""A quota as it is declared, changed, scaled (Q1-Q8, P1, P2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from quotatree.api.models.fields import Amounts, Body, Duration, Gpus, Labels, Line, Name
from quotatree.api.models.policies import PolicyFields
from quotatree.core import UNBOUNDED, ZERO, Bounds, QuotaId, QuotaSpec
from quotatree.core.events import ScaleMode

ModeName = Literal["refuse", "lazy", "reclaim"]
Draws = Annotated[dict[Name, Amounts], Field(max_length=100)]


class QuotaChange(PolicyFields):
    """What may be changed after creation; what is left out stays as it is, and null takes a setting away (Q6)."""

    reserved: Amounts | None = None
    weight: Amounts | None = None
    fair_idle: bool = False
    lending: bool = True
    idle_limit: Gpus | None = None
    min_runtime: Duration | None = None
    preemption_delay: Duration | None = None
    name: Annotated[str, Field(max_length=253)] = ""
    description: Line = ""
    labels: Labels = Field(default={})

    def applied_to(self, spec: QuotaSpec) -> QuotaSpec:
        given = self.model_fields_set
        changes: dict[str, Any] = {
            "reserved": ZERO if self.reserved is None else self.reserved.resources(),
            "weight": None if self.weight is None else _weight(self.weight.bounds()),
            "fair_idle": self.fair_idle,
            "lending": self.lending,
            "idle_limit": self.idle_limit,
            "min_runtime": self.min_runtime,
            "preemption_delay": self.preemption_delay,
            "name": self.name,
            "description": self.description,
            "labels": tuple(sorted(self.labels.items())),
        }
        changed = {FIELDS.get(name, name): value for name, value in changes.items() if name in given}
        return replace(spec, **changed, **self.policies_of(spec))


FIELDS = {
    "idle_limit": "idle_limit_milli",
    "min_runtime": "min_runtime_ms",
    "preemption_delay": "preemption_delay_ms",
}
"""Names of the core's fields that end in their unit, by their names in requests."""


class QuotaIn(QuotaChange):
    """A new quota: a root names its draws from pools, everybody else a parent (Q1)."""

    id: Name
    parent: Name | None = None
    min: Amounts | None = None
    draws: Draws = Field(default={})

    def spec(self) -> QuotaSpec:
        made = QuotaSpec(
            QuotaId(self.id),
            None if self.parent is None else QuotaId(self.parent),
            UNBOUNDED if self.min is None else self.min.bounds(),
            draws_of(self.draws),
        )
        return self.applied_to(made)


class ScaleIn(Body):
    """A new `min`, or for a root new draws. `mode` says what happens to use beyond it (Q5)."""

    min: Amounts | None = None
    draws: Draws = Field(default={})
    mode: ModeName = "refuse"

    def bounds(self) -> Bounds:
        return UNBOUNDED if self.min is None else self.min.bounds()

    def scale_mode(self) -> ScaleMode:
        return ScaleMode(self.mode)


class TransferIn(Body):
    """Capacity goes from `source` to its sibling `target` in one step (Q5)."""

    source: Name
    target: Name
    amount: Amounts
    mode: ModeName = "refuse"


def _weight(said: Bounds) -> Bounds | None:
    """The weight that is said; None, which is the min, if no resource is named."""
    return None if said == UNBOUNDED else said


def draws_of(draws: dict[str, Amounts]) -> tuple[tuple[str, Bounds], ...]:
    return tuple((pool, wanted.bounds()) for pool, wanted in draws.items())
