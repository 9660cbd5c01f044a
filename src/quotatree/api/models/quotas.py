"""A quota as it is declared, changed, scaled (Q1-Q8, P1, P2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from quotatree.api.models.fields import Amounts, Body, Name
from quotatree.api.models.noun_fields import fields_said, takes
from quotatree.api.models.policies import PolicyFields
from quotatree.core import QUOTA_SETTINGS, UNBOUNDED, Bounds, QuotaId, QuotaSpec
from quotatree.core.events import ScaleMode

ModeName = Literal["refuse", "lazy", "reclaim"]
Draws = Annotated[dict[Name, Amounts], Field(max_length=100)]


@takes(QUOTA_SETTINGS)
class QuotaChange(PolicyFields):
    """What may be changed after creation; what is left out stays as it is, and null takes a setting away (Q6)."""

    def applied_to(self, spec: QuotaSpec) -> QuotaSpec:
        return replace(spec, **fields_said(self, QUOTA_SETTINGS), **self.policies_of(spec))


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


def draws_of(draws: dict[str, Amounts]) -> tuple[tuple[str, Bounds], ...]:
    return tuple((pool, wanted.bounds()) for pool, wanted in draws.items())
