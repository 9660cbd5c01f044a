"""What must an engine do, and what does it tell? The one seam between decisions and whatever really runs (A7).

Orders are idempotent and keyed by (job, run, replica): sent twice, they happen once, so that after a crash every order in
doubt is simply sent again. An engine never decides anything; what it sees it reports, and what it reported it keeps
until `forget`, because the one who listened may have died before writing it down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol

from quotatree.core import ZERO, JobId, JobSpec, Module, NodeSpec, QuotaTreeError, Resources, Shape

Program = Mapping[str, Any]
"""What to run, in the engine's own words: JSON-able, checked by `Engine.refuses`."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can run; a job that needs more is refused at submit."""

    name: str
    modules: frozenset[Module]
    fractions: bool = True
    several_replicas: bool = True
    elastic: bool = True
    logs: bool = False  # what jobs print can be read
    endpoints: bool = False  # notebooks and services have an address
    in_flight: bool = False  # how many requests a service has in flight is seen
    one_team: str = ""  # why jobs of different workspaces are not kept apart, and what to do; "": they are
    inventory: bool = False  # it says itself which nodes there are


class Place(NamedTuple):
    """Where an engine's runs live. Only a server whose engine has the same `id` can go on with them; `where` is for people."""

    id: str
    where: str


class ReplicaOrder(NamedTuple):
    """One replica, the node it belongs on by name, and its GPU indexes there (R3)."""

    replica: int
    node: str
    devices: tuple[int, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose run it is: what an engine writes on what it makes, so that people find it there. It decides nothing."""

    quota: str = ""
    user: str = ""
    name: str = ""
    priority: int = 1
    replicas: int = 1
    """How many replicas the job wants; those of its core know each other from the start."""


@dataclass(frozen=True, slots=True)
class StartOrder:
    """Start these replicas. Surplus replicas come as later orders of the same run (P12)."""

    job: JobId
    run: int
    module: Module
    replicas: tuple[ReplicaOrder, ...]
    program: Program
    grace_ms: int
    workspace: str = "default"
    owner: Owner = Owner()


@dataclass(frozen=True, slots=True)
class StopOrder:
    """Give notice to replicas, and kill after `grace_ms` those that still run (P14). `replicas` None: all of the run."""

    job: JobId
    run: int
    grace_ms: int
    replicas: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class RestartOrder:
    """Replace the replicas of a service one after another, so that it stays reachable. `key` tells two orders apart."""

    job: JobId
    run: int
    key: str


class Outcome(Enum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Confirmed:
    """These replicas really run."""

    job: JobId
    run: int
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Replicas that were told to stop are gone."""

    job: JobId
    run: int
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exited:
    """The run came to its end by itself; nothing of it is left.

    A run that was told to stop and then fails is reported as `Left`; during its grace only a success is an exit. An
    engine that cannot tell a success from a program that saves on notice and exits with 0 reports `Left`: a finished
    program that is run again ends at once, while the work of an unfinished one that counts as a success would be lost.
    """

    job: JobId
    run: int
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A checkpoint was written: at `at_ms`, or just now if that is not known."""

    job: JobId
    run: int
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """Replicas that were not told to stop are gone, and how they ended is not known; nothing of them is left."""

    job: JobId
    run: int
    replicas: tuple[int, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hindered:
    """A run has not begun, and the engine knows why: `detail`, in the words of whoever keeps it waiting. It may still begin."""

    job: JobId
    run: int
    detail: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """A run did not begin as it was planned, `detail`; nothing of it is left. Trying again would end in the same way.

    `edited`: its object asks for something else by now, so it can be planned anew.
    """

    job: JobId
    run: int
    detail: str
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Unplanned:
    """There is more of a run than was planned, `detail`: it is told to leave, and counts as in use by others until it has left."""

    job: JobId
    run: int
    detail: str


@dataclass(frozen=True, slots=True)
class Idled:
    """A notebook did nothing for as long as its rule allows; it still runs."""

    job: JobId
    run: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A node can be used, or cannot be reached any more (R5)."""

    node: str
    ready: bool


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """A GPU fell ill, or is well again."""

    node: str
    device: int
    healthy: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node as an engine with an inventory of its own sees it: told when a server begins to lead, and at every change.

    `cordoned`: the cluster lets nothing new land there. `foreign`: what others use of it, and what of it cannot be used (R6).
    A node that is no longer there is told as one that is not ready, and as `gone` when it is not expected back: it is then shown
    no more, until one of its name comes.
    """

    spec: NodeSpec
    ready: bool = True
    cordoned: bool = False
    foreign: Resources = ZERO
    gone: bool = False


Report = (
    Confirmed
    | Left
    | Exited
    | Lost
    | Hindered
    | Unfit
    | Unplanned
    | Checkpointed
    | Idled
    | NodeReport
    | DeviceReport
    | NodeSeen
)


@dataclass(frozen=True, slots=True)
class Running:
    """Replicas of a run that occupy their devices, including those in their grace."""

    job: JobId
    run: int
    replicas: tuple[int, ...]
    made_in: tuple[str, ...] | None = None
    """For each replica the key of the rolling restart that made it, empty if none did; None: the engine goes on with a
    rolling restart by itself when the server was away."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What really runs now, and what ended and was not yet forgotten; for an engine with an inventory, all nodes."""

    running: tuple[Running, ...]
    exits: tuple[Exited, ...]
    nodes: tuple[NodeSeen, ...] | None = None


class InFlight(NamedTuple):
    """Requests in flight in thousandths, on average over the last `span_ms`. Each figure of a run has another `number`."""

    milli: int
    span_ms: int
    number: int


class DeviceUse(NamedTuple):
    """What a device does at the moment, whoever uses it. `busy`: part of the time, 0 to 1; None: the device does not tell."""

    node: str
    device: int
    busy: float | None
    memory_used_bytes: int
    memory_bytes: int


class Unready(NamedTuple):
    """A replica of a service that runs and is not healthy: since when, and what is wrong as far as is known."""

    replica: int
    since_ms: int
    why: str


class Endpoint(NamedTuple):
    """Where a notebook or a service answers. `ready` is how many replicas of a service are healthy.

    `in_flight`: the latest figure; None if there is none of the last seconds, or this engine sees none. `unready`: the
    replicas of a service that are not healthy.
    """

    address: str
    token: str = ""
    ready: int = 0
    in_flight: InFlight | None = None
    unready: tuple[Unready, ...] = ()


class LogPiece(NamedTuple):
    """`data` begins at `offset` of all that the replica ever printed; `end` is where it ends so far.

    An `offset` larger than the one asked for means that the output in between was thrown away to keep within the limit.
    """

    offset: int
    data: bytes
    end: int
    closed: bool  # nothing more will come


class EngineUnavailable(QuotaTreeError):
    """The engine cannot be used now, or cannot say what really runs; it is asked again later."""


class Engine(Protocol):
    """All methods may be called from any thread, and `report` is called from any thread.

    `start`, `stop` and `forget` return at once: an engine behind a network has a thread of its own. An order that raises
    is sent again.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def place(self) -> Place:
        """Where the runs of this engine live; known once the engine is open."""

    def refuses(self, job: JobSpec, program: Program) -> str | None:
        """Why this job cannot run here, or None."""

    def open(self, report: Callable[[Report], None]) -> None:
        """Begin to call `report` with what happens from now on; `observe` tells what happened before."""

    def start(self, order: StartOrder) -> None: ...

    def stop(self, order: StopOrder) -> None:
        """Stop replicas. Those that are unknown or gone are passed over, and nothing is reported about them."""

    def restart(self, order: RestartOrder) -> None:
        """Restart a running service; called only where `capabilities.endpoints`."""

    def recall(self, orders: Sequence[StartOrder]) -> None:
        """Note what was ordered before this server began to lead, and stands or is leaving; called before `observe`.

        So an engine need not believe what it finds written about a job where others may write.
        """

    def observe(self) -> Observed:
        """Return what runs and what has ended; called when a server begins to lead. If it raises EngineUnavailable, it
        is called again later.
        """

    def forget(self, job: JobId, run: int) -> None:
        """Note that the end of this run is written down and need not be told again."""

    def endpoint(self, job: JobId, run: int) -> Endpoint | None:
        """Where this run answers; None if it has no address, or none is known yet."""

    def log(self, job: JobId, run: int, replica: int, offset: int, limit: int) -> LogPiece | None:
        """At most `limit` bytes of what a replica printed, from `offset` on. A negative offset counts from the end.

        None if nothing is known of such a replica, or its output is not kept any more.
        """

    def close(self) -> None:
        """Stop reporting; running jobs go on."""


def lacks(can: Capabilities, job: JobSpec) -> str | None:
    """Why these capabilities do not suffice for the job, or None if they do."""
    if job.module not in can.modules:
        allowed = ", ".join(sorted(m.value for m in can.modules))
        return f"the {can.name} engine runs {allowed}, not {job.module.value}"
    if not can.fractions and any(group.shape.fraction_milli for group in job.groups):
        return f"the {can.name} engine cannot share a GPU"
    if not can.several_replicas and job.most_replicas > 1:
        return f"the {can.name} engine runs one replica per job"
    if not can.elastic and job.elastic:
        return f"the {can.name} engine cannot add replicas to a running job"
    return None
