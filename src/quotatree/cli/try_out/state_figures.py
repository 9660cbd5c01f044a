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
                    quota.id,
                    None if quota.parent is None else quota.parent.id,
                    report.desired.gpu_milli or 0,
                    report.actual.gpu_milli or 0,
                    report.used_own[GPU],
                    report.used_below[GPU],
                    report.loan[GPU],
                    report.squeezed[GPU],
                    report.shortfall[GPU],
                    report.idle_borrowed[GPU],
                    report.queued[GPU],
                )
            )
    return found
