"""What-if runs as they are asked for and as they are shown."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from quotatree.api.models import previews as m
from quotatree.api.models.fields import Body, Name
from quotatree.api.simulations import Run

SimulatedChange = Annotated[
    m.CreateQuotaChange
    | m.UpdateQuotaChange
    | m.PoliciesChange
    | m.ScaleChange
    | m.TransferChange
    | m.DeleteQuotaChange,
    Field(discriminator="change"),
]
Title = Annotated[str, StringConstraints(min_length=1, max_length=100)]
StateName = Literal["waiting", "running", "done", "failed", "cancelled"]


class VariantIn(Body):
    """A tree to try: what there is now with these changes, as for a preview. Without changes: what there is now."""

    name: Title
    changes: Annotated[list[SimulatedChange], Field(max_length=100)] = Field(default=[])


class SimulationIn(Body):
    """Replay the jobs that were submitted to the tree of root `quota` from `from_ms` on and before `before_ms`.

    Each variant is played with the same jobs; for a comparison, let one have no changes.
    """

    quota: Name
    title: Annotated[str, StringConstraints(max_length=100)] = ""
    from_ms: Annotated[int, Field(ge=0, lt=1 << 53)]
    before_ms: Annotated[int, Field(ge=1, lt=1 << 53)]
    variants: Annotated[list[VariantIn], Field(min_length=1, max_length=4)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_ms >= self.before_ms:
            raise ValueError("from_ms must be before before_ms")
        if len({one.name for one in self.variants}) < len(self.variants):
            raise ValueError("variants need different names")
        return self


class SimulationMade(TypedDict):
    id: str


class ProgressOut(TypedDict):
    """`variant`: which of them plays, from 0 on; `ended` of `total` jobs; `fraction`: of all variants, 0 to 1."""

    variant: int
    ended: int
    total: int
    fraction: float
    seconds_left: float | None


class SeriesOut(TypedDict):
    """GPUs over time, one value for each of `at_ms`, which counts from the beginning of the stretch."""

    at_ms: list[int]
    capacity: list[float]
    running: list[float]
    idle: list[float]
    waiting: list[float]
    by_quota: dict[str, list[float]]


class SimulatedOut(TypedDict):
    """What came of one variant. The metrics are those of `quotatree simulate`; `left_out`: jobs without a quota to go to."""

    complete: bool
    left_out: int
    refused: int
    plans: int
    cluster: dict[str, Any]
    overall: dict[str, Any]
    by_quota: dict[str, dict[str, Any]]
    by_module: dict[str, dict[str, Any]]
    by_priority: dict[str, dict[str, Any]]
    series: SeriesOut


class VariantOut(TypedDict):
    name: str
    result: SimulatedOut | None


class SimulationOut(TypedDict):
    """`jobs`: how many are replayed; `skipped`: which are not, and why."""

    id: str
    user: str
    quota: str
    title: str
    state: StateName
    from_ms: int
    before_ms: int
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    jobs: int
    skipped: list[str]
    error: str | None
    progress: ProgressOut | None
    variants: list[VariantOut]


class Simulations(TypedDict):
    """Newest first, without results."""

    items: list[SimulationOut]


def simulation_out(run: Run, *, results: bool) -> SimulationOut:
    found = dict(run.results) if results else {}
    return {
        "id": run.id,
        "user": run.user,
        "quota": run.quota,
        "title": run.title,
        "state": run.state.value,
        "from_ms": run.from_ms,
        "before_ms": run.before_ms,
        "created_ms": run.created_ms,
        "started_ms": run.started_ms,
        "ended_ms": run.ended_ms,
        "jobs": run.jobs,
        "skipped": list(run.skipped),
        "error": run.error,
        "progress": _progress_out(run),
        "variants": [{"name": name, "result": found.get(at)} for at, name in enumerate(run.variants)],  # type: ignore[typeddict-item]  # as the worker made it
    }


def _progress_out(run: Run) -> ProgressOut | None:
    told = run.progress
    if told is None:
        return None
    part = told["ended"] / told["total"] if told["total"] else 1.0
    return {
        "variant": told["variant"],
        "ended": told["ended"],
        "total": told["total"],
        "fraction": (told["variant"] + part) / len(run.variants),
        "seconds_left": told["seconds_left"],
    }
