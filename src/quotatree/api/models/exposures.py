"""In which ways running work could be taken (P2)."""

from __future__ import annotations

from typing_extensions import TypedDict

from quotatree.core import Exposure


class ExposureOut(TypedDict):
    quota: str
    rule: str
    who: str


class Exposures(TypedDict):
    items: list[ExposureOut]


class JobExposures(TypedDict):
    job: str
    items: list[ExposureOut]


class ManyExposures(TypedDict):
    """Jobs that do not run, or are not for the reader, are left out."""

    items: list[JobExposures]


def exposure_out(told: Exposure) -> ExposureOut:
    return {"quota": told.quota, "rule": told.rule, "who": told.who}
