"""What the API takes and answers, as typed dictionaries. Written by docs/generate_client_types.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

# fmt: off


class AheadOut(TypedDict):
    """A job that is tried before. Other teams' jobs have a priority and a size, no name."""

    job: str
    name: str | None
    priority: int
    priority_name: str | None
    gpus: float


class AmountIn(TypedDict):
    """All jobs of `who` together use at most so much at these priorities; a job over it waits (W4)."""

    who: str
    priorities: int | str
    gpus: float


class AmountOut(TypedDict):
    who: str
    priorities: str
    gpus: float


class Amounts(TypedDict):
    """An amount of each resource; one that is left out is not named, and so not bounded (Q3)."""

    gpus: NotRequired[float | None]
    cpu: NotRequired[float | None]
    memory: NotRequired[str | None]


class AmountsOut(TypedDict):
    gpus: NotRequired[float]
    cpu: NotRequired[float]
    memory: NotRequired[str]


class AttentionOut(TypedDict):
    """One thing to look at. Of `quota`, `node` and `job` the one that it is about; `since_ms`: since when
    it waits or is not ready.
    """

    kind: Literal["lost-node", "ill-device", "out-node", "unready-service", "shortfall", "squeezed", "shrinking", "waiting"]
    text: str
    quota: str | None
    node: str | None
    job: str | None
    name: str | None
    gpus: float | None
    since_ms: int | None


class AuditOut(TypedDict):
    seq: int
    at_ms: int
    actor: str
    action: str
    target: str
    workspace: str | None
    body: dict[str, Any]


class AuditPage(TypedDict):
    items: list[AuditOut]
    next: str | None


class AutoscaleIn(TypedDict):
    """Let `replicas` follow demand (P16): between `min` and `max`, so that each has `target` requests in
    flight.

    `down_after`: for so long the demand must have been lower before replicas go.
    """

    min: int
    max: int
    target: float
    down_after: NotRequired[str]


class AutoscaleOut(TypedDict):
    min: int
    max: int
    target: float
    down_after: str


class BatchItem(TypedDict):
    id: str | None
    problem: Problem | None


class CancelChange(TypedDict):
    change: Literal["cancel"]
    job: str


class CeilingIn(TypedDict):
    """`who` asks for at most this priority; more is refused (W4)."""

    who: str
    priority: int | str


class CeilingOut(TypedDict):
    who: str
    priority: int


class CentreChange(TypedDict):
    """The rules of a workspace in one of its quotas (W3); jobs that have run or waited too long by them
    are told.
    """

    modules: NotRequired[list[Literal["DLC", "DSW", "EAS"]]]
    roles: NotRequired[list[Literal["owner", "admin", "operator", "developer"]]]
    amounts: NotRequired[list[AmountIn]]
    ceilings: NotRequired[list[CeilingIn]]
    longest_run: NotRequired[str | dict[str, str] | None]
    longest_wait: NotRequired[str | dict[str, str] | None]
    change: Literal["centre"]
    workspace: str
    quota: str


class CentreIn(TypedDict):
    """The rules of a workspace in one of its quotas (W3). What is left out binds nobody."""

    modules: NotRequired[list[Literal["DLC", "DSW", "EAS"]]]
    roles: NotRequired[list[Literal["owner", "admin", "operator", "developer"]]]
    amounts: NotRequired[list[AmountIn]]
    ceilings: NotRequired[list[CeilingIn]]
    longest_run: NotRequired[str | dict[str, str] | None]
    longest_wait: NotRequired[str | dict[str, str] | None]


class CentreOut(TypedDict):
    """`version` 0: never set, so everything is allowed. `priority_names`: the names of priorities that its
    limits speak of (W6).
    """

    workspace: str
    quota: str
    version: int
    modules: list[str]
    roles: list[str]
    amounts: list[AmountOut]
    ceilings: list[CeilingOut]
    longest_run: str | dict[str, str] | None
    longest_wait: str | dict[str, str] | None
    priority_names: dict[str, int]


class ChildLevelIn(TypedDict):
    """P2: any waiting job may take matching jobs of the quotas below; without priorities 1-9, without
    modules DLC and DSW.

    Without `enabled` a policy that is there keeps its switch, and a new one is on.
    """

    priorities: NotRequired[int | str | list[int | str]]
    modules: NotRequired[list[Literal["DLC", "DSW", "EAS"]]]
    enabled: NotRequired[bool | Literal["on", "off"]]


class ChildLevelOut(TypedDict):
    priorities: str
    modules: list[str]
    enabled: bool


class ClusterOut(TypedDict):
    """All nodes together. `free_gpus`: not given away on nodes that are ready; `out_gpus`: on nodes that
    take nothing new.
    """

    nodes: int
    gpus: int
    free_gpus: float
    leaving_gpus: float
    ill_gpus: int
    out_gpus: int
    states: dict[str, int]


class ClusterTokenIn(TypedDict):
    """The bearer token of a user of the cluster, as their kubeconfig has it."""

    token: str


class CreateQuotaChange(TypedDict):
    change: Literal["create-quota"]
    quota: QuotaIn


class DecidedOut(TypedDict):
    seq: int
    at_ms: int
    decision: DecisionOut


class DecidedPage(TypedDict):
    items: list[DecidedOut]
    next: str | None


class DecisionOut(TypedDict):
    """`kind`: Start, Hold, Evict, Demote, Promote, Release, Stop, Fail, Alarm or Wait; the rest as far as
    it applies.
    """

    kind: str
    job: str
    reason: ReasonOut
    run: NotRequired[int]
    claim: NotRequired[str]
    step: NotRequired[str]
    surplus: NotRequired[bool]
    grows: NotRequired[bool]
    places: NotRequired[list[PlaceOut]]
    waiting_on: NotRequired[list[str]]
    expires_ms: NotRequired[int | None]
    what: NotRequired[str]
    replicas: NotRequired[list[int]]
    preemptor: NotRequired[str | None]
    cost_gpu_seconds: NotRequired[float]
    lost_gpu_seconds: NotRequired[float]
    grace_ms: NotRequired[int]
    requeued: NotRequired[bool]
    moved: NotRequired[bool]
    preemption: NotRequired[PreemptionOut | None]


class DeleteQuotaChange(TypedDict):
    change: Literal["delete-quota"]
    quota: str


class DeviceIn(TypedDict):
    handle: str


class DeviceOut(TypedDict):
    """Show the code and the address; ask with the handle, not more often than `interval_ms`."""

    handle: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    interval_ms: int
    expires_ms: int


class DeviceTokenOut(TypedDict):
    user: str
    token: str
    expires_ms: int | None


class Done(TypedDict):
    """It is written and safe. `version` is the new one, where the thing has one; `notice` says what one
    should know of it.
    """

    id: str
    version: int | None
    notice: NotRequired[str]


class DropAutoscaleChange(TypedDict):
    change: Literal["drop-autoscale"]
    job: str


class EndpointOut(TypedDict):
    """`address` is null while there is none; `ready` is how many replicas of a service are healthy.
    `in_flight`: requests that it has in flight, on average over the last seconds; null if that is not
    known. `unready`: replicas of a service that run and are not healthy, since when, and what is wrong.

    `token` is null for those who may not open the job, and where none is needed.
    """

    address: str | None
    token: str | None
    ready: int
    in_flight: float | None
    unready: list[UnreadyOut]


class EstimateOut(TypedDict):
    """When a waiting job is expected to start, in milliseconds since the epoch. `likely_ms` is null if
    that cannot be told; then `why` says why not. From `earliest_ms` to `latest_ms` it starts if
    durations are as they were for the middle half of the jobs alike; either is null if that end is
    open. `rests_on`: what it is made from, in sentences.
    """

    earliest_ms: int | None
    likely_ms: int | None
    latest_ms: int | None
    why: str
    rests_on: list[str]


class EventOut(TypedDict):
    seq: int
    at_ms: int
    kind: str
    workspace: str | None
    quota: str | None
    job: str | None
    body: dict[str, Any]


class EventPage(TypedDict):
    """`last`: ask again with after=last; it rises also over events that are not for this reader."""

    items: list[EventOut]
    last: int


class ExplanationOut(TypedDict):
    """Where a job stands and why (X1, X2). `ahead`: the first 50; `position` tells how many there are.

    `hindered`: why a run that was started has not begun, in the words of what runs it. `estimate` is
    null unless it was asked for and the job waits.
    """

    job: str
    phase: str
    quota: str
    position: int | None
    ahead: list[AheadOut]
    reasons: list[ReasonOut]
    holders: list[HolderOut]
    nodes: list[NodeGroupOut]
    tried: list[TriedOut]
    helps: list[HelpOut]
    preempted_by: str | None
    lost_gpu_seconds: float | None
    next_try: str
    hindered: str | None
    estimate: EstimateOut | None


class ExposedOut(TypedDict):
    job: str
    exposure: ExposureOut


class ExposureOut(TypedDict):
    quota: str
    rule: str
    who: str


class Exposures(TypedDict):
    items: list[ExposureOut]


class FieldProblem(TypedDict):
    """One field of a request that is not what it must be."""

    field: str
    message: str


class FigureLists(TypedDict):
    """The mean of each figure in each step; null where nobody looked. Memory is told as text, such as
    "64Gi".
    """

    min: list[float | None] | list[str | None]
    used: list[float | None] | list[str | None]
    own: list[float | None] | list[str | None]
    loan: list[float | None] | list[str | None]
    squeezed: list[float | None] | list[str | None]
    reserved: list[float | None] | list[str | None]
    idle_lent: list[float | None] | list[str | None]
    idle_borrowed: list[float | None] | list[str | None]
    queued: list[float | None] | list[str | None]
    free: list[float | None] | list[str | None]


class ForeignOut(TypedDict):
    gpus: float
    cpu: float
    memory: str


class GpuTime(TypedDict):
    """Use from `since_ms` on and before `until_ms`, largest first; what still runs counts up to now.
    `total` is of all rows.
    """

    since_ms: int
    until_ms: int
    by: list[str]
    rows: list[UsageRowOut]
    total: GpuTimeOut


class GpuTimeOut(TypedDict):
    """`gpu_hours`: GPUs times the hours that replicas occupied them, from their start until they had left,
    idle ones too. `lost_gpu_hours`: work that decisions destroyed, whoever wanted it, as the ledger has
    it (P6, P13). `runs` began in the time; `preempted`: how often a run was taken for another job, if
    that counts as a preemption (P11).
    """

    gpu_hours: float
    lost_gpu_hours: float
    runs: int
    preempted: int


class GroupIn(TypedDict):
    """Equal replicas; each finds its place on one node."""

    replicas: NotRequired[int]
    gpus: NotRequired[float]
    cpu: NotRequired[float]
    memory: NotRequired[str]
    models: NotRequired[list[str]]
    labels: NotRequired[dict[str, str]]
    name: NotRequired[str]


class GroupOut(TypedDict):
    name: str
    replicas: int
    gpus: float
    cpu: float
    memory: str
    models: list[str]
    labels: dict[str, str]


class HealthOut(TypedDict):
    """`mode` in words; `waiting`: requests before the loop."""

    mode: str
    writable: bool
    since_ms: int
    waiting: int


class HelpOut(TypedDict):
    """`text`; and what could be done: `arguments` with `change` set to `action` are a change that
    `/previews` takes.

    `action`: `scale`, `policies` or `cancel`; null where nothing can be done, or not by this reader.
    """

    text: str
    action: Literal["scale", "policies", "cancel"] | None
    arguments: dict[str, Any]


class HolderOut(TypedDict):
    """Jobs of a quota that hold the capacity, regular or idle; `held` of them do not run yet: their places
    are promised (P9).
    """

    quota: str
    claim: Literal["regular", "idle"]
    jobs: int
    held: int
    gpus: float
    lowest_priority: int
    lowest_priority_name: str | None
    highest_priority: int
    highest_priority_name: str | None


class JobExposures(TypedDict):
    job: str
    items: list[ExposureOut]


class JobIn(TypedDict):
    """A job to be queued. `program` is what the engine runs, in its own words; what stands in it under
    `secrets` is never shown again. With `autoscale`, a service starts with `autoscale.min` replicas
    unless it says more.
    """

    workspace: str
    quota: str
    groups: list[GroupIn]
    name: NotRequired[str]
    module: NotRequired[Literal["DLC", "DSW", "EAS"]]
    priority: NotRequired[int | str]
    min_replicas: NotRequired[int | None]
    max_replicas: NotRequired[int | None]
    idle: NotRequired[Literal["never", "allow", "only"]]
    grace: NotRequired[str]
    checkpoint_interval: NotRequired[str | None]
    max_preemptions: NotRequired[int | None]
    requeue: NotRequired[bool]
    on_hold: NotRequired[bool]
    autoscale: NotRequired[AutoscaleIn | None]
    program: NotRequired[dict[str, Any]]


class JobOut(TypedDict):
    """`core_replicas`, `replicas`, `most_replicas`: what it insists on, wants and can use (P12);
    `min_replicas` and `max_replicas` are what its owner said of it. `reason` and its code say why it
    waits now, or how many replicas run of those that it wants; `position` is its place in the queue of
    its quota, where it was asked for; `ending` says of a failed job what went wrong.
    `waiting_since_ms`: when it last began to wait, null unless it waits now; `waited_before_ms`: how
    long it waited before that, or before its present run: since its submission, without its runs.
    `allowed`: what the reader's roles let them do to it.
    """

    id: str
    name: str
    workspace: str
    quota: str
    owner: str
    module: str
    priority: int
    priority_name: str | None
    phase: str
    reason_code: str
    reason: ReasonOut | None
    ending: str | None
    position: int | None
    submitted_ms: int
    waiting_since_ms: int | None
    waited_before_ms: int
    first_started_ms: int | None
    started_ms: int | None
    ended_ms: int | None
    gpus: float
    run: int
    claim: str
    replicas: int
    core_replicas: int
    most_replicas: int
    running_replicas: int
    groups: list[GroupOut]
    min_replicas: int | None
    max_replicas: int | None
    autoscale: AutoscaleOut | None
    idle: str
    grace: str | None
    checkpoint_interval: str | None
    max_preemptions: int | None
    requeue: bool
    preempted: int
    preempted_by: str | None
    places: list[PlaceOut]
    program: dict[str, Any]
    allowed: list[str]


class JobPage(TypedDict):
    """`total`: how many jobs there are on all pages, where it was asked for."""

    items: list[JobOut]
    next: str | None
    total: int | None


class JobsIn(TypedDict):
    jobs: list[JobIn]


class JoinNodeChange(TypedDict):
    change: Literal["join-node"]
    node: NodeIn


class LastTryOut(TypedDict):
    """The last try to deliver. `status` is what the receiver answered, null if it did not; `error` is ""
    if it took it.
    """

    at_ms: int
    status: int | None
    error: str


class LedgerDetail(TypedDict):
    """`since`: what became of the jobs that the reader may see."""

    seq: int
    at_ms: int
    preemptor: PreemptorOut | None
    names: dict[str, str]
    preemption: PreemptionOut
    since: list[SinceOut]


class LedgerOut(TypedDict):
    """`names`: of the jobs in it that the reader may see, by id. `preemptor` is null where no job takes
    the place of what left.
    """

    seq: int
    at_ms: int
    preemptor: PreemptorOut | None
    names: dict[str, str]
    preemption: PreemptionOut


class LedgerPage(TypedDict):
    items: list[LedgerOut]
    next: str | None


class LinkIn(TypedDict):
    """`code`: what stands behind `#link=` in a login link."""

    code: str


class LoginIn(TypedDict):
    user: str
    password: str


class LoginLinkOut(TypedDict):
    """`path` belongs behind the server's address; it works once, until `expires_ms`."""

    path: str
    expires_ms: int


class LoginWays(TypedDict):
    """Which ways in are open. `oidc`: begin with `POST /api/v1/oidc/login`."""

    password: bool
    token: bool
    link: bool
    oidc: bool
    oidc_issuer: str | None


class ManyExposures(TypedDict):
    """Jobs that do not run, or are not for the reader, are left out."""

    items: list[JobExposures]


class MemberIn(TypedDict):
    user: str
    role: Literal["owner", "admin", "operator", "developer", "viewer"]


class MemberOut(TypedDict):
    user: str
    role: str


class MembershipOut(TypedDict):
    workspace: str
    roles: list[str]


class ModuleOut(TypedDict):
    """`gpus`: of regular work, with what is promised; `idle_gpus`: of idle work; `waiting_*`: of jobs that
    do not run.
    """

    module: str
    running_jobs: int
    gpus: float
    idle_gpus: float
    waiting_jobs: int
    waiting_gpus: float


class NewTokenOut(TypedDict):
    """`token` is shown this once and never again."""

    id: str
    token: str
    expires_ms: int | None


class NodeChange(TypedDict):
    change: Literal["node-state"]
    node: str
    state: Literal["Ready", "Cordoned", "Draining"]


class NodeDevices(TypedDict):
    """In the order of the nodes' names."""

    items: list[NodeDevicesOut]
    next: str | None


class NodeDevicesOut(TypedDict):
    """`free`: what nobody was promised, of each device, 0 to 1; `ill`: indexes of devices that are out of
    order.
    """

    node: str
    pool: str
    model: str
    state: str
    gpus: int
    free: list[float]
    ill: list[int]
    occupants: list[OccupantOut]


class NodeGroupOut(TypedDict):
    pool: str
    model: str
    state: str
    nodes: int
    free_gpus: int
    replicas_fit: int


class NodeIn(TypedDict):
    """A node that joins its pool, ready (R2). A pool that is not there yet is declared by its first node.
    """

    name: str
    pool: NotRequired[str]
    model: NotRequired[str]
    gpus: NotRequired[int]
    cpu: NotRequired[float]
    memory: NotRequired[str]
    labels: NotRequired[dict[str, str]]


class NodeOut(TypedDict):
    """`free_gpus`: not given away; `leaving_gpus`: still occupied by evicted work (P9); `ill_gpus`: their
    indexes (R5).

    `allowed`: what the reader may do with it; `manage-nodes` is cordon, drain and ready again.
    `foreign`: what others than our jobs use; `crowded`: more than our work leaves them, so that nothing
    new lands (R6).
    """

    name: str
    pool: str
    model: str
    gpus: int
    cpu: float
    memory: str
    labels: dict[str, str]
    state: str
    version: int
    free_gpus: float
    leaving_gpus: float
    ill_gpus: list[int]
    foreign: ForeignOut
    crowded: bool
    jobs: int
    allowed: list[str]


class Nodes(TypedDict):
    items: list[NodeOut]


class OccupantOut(TypedDict):
    """A job on one node. `job` to `module` are null if the reader may not see it, `quota` if they may not
    know the quota.

    `devices`: indexes of its GPUs there; `gpus`: what it has of them in all. `leaving`: it was told to
    stop and has not left yet (P9); `held`: the devices are promised to it and it does not run yet.
    """

    job: str | None
    name: str | None
    workspace: str | None
    owner: str | None
    module: str | None
    quota: str | None
    priority: int
    devices: list[int]
    gpus: float
    idle: bool
    leaving: bool
    held: bool


class OidcAnswerIn(TypedDict):
    """`answer`: the query with which the provider sent the browser back. `secret`: what the page got when
    it began.
    """

    answer: str
    secret: str


class OidcBegunOut(TypedDict):
    """Keep `secret` in the page, then send the browser to `url`."""

    url: str
    secret: str


class PaiChildLevel(TypedDict):
    """P2 in PAI's words: everything up to the bound."""

    PreemptedPriorityUpperBound: int | str
    PreemptedProducts: list[Literal["DLC", "DSW", "EAS"]]


class PaiOut(TypedDict):
    QueueStrategy: str
    EnableSelfQuotaPreemption: bool
    SelfQuotaPreemptionConfig: PaiSelfOut | None
    EnableSubQuotaPreemption: bool
    SubQuotaPreemptionConfig: PaiSubOut | None


class PaiSelfLevel(TypedDict):
    """P1 in PAI's words; lists may have gaps."""

    PreemptorPriorities: list[int | str]
    PreemptedPriorities: list[int | str]
    PreemptedProducts: list[Literal["DLC", "DSW", "EAS"]]


class PaiSelfOut(TypedDict):
    PreemptorPriorities: list[int]
    PreemptedPriorities: list[int]
    PreemptedProducts: list[str]


class PaiSubOut(TypedDict):
    PreemptedPriorityUpperBound: int
    PreemptedProducts: list[str]


class PasswordIn(TypedDict):
    """`current` is needed to change one's own, if one has one: a session left open must not be enough."""

    password: str
    current: NotRequired[str | None]


class PeakLists(TypedDict):
    """The highest minute of each step; null where nobody looked."""

    used: list[float | None] | list[str | None]
    loan: list[float | None] | list[str | None]
    squeezed: list[float | None] | list[str | None]
    queued: list[float | None] | list[str | None]


class Peaks(TypedDict):
    figures: dict[str, PeakLists]
    running_jobs: list[float | None]
    waiting_jobs: list[float | None]
    oldest_waiting_s: list[float | None]


class PlaceOut(TypedDict):
    replica: int
    node: str
    devices: list[int]
    surplus: bool


class PoliciesChange(TypedDict):
    change: Literal["policies"]
    quota: str
    to: PoliciesIn


class PoliciesIn(TypedDict):
    """All three; a policy that is left out is taken away, and the strategy becomes intelligent (in PAI's
    words: stays).
    """

    strategy: NotRequired[Literal["fifo", "traverse", "balance", "intelligent", "PaiStrategyStrictFIFO", "PaiStrategyRoundRobin", "PaiStrategyBalance", "PaiStrategyIntelligent"]]
    self_level: NotRequired[bool | Literal["on", "off"] | SelfLevelIn | list[SelfLevelIn] | None]
    child_level: NotRequired[bool | Literal["on", "off"] | ChildLevelIn | None]
    QueueStrategy: NotRequired[Literal["fifo", "traverse", "balance", "intelligent", "PaiStrategyStrictFIFO", "PaiStrategyRoundRobin", "PaiStrategyBalance", "PaiStrategyIntelligent"]]
    SelfQuotaPreemptionConfig: NotRequired[PaiSelfLevel | None]
    EnableSelfQuotaPreemption: NotRequired[bool | None]
    SubQuotaPreemptionConfig: NotRequired[PaiChildLevel | None]
    EnableSubQuotaPreemption: NotRequired[bool | None]


class PoliciesOut(TypedDict):
    strategy: str
    self_level: list[SelfLevelOut]
    child_level: ChildLevelOut | None


class PoolIn(TypedDict):
    """`mixed`: may have nodes of several models (R2)."""

    name: str
    mixed: NotRequired[bool]


class PoolOut(TypedDict):
    name: str
    mixed: bool
    version: int
    nodes: int
    gpus: int
    models: list[str]


class Pools(TypedDict):
    items: list[PoolOut]


class PreemptionOut(TypedDict):
    """P13: who took what from whom, by which step, at which cost, and what was tried before. `kept`: jobs
    that were to go by this step and keep running, since others went in their stead (P8). Where no job
    takes the place of what left, `preemptor` and `step` are null, and `reason` says whose wish it was:
    a quota that is scaled, a loan that is returned, a node, a limit, an owner.
    """

    preemptor: str | None
    step: str | None
    reason: ReasonOut | None
    victims: list[VictimOut]
    demoted: list[str]
    kept: list[str]
    cost_gpu_seconds: float
    cost_without_ladder_gpu_seconds: float
    highest_priority: int
    tried: list[TriedOut]


class PreemptorOut(TypedDict):
    """Who took it. Of other teams' jobs the reader learns priority, size and the level of the quota; the
    rest is null.
    """

    job: str
    name: str | None
    workspace: str | None
    owner: str | None
    module: str | None
    quota: str
    priority: int
    gpus: float


class PreviewIn(TypedDict):
    """One change, or several as if they were made one after the other and then planned once."""

    changes: list[SubmitChange | CancelChange | PriorityChange | ResizeChange | DropAutoscaleChange | CreateQuotaChange | UpdateQuotaChange | PoliciesChange | ScaleChange | TransferChange | DeleteQuotaChange | ReturnLoanChange | NodeChange | JoinNodeChange | CentreChange]


class PreviewOut(TypedDict):
    """`ids`: what the changes would have made or touched; `hidden`: others' jobs that would merely wait
    on.

    `exposed`: running work that could be taken in a way in which it cannot be taken now (P2). `names`:
    of the jobs in it that the reader may see, by id. `estimate` is null unless it was asked for, a
    submission is all that is previewed, and it would wait.
    """

    ids: list[str]
    decisions: list[DecisionOut]
    hidden: int
    exposed: list[ExposedOut]
    names: dict[str, str]
    estimate: EstimateOut | None


Priorities = list[Any]


class PriorityChange(TypedDict):
    priority: int | str
    change: Literal["priority"]
    job: str


class PriorityIn(TypedDict):
    priority: int | str


class PriorityNamesIn(TypedDict):
    """All names; one that is left out is gone. Jobs, policies and limits keep their numbers."""

    names: dict[str, int]


class PriorityNamesOut(TypedDict):
    """Highest first."""

    names: dict[str, int]


class Problem(TypedDict):
    """RFC 9457, with our reason codes. `field` and `value` say what was refused, `rule` by which rule of
    the rulebook.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: NotRequired[str]
    field: NotRequired[str]
    value: NotRequired[Any]
    rule: NotRequired[str]
    errors: NotRequired[list[FieldProblem]]


class ProgressOut(TypedDict):
    """`variant`: which of them plays, from 0 on; `ended` of `total` jobs; `fraction`: of all variants, 0
    to 1.
    """

    variant: int
    ended: int
    total: int
    fraction: float
    seconds_left: float | None


class Queue(TypedDict):
    items: list[QueuePlace]
    next: str | None


class QueuePlace(TypedDict):
    """Other teams' jobs have a priority and a size, no name."""

    position: int
    job: str
    priority: int
    priority_name: str | None
    reason_code: str


class QuotaAdmins(TypedDict):
    users: list[str]


class QuotaChange(TypedDict):
    """What may be changed after creation; what is left out stays as it is, and null takes a setting away
    (Q6).
    """

    strategy: NotRequired[Literal["fifo", "traverse", "balance", "intelligent", "PaiStrategyStrictFIFO", "PaiStrategyRoundRobin", "PaiStrategyBalance", "PaiStrategyIntelligent"]]
    self_level: NotRequired[bool | Literal["on", "off"] | SelfLevelIn | list[SelfLevelIn] | None]
    child_level: NotRequired[bool | Literal["on", "off"] | ChildLevelIn | None]
    QueueStrategy: NotRequired[Literal["fifo", "traverse", "balance", "intelligent", "PaiStrategyStrictFIFO", "PaiStrategyRoundRobin", "PaiStrategyBalance", "PaiStrategyIntelligent"]]
    SelfQuotaPreemptionConfig: NotRequired[PaiSelfLevel | None]
    EnableSelfQuotaPreemption: NotRequired[bool | None]
    SubQuotaPreemptionConfig: NotRequired[PaiChildLevel | None]
    EnableSubQuotaPreemption: NotRequired[bool | None]
    reserved: NotRequired[Amounts | None]
    weight: NotRequired[Amounts | None]
    fair_idle: NotRequired[bool]
    lending: NotRequired[bool]
    idle_limit: NotRequired[float | None]
    min_runtime: NotRequired[str | None]
    preemption_delay: NotRequired[str | None]
    name: NotRequired[str]
    description: NotRequired[str]
    labels: NotRequired[dict[str, str]]


class QuotaIn(TypedDict):
    """A new quota: a root names its draws from pools, everybody else a parent (Q1)."""

    strategy: NotRequired[Literal["fifo", "traverse", "balance", "intelligent", "PaiStrategyStrictFIFO", "PaiStrategyRoundRobin", "PaiStrategyBalance", "PaiStrategyIntelligent"]]
    self_level: NotRequired[bool | Literal["on", "off"] | SelfLevelIn | list[SelfLevelIn] | None]
    child_level: NotRequired[bool | Literal["on", "off"] | ChildLevelIn | None]
    QueueStrategy: NotRequired[Literal["fifo", "traverse", "balance", "intelligent", "PaiStrategyStrictFIFO", "PaiStrategyRoundRobin", "PaiStrategyBalance", "PaiStrategyIntelligent"]]
    SelfQuotaPreemptionConfig: NotRequired[PaiSelfLevel | None]
    EnableSelfQuotaPreemption: NotRequired[bool | None]
    SubQuotaPreemptionConfig: NotRequired[PaiChildLevel | None]
    EnableSubQuotaPreemption: NotRequired[bool | None]
    reserved: NotRequired[Amounts | None]
    weight: NotRequired[Amounts | None]
    fair_idle: NotRequired[bool]
    lending: NotRequired[bool]
    idle_limit: NotRequired[float | None]
    min_runtime: NotRequired[str | None]
    preemption_delay: NotRequired[str | None]
    name: NotRequired[str]
    description: NotRequired[str]
    labels: NotRequired[dict[str, str]]
    id: str
    parent: NotRequired[str | None]
    min: NotRequired[Amounts | None]
    draws: NotRequired[dict[str, Any]]


class QuotaOut(TypedDict):
    """`min` is what is desired; `usage.actual` follows it (Q5). `weight` is null where it is the min (S6).

    `version` rises with settings only, never with use. `allowed`: what the reader's roles let them do
    to it. `workspaces`: those of the reader's that are bound to it (W1). `priority_names`: the names
    that there are for priorities in its policies (W6).
    """

    id: str
    parent: str | None
    depth: int
    version: int
    min: AmountsOut
    draws: dict[str, AmountsOut]
    reserved: AmountsOut
    weight: AmountsOut | None
    fair_idle: bool
    strategy: str
    self_level: list[SelfLevelOut]
    child_level: ChildLevelOut | None
    lending: bool
    idle_limit: float | None
    min_runtime: str | None
    preemption_delay: str | None
    name: str
    description: str
    labels: dict[str, str]
    shrinking: bool
    usage: UsageOut
    allowed: list[str]
    workspaces: list[str]
    priority_names: dict[str, int]


class QuotaSeries(TypedDict):
    """`times` are the beginnings of the steps, in milliseconds; every list has one value for each of them.

    `figures` has `gpu`, and `cpu` and `memory` where they were named, used or waited for. `used` counts
    what is below too, `own` does not; `queued` and jobs are those of the quota itself. Values are means
    over the minutes of a step in which the server looked; `peaks` has the highest of them. Null: nobody
    looked, or, for `min`, it was not named.
    """

    quota: str
    step: Literal["minute", "hour", "day"]
    since: int
    until: int
    times: list[int]
    figures: dict[str, FigureLists]
    running_jobs: list[float | None]
    waiting_jobs: list[float | None]
    oldest_waiting_s: list[float | None]
    peaks: Peaks


class QuotaStub(TypedDict):
    """A quota above those that one may see: what of it bounds them. `free`: of it and all above it,
    `unused`: of its own min.
    """

    id: str
    parent: str | None
    depth: int
    min: AmountsOut
    free: AmountsOut
    unused: AmountsOut


class QuotaUserOut(TypedDict):
    """What the jobs of a user in one workspace have and wait for now. `user` and `workspace` are null in
    the one row that sums everybody whose jobs the reader may not see.

    `regular_gpus` counts holds, as the quota does; `waiting_gpus` is the least that would do. Over all
    rows they add up to the figures of the quota. `oldest_waiting_since_ms` is null while nothing waits.
    """

    user: str | None
    workspace: str | None
    running_jobs: int
    regular_gpus: float
    idle_gpus: float
    waiting_jobs: int
    waiting_gpus: float
    oldest_waiting_since_ms: int | None


class QuotaUsers(TypedDict):
    """Largest use first."""

    items: list[QuotaUserOut]


class Quotas(TypedDict):
    """Parents before their children. `ancestors` stand above `items` and are not for the reader, but for
    these figures.
    """

    items: list[QuotaOut]
    ancestors: list[QuotaStub]


class ReasonOut(TypedDict):
    """Why, as a stable code and as a sentence. `rules` are the numbers of the rules behind it, in the
    rulebook.

    `facts`: what fills the sentence, by name, such as `quota`, `wanted`, `free`.
    """

    code: str
    text: str
    rules: list[str]
    facts: dict[str, str]


class ReplicasIn(TypedDict):
    """At least one of the three: what the job wants, what it insists on, what it can use at most (P12)."""

    replicas: NotRequired[int | None]
    min_replicas: NotRequired[int | None]
    max_replicas: NotRequired[int | None]


class ResizeChange(TypedDict):
    replicas: NotRequired[int | None]
    min_replicas: NotRequired[int | None]
    max_replicas: NotRequired[int | None]
    change: Literal["resize"]
    job: str


class ResizeIn(TypedDict):
    min_replicas: int


class ReturnLoanChange(TypedDict):
    change: Literal["return-loan"]
    quota: str


class RunOut(TypedDict):
    run: int
    claim: str
    started_ms: int
    confirmed_ms: int | None
    ended_ms: int | None
    outcome: str | None
    detail: str
    places: list[RunPlace]


class RunPlace(TypedDict):
    replica: int
    node: str
    devices: list[int]
    gpus: float
    from_ms: int
    until_ms: int | None


class Runs(TypedDict):
    items: list[RunOut]


class ScaleChange(TypedDict):
    min: NotRequired[Amounts | None]
    draws: NotRequired[dict[str, Any]]
    mode: NotRequired[Literal["refuse", "lazy", "reclaim"]]
    change: Literal["scale"]
    quota: str


class ScaleIn(TypedDict):
    """A new `min`, or for a root new draws. `mode` says what happens to use beyond it (Q5)."""

    min: NotRequired[Amounts | None]
    draws: NotRequired[dict[str, Any]]
    mode: NotRequired[Literal["refuse", "lazy", "reclaim"]]


class SelfLevelIn(TypedDict):
    """P1: waiting jobs with a priority in `high` may take running ones with a priority in `low`.

    Without both: 6-9 over 1-5, or with `any` every priority over every lower one. Without modules: DLC
    and DSW. Without `enabled` a policy that is there keeps its switch, and a new one is on.
    """

    high: NotRequired[int | str | list[int | str]]
    low: NotRequired[int | str | list[int | str]]
    any: NotRequired[Literal["lower"]]
    modules: NotRequired[list[Literal["DLC", "DSW", "EAS"]]]
    scope: NotRequired[Literal["own", "siblings", "level"]]
    enabled: NotRequired[bool | Literal["on", "off"]]


class SelfLevelOut(TypedDict):
    """Either `high` and `low`, or `any`."""

    high: NotRequired[str]
    low: NotRequired[str]
    any: NotRequired[Literal["lower"]]
    modules: list[str]
    scope: str
    enabled: bool


class SeriesOut(TypedDict):
    """GPUs over time, one value for each of `at_ms`, which counts from the beginning of the stretch."""

    at_ms: list[int]
    capacity: list[float]
    running: list[float]
    idle: list[float]
    waiting: list[float]
    by_quota: dict[str, list[float]]


class SessionOut(TypedDict):
    """`key` goes into every request: `Authorization: Bearer qs_…`. Keep it for your origin, never in a
    cookie.
    """

    user: str
    key: str
    expires_ms: int


class SimulatedOut(TypedDict):
    """What came of one variant. The metrics are those of `quotatree simulate`; `left_out`: jobs without a
    quota to go to.
    """

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


class SimulationIn(TypedDict):
    """Replay the jobs that were submitted to the tree of root `quota` from `from_ms` on and before
    `before_ms`.

    Each variant is played with the same jobs; for a comparison, let one have no changes.
    """

    quota: str
    title: NotRequired[str]
    from_ms: int
    before_ms: int
    variants: list[VariantIn]


class SimulationMade(TypedDict):
    id: str


class SimulationOut(TypedDict):
    """`jobs`: how many are replayed; `skipped`: which are not, and why."""

    id: str
    user: str
    quota: str
    title: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
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


class SinceOut(TypedDict):
    """What became of a job that was part of a preemption. `role`: preemptor, victim or demoted."""

    job: str
    name: str
    role: Literal["preemptor", "victim", "demoted"]
    quota: str
    phase: str
    reason_code: str
    position: int | None
    run: int
    started_ms: int | None
    ended_ms: int | None


class StoodOn(TypedDict):
    quota: str
    amount: AmountsOut


class SubmitChange(TypedDict):
    change: Literal["submit"]
    job: JobIn


class Submitted(TypedDict):
    """`repeated`: the key was known, and this is the job of then."""

    id: str
    repeated: bool


class SubmittedMany(TypedDict):
    items: list[BatchItem]
    repeated: bool


class SummaryOut(TypedDict):
    """`modules`: over the quotas that the reader sees; `cluster`: for those who may see nodes, else null.

    `attention`: nodes first, then services that do not get ready, then quotas, largest first, then the
    jobs that wait longest; `more`: how many are left out.
    """

    at_ms: int
    modules: list[ModuleOut]
    cluster: ClusterOut | None
    attention: list[AttentionOut]
    more: int


class TokenIn(TypedDict):
    """`lasts`: until it expires; without it, until it is revoked. `user`: for somebody else (platform
    admins).
    """

    name: str
    lasts: NotRequired[str | None]
    read_only: NotRequired[bool]
    user: NotRequired[str | None]


class TokenLoginIn(TypedDict):
    token: str


class TokenOut(TypedDict):
    id: str
    user: str
    name: str
    created_ms: int
    expires_ms: int | None
    revoked_ms: int | None
    read_only: bool


class Tokens(TypedDict):
    items: list[TokenOut]


class TransferChange(TypedDict):
    source: str
    target: str
    amount: Amounts
    mode: NotRequired[Literal["refuse", "lazy", "reclaim"]]
    change: Literal["transfer"]


class TransferIn(TypedDict):
    """Capacity goes from `source` to its sibling `target` in one step (Q5)."""

    source: str
    target: str
    amount: Amounts
    mode: NotRequired[Literal["refuse", "lazy", "reclaim"]]


class TriedOut(TypedDict):
    step: str
    reason: ReasonOut


class UnreadyOut(TypedDict):
    replica: int
    since_ms: int
    why: str


class UpdateQuotaChange(TypedDict):
    change: Literal["update-quota"]
    quota: str
    to: QuotaChange


class UsageOut(TypedDict):
    """The figures of a quota (Q7).

    `used_own`, `used_below`: regular work here and below; `loan`: what of it is beyond min; `squeezed`:
    what cannot be used of the guarantee now, because of `stood_on_by`; `shortfall`: what lost nodes
    take from a root; `idle_*`: idle work here and on what is not used here; `queued`: what waits here,
    `queued_below`: below; `free`: what a regular job could start with now.
    """

    desired: AmountsOut
    actual: AmountsOut
    used_own: AmountsOut
    used_below: AmountsOut
    loan: AmountsOut
    squeezed: AmountsOut
    stood_on_by: list[StoodOn]
    shortfall: AmountsOut
    idle_borrowed: AmountsOut
    idle_lent: AmountsOut
    queued: AmountsOut
    queued_jobs: int
    queued_below: AmountsOut
    queued_jobs_below: int
    free: AmountsOut


class UsageRowOut(TypedDict):
    """Has the keys that the rows are by. A key is null where the reader may not know it; everything of
    which that is so is one row. `claim`: guaranteed, loan or idle. `taker_quota`, `taker_workspace`:
    for whom it was lost; null in the row of the use, and where no job took its place. `cause`: the code
    of the reason why it was lost, "before this version" where none was recorded; null in the row of the
    use.
    """

    gpu_hours: float
    lost_gpu_hours: float
    runs: int
    preempted: int
    quota: NotRequired[str | None]
    workspace: NotRequired[str | None]
    user: NotRequired[str | None]
    module: NotRequired[str | None]
    claim: NotRequired[str | None]
    taker_quota: NotRequired[str | None]
    taker_workspace: NotRequired[str | None]
    cause: NotRequired[str | None]


class UserChange(TypedDict):
    """What is left out stays. Display and e-mail are one's own business; the rest is a platform admin's."""

    display: NotRequired[str]
    email: NotRequired[str]
    platform_admin: NotRequired[bool]
    disabled: NotRequired[bool]


class UserIn(TypedDict):
    """A new account. Without a password it signs in by token, or by the identity provider."""

    name: str
    display: NotRequired[str]
    email: NotRequired[str]
    platform_admin: NotRequired[bool]
    password: NotRequired[str | None]


class UserOut(TypedDict):
    name: str
    display: str
    email: str
    platform_admin: bool
    disabled: bool
    has_password: bool
    identity: str | None
    version: int


class Users(TypedDict):
    items: list[UserOut]


class VariantIn(TypedDict):
    """A tree to try: what there is now with these changes, as for a preview. Without changes: what there
    is now.
    """

    name: str
    changes: NotRequired[list[CreateQuotaChange | UpdateQuotaChange | PoliciesChange | ScaleChange | TransferChange | DeleteQuotaChange]]


class VariantOut(TypedDict):
    name: str
    result: SimulatedOut | None


class VictimOut(TypedDict):
    """`what` leaves: a core, a wanted or a surplus replica, an idle claim, a hold. `rule`: the code of the
    reason why it went; null in entries of older versions, and in what a plan tells.
    """

    job: str
    what: str
    quota: str
    priority: int
    priority_name: str | None
    lost_gpu_seconds: float
    cost_gpu_seconds: float
    freed: AmountsOut
    rule: str | None


class WebhookChange(TypedDict):
    """`kinds`: such as job.evicted; without any, all. Deliveries are signed with the secret."""

    url: str
    secret: str
    kinds: NotRequired[list[str]]
    workspace: NotRequired[str | None]


class WebhookIn(TypedDict):
    url: str
    secret: str
    kinds: NotRequired[list[str]]
    workspace: NotRequired[str | None]
    id: str


class WebhookOut(TypedDict):
    """Without a workspace it hears of everything. `last` is null if nothing was delivered since the server
    leads.
    """

    id: str
    workspace: str | None
    url: str
    kinds: list[str]
    active: bool
    last: LastTryOut | None
    version: int


class Webhooks(TypedDict):
    items: list[WebhookOut]


class WhoAmI(TypedDict):
    """`signed_in_by`: token or session. `allowed`: what they may do on the platform as a whole."""

    user: UserOut
    signed_in_by: str
    token: TokenOut | None
    workspaces: list[MembershipOut]
    quota_admin_of: list[str]
    allowed: list[str]


class WorkspaceChange(TypedDict):
    description: str


class WorkspaceIn(TypedDict):
    id: str
    description: NotRequired[str]
    owners: NotRequired[list[str]]


class WorkspaceOut(TypedDict):
    """`allowed`: what the reader's roles let them do to it."""

    id: str
    description: str
    version: int
    members: list[MemberOut]
    quotas: list[str]
    allowed: list[str]


class Workspaces(TypedDict):
    items: list[WorkspaceOut]
