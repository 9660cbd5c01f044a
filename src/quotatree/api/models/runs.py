"""The runs of a job: when each was, where, and how it ended."""

from __future__ import annotations

from typing_extensions import TypedDict

from quotatree.api.models.fields import number
from quotatree.store.rows import PlacementRow, RunRow


class RunPlace(TypedDict):
    replica: int
    node: str
    devices: list[int]
    gpus: float
    from_ms: int
    until_ms: int | None


class RunOut(TypedDict):
    run: int
    claim: str
    started_ms: int
    confirmed_ms: int | None
    ended_ms: int | None
    outcome: str | None
    detail: str
    places: list[RunPlace]


class Runs(TypedDict):
    items: list[RunOut]


def run_out(run: RunRow, places: list[PlacementRow]) -> RunOut:
    return {
        "run": run.run,
        "claim": run.claim,
        "started_ms": run.started_ms,
        "confirmed_ms": run.confirmed_ms,
        "ended_ms": run.ended_ms,
        "outcome": run.outcome,
        "detail": run.detail,
        "places": [
            {
                "replica": place.replica,
                "node": place.node,
                "devices": list(place.devices),
                "gpus": number(place.gpu_milli),
                "from_ms": place.from_ms,
                "until_ms": place.until_ms,
            }
            for place in places
        ],
    }
