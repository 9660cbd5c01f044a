"""The brain: events in, decisions out. Pure, standard library only, no clock, no randomness (A1, A3).

This is its one door. What the rest of the project needs stands here by name; the modules behind it are nobody else's
business, and import-linter sees to that. Three vocabularies are modules of their own, because they are read as one:

    from quotatree.core import decisions, events, sentences

    state = State()
    apply(state, events.JobSubmitted(spec), now_ms)     # refused, or the state has changed
    plan(state, now_ms).decisions                       # what follows from it, already applied to the state
"""

from quotatree.core import decisions, events, sentences
from quotatree.core.changes import effects
from quotatree.core.changes.apply import apply
from quotatree.core.changes.evictions import evict
from quotatree.core.changes.job_sizes import resized_spec
from quotatree.core.errors import Defect, QuotaTreeError, Refused
from quotatree.core.explanation import (
    Explanation,
    Exposure,
    Known,
    NodeGroup,
    explain,
    exposure,
    preview,
)
from quotatree.core.holders import Holder
from quotatree.core.ledger import ledger_entries
from quotatree.core.model.autoscale import (
    DOWN_AFTER_MS,
    MOST_TARGET,
    Autoscale,
    Demand,
    Move,
    Sample,
    check_autoscale,
    next_move,
    with_sample,
)
from quotatree.core.model.job import (
    DEFAULT_GRACE_MS,
    FINAL_PHASES,
    Claim,
    Idle,
    Job,
    JobId,
    JobRequest,
    JobSpec,
    Phase,
    Placed,
    ReplicaGroup,
    Shape,
    least_asked_for,
)
from quotatree.core.model.job_request import JOB_FIELDS, JOB_SETTINGS
from quotatree.core.model.node import GONE, Node, NodeSpec, NodeState
from quotatree.core.model.noun_fields import Changed, NounField, ValueKind
from quotatree.core.model.pai_words import PAI_FIELDS, in_our_words
from quotatree.core.model.policy import (
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    STRATEGY_ALIASES,
    ChildLevel,
    Module,
    Priorities,
    Scope,
    SelfLevel,
    SelfLevels,
    Strategy,
    check_priorities,
    parse_modules,
    parse_priorities,
    parse_strategy,
)
from quotatree.core.model.policy_reading import policies_in_numbers, read_child_level, read_self_level
from quotatree.core.model.priority_names import PriorityNames, check_names, in_numbers, in_order, name_of
from quotatree.core.model.quota import QUOTA_FIELDS, QUOTA_SETTINGS, AmountLimit, Quota, QuotaId, QuotaSpec
from quotatree.core.model.quota_arithmetic import has_loan, loan
from quotatree.core.model.resources import GPU, UNBOUNDED, WHOLE_GPU, ZERO, Bounds, Resources, amount_text
from quotatree.core.model.unit import (
    GPU_SECOND,
    NOTEBOOK_CAP_MS,
    RESTART_LARGE_MS,
    RESTART_SMALL_MS,
    SMALL_JOB_MILLI,
    Unit,
    UnitKind,
)
from quotatree.core.model.wait_queue import Failure, WaitClass
from quotatree.core.planning.plan import plan, plan_through
from quotatree.core.quota_figures import (
    JobTotal,
    ModuleTotal,
    QuotaReport,
    job_totals,
    module_totals,
    quota_report,
)
from quotatree.core.reasons import Code, Reason, Step, because
from quotatree.core.records import (
    JobRecord,
    NodeRecord,
    PoolRecord,
    QuotaRecord,
    Snapshot,
    job_record,
    node_record,
    pool_record,
    quota_record,
)
from quotatree.core.search.overlay import Overlay
from quotatree.core.search.placement import Wanted, find_places
from quotatree.core.snapshots import restore, snapshot
from quotatree.core.state import Settings, State
from quotatree.core.supposed_policy import Help
from quotatree.core.waiting_reasons import foremost_reasons

__all__ = [  # noqa: RUF022 — by purpose, not by letter
    # What the brain does.
    "State", "Settings", "apply", "ledger_entries",
    "plan", "plan_through", "explain", "preview", "exposure", "snapshot", "restore", "quota_report",
    "module_totals", "job_totals",
    "foremost_reasons",
    # What happens, what is decided, and why.
    "events", "decisions", "sentences", "Code", "Reason", "Step", "because", "Explanation", "Holder", "NodeGroup", "Exposure", "Known", "Help",
    "QuotaReport", "ModuleTotal", "JobTotal",
    # What can go wrong.
    "QuotaTreeError", "Refused", "Defect",
    # Jobs.
    "Job", "JobId", "JobRequest", "JobSpec", "ReplicaGroup", "Shape", "Placed", "Phase", "FINAL_PHASES", "Claim", "Idle",
    "DEFAULT_GRACE_MS", "least_asked_for", "resized_spec",
    # Services that follow demand.
    "Autoscale", "Demand", "Sample", "Move", "DOWN_AFTER_MS", "MOST_TARGET", "check_autoscale", "with_sample", "next_move",
    # Quotas and their policies.
    "Quota", "QuotaId", "QuotaSpec", "AmountLimit", "has_loan", "loan", "Module", "Priorities", "Scope", "SelfLevel",
    "SelfLevels", "ChildLevel", "Strategy", "STRATEGY_ALIASES", "LOWEST_PRIORITY", "HIGHEST_PRIORITY",
    "check_priorities", "parse_modules", "parse_priorities", "parse_strategy", "read_self_level", "read_child_level",
    "in_our_words", "PAI_FIELDS", "PriorityNames", "check_names", "in_numbers", "in_order", "name_of", "policies_in_numbers",
    # What the fields of a noun are.
    "JOB_FIELDS", "JOB_SETTINGS", "QUOTA_FIELDS", "QUOTA_SETTINGS", "NounField", "ValueKind", "Changed",
    # Nodes and amounts.
    "GONE", "Node", "NodeSpec", "NodeState", "Resources", "Bounds", "ZERO", "UNBOUNDED", "GPU", "WHOLE_GPU", "amount_text",
    # What an eviction takes, and what it costs.
    "Unit", "UnitKind", "GPU_SECOND", "NOTEBOOK_CAP_MS", "RESTART_LARGE_MS", "RESTART_SMALL_MS", "SMALL_JOB_MILLI",
    # What a store keeps.
    "Snapshot", "JobRecord", "NodeRecord", "PoolRecord", "QuotaRecord",
    "job_record", "node_record", "pool_record", "quota_record",
    # What models of other schedulers need to decide for themselves on the same state.
    "effects", "evict", "find_places", "Overlay", "Wanted", "WaitClass", "Failure",
]  # fmt: skip
