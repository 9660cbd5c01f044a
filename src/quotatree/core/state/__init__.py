"""The world as the brain sees it, kept up to date by small reversible changes, never rebuilt for a plan.

Everything that writes goes through methods that can be undone; they stand where their question is answered:

    facts         what is known; transactions
    job_values    what is written in a job
    quota_values  what is written in a quota and in its tree
    nodes         pools, nodes, what must notice a change
    leaving       replicas that were told to end
    protection    min_runtime
    units         what stands on devices and counts in quotas
    tree          the quotas
    memory        what plans remember
    jobs          phases, queues, holds
"""

from __future__ import annotations

from typing import Final

from quotatree.core.state.facts import Settings, limits_on
from quotatree.core.state.job_values import Ending
from quotatree.core.state.jobs import JobChanges
from quotatree.core.state.tree import TreeChanges
from quotatree.core.state.units import units_of

__all__ = ["HOLD_MARGIN_MS", "Ending", "Settings", "State", "limits_on", "units_of"]

HOLD_MARGIN_MS: Final = 60_000


class State(TreeChanges, JobChanges):
    """Nodes, quotas, jobs and the counters between them."""
