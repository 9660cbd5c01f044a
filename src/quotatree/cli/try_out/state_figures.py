"""The figures of a state's quotas, for drawing."""

from __future__ import annotations

from quotatree.cli.bars import Figures
from quotatree.core import GPU, State, quota_report


def state_figures(state: State) -> list[Figures]:
    found = []
    for root in state.roots:
        for quota in root.subtree():
            report = quota_report(state, quota.id)
            found.append(
                Figures(
                    id=quota.id,
                    parent=None if quota.parent is None else quota.parent.id,
                    desired=report.desired.gpu_milli or 0,
                    actual=report.actual.gpu_milli or 0,
                    used_own=report.used_own[GPU],
                    used_below=report.used_below[GPU],
                    loan=report.loan[GPU],
                    squeezed=report.squeezed[GPU],
                    shortfall=report.shortfall[GPU],
                    idle_borrowed=report.idle_borrowed[GPU],
                    queued=report.queued[GPU],
                )
            )
    return found
