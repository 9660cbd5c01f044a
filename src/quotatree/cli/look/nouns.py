"""What can be listed, under which words, and which columns has it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from quotatree.cli.policy_words import child_level_words, self_level_words
from quotatree.cli.words import age, called, gpu_seconds, gpus, moment, with_name

if TYPE_CHECKING:
    from quotatree.client import Client


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list. `wide`: shown only with -o wide and csv."""

    title: str
    cell: Callable[[Any], str]
    wide: bool = False
    for_csv: Callable[[Any], str] | None = None
    """The cell for programs, where people are shown more; None: the same."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a list is narrowed to; each noun uses the fields that concern it."""

    workspace: tuple[str, ...] = ()
    quota: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    phase: tuple[str, ...] = ()
    module: tuple[str, ...] = ()
    finished: bool = False
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind of thing that can be listed. `one` fetches a single item by name; without it, all are looked through.
    `filters`: options that it knows. `spare`: columns that a narrow terminal can do without, the first of them first.
    """

    word: str
    aliases: tuple[str, ...]
    name: Callable[[Any], str]
    columns: tuple[Column, ...]
    every: Callable[[Client, Asked], Iterable[Any]]
    one: Callable[[Client, str], Any] | None = None
    filters: tuple[str, ...] = ()
    events: tuple[str, ...] = field(default=())
    spare: tuple[str, ...] = ()

    def header(self, wide: bool) -> list[str]:
        return [column.title for column in self.columns if wide or not column.wide]

    def row(self, item: Any, wide: bool) -> list[str]:
        return [column.cell(item) for column in self.columns if wide or not column.wide]

    def csv_row(self, item: Any) -> list[str]:
        return [(column.for_csv or column.cell)(item) for column in self.columns]


def _key(name: str) -> Callable[[Any], str]:
    return lambda item: str(item[name])


def _jobs(client: Client, asked: Asked) -> Iterable[Any]:
    return client.jobs.list(
        workspace=asked.workspace,
        quota=asked.quota,
        owner=asked.owner,
        phase=asked.phase,
        module=asked.module,
        active=None if asked.finished or asked.phase else True,
        positions=True,
        most=asked.most,
    )


def _reason(job: Any) -> str:
    """Reason code of the job's phase; of a job that failed, what went wrong: there is no code for what programs do."""
    return str(job["ending"] or (job["reason_code"] if job["reason"] is None else job["reason"]["code"]))


def _reason_text(job: Any) -> str:
    return str(job["ending"] or "") if job["reason"] is None else str(job["reason"]["text"])


def _places(job: Any) -> str:
    """The job's nodes, each with its number of GPUs: node-0:8. `describe` tells which GPUs they are."""
    count: dict[str, int] = {}
    for place in job["places"]:
        count[place["node"]] = count.get(place["node"], 0) + len(place["devices"])
    return ",".join(f"{node}:{gpus}" for node, gpus in count.items()) or "-"


def _position(job: Any) -> str:
    return "" if job["position"] is None else str(job["position"])


def _ran(job: Any) -> str:
    """How long the current run, or the last one of a job that is over, has lasted; "" if there is none."""
    over = job["ended_ms"] is not None
    return age(job["started_ms"], job["ended_ms"]) if over or job["phase"] == "Running" else ""


def _regular(quota: Any) -> float:
    usage = quota["usage"]
    return float(usage["used_own"].get("gpus", 0) + usage["used_below"].get("gpus", 0))


def _members(workspace: Any) -> str:
    return ",".join(f"{one['user']}:{one['role']}" for one in workspace["members"])


def _token_state(token: Any) -> str:
    return "revoked" if token["revoked_ms"] is not None else "active"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _answer(last: Any) -> str:
    """What became of the last delivery of a webhook."""
    if last is None:
        return "-"
    return last["error"] or f"took it ({last['status']})"


def _login(user: Any) -> str:
    ways = [*(["password"] if user["has_password"] else []), *(["oidc"] if user["identity"] else [])]
    return ",".join(ways) or "token"


def _victims(entry: Any) -> str:
    jobs = dict.fromkeys(victim["job"] for victim in entry["preemption"]["victims"])
    return ", ".join(called(job, entry["names"]) for job in jobs)


def _facts(body: Any) -> str:
    return " ".join(f"{key}={value}" for key, value in body.items() if not isinstance(value, dict | list))


NOUNS: Final = (
    Noun(
        "job", ("jobs",), _key("id"),
        (
            Column("ID", _key("id")),
            Column("NAME", _key("name")),
            Column("WORKSPACE", _key("workspace"), wide=True),
            Column("QUOTA", _key("quota")),
            Column("OWNER", _key("owner")),
            Column("MODULE", _key("module")),
            Column("PRIO", lambda job: with_name(job["priority"], job["priority_name"]), for_csv=_key("priority")),
            Column("GPUS", lambda job: f"{job['gpus']:g}"),
            Column("REPLICAS", lambda job: f"{job['running_replicas']}/{job['replicas']}"),
            Column("CLAIM", _key("claim"), wide=True),
            Column("PREEMPTED", _key("preempted"), wide=True),
            Column("PHASE", _key("phase")),
            Column("POS", _position),
            Column("RUNS", _ran),
            Column("AGE", lambda job: age(job["submitted_ms"])),
            Column("REASON", _reason),
            Column("ON", _places, wide=True),
            Column("WHY", _reason_text, wide=True),
            Column("CLASS", lambda job: job["priority_name"] or "-", wide=True),
        ),
        _jobs, lambda client, name: client.jobs.get(name, positions=True),
        filters=("workspace", "quota", "owner", "phase", "module", "finished", "most"), events=("job.",),
        spare=("REPLICAS", "MODULE", "RUNS", "OWNER", "POS", "GPUS"),
    ),
    Noun(
        "quota", ("quotas",), _key("id"),
        (
            Column("ID", _key("id")),
            Column("PARENT", lambda quota: quota["parent"] or "-"),
            Column("MIN", lambda quota: gpus(quota["min"])),
            Column("WEIGHT", lambda quota: gpus(quota["weight"] or quota["min"]), wide=True),
            Column("ACTUAL", lambda quota: gpus(quota["usage"]["actual"]), wide=True),
            Column("USED", lambda quota: f"{_regular(quota):g}"),
            Column("LOAN", lambda quota: gpus(quota["usage"]["loan"])),
            Column("IDLE", lambda quota: gpus(quota["usage"]["idle_borrowed"])),
            Column("FREE", lambda quota: gpus(quota["usage"]["free"])),
            Column("QUEUED", lambda quota: str(quota["usage"]["queued_jobs"])),
            Column("STRATEGY", _key("strategy")),
            Column("SELF-LEVEL", lambda quota: self_level_words(quota["self_level"], quota["priority_names"]), wide=True),
            Column("CHILD-LEVEL", lambda quota: child_level_words(quota["child_level"], quota["priority_names"])),
            Column("VERSION", _key("version"), wide=True),
            Column("WORKSPACES", lambda quota: ",".join(quota["workspaces"]) or "-", wide=True),
        ),
        lambda client, _: client.quotas.list(), lambda client, name: client.quotas.get(name),
        events=("quota.", "job."), spare=("IDLE", "LOAN", "STRATEGY", "QUEUED"),
    ),
    Noun(
        "workspace", ("workspaces", "ws"), _key("id"),
        (
            Column("ID", _key("id")),
            Column("MEMBERS", lambda one: str(len(one["members"]))),
            Column("WHO", _members, wide=True),
            Column("QUOTAS", lambda one: ",".join(one["quotas"]) or "-"),
            Column("DESCRIPTION", _key("description")),
        ),
        lambda client, _: client.workspaces.list(), lambda client, name: client.workspaces.get(name),
        events=("workspace.",),
    ),
    Noun(
        "node", ("nodes",), _key("name"),
        (
            Column("NAME", _key("name")),
            Column("POOL", _key("pool")),
            Column("MODEL", _key("model")),
            Column("GPUS", _key("gpus")),
            Column("FREE", lambda node: f"{node['free_gpus']:g}"),
            Column("LEAVING", lambda node: f"{node['leaving_gpus']:g}"),
            Column("FOREIGN", lambda node: f"{node['foreign']['gpus']:g}"),
            Column("JOBS", _key("jobs")),
            Column("CPU", lambda node: f"{node['cpu']:g}", wide=True),
            Column("MEMORY", _key("memory"), wide=True),
            Column("LABELS", lambda node: ",".join(f"{k}={v}" for k, v in node["labels"].items()), wide=True),
            Column("STATE", lambda node: f"{node['state']}{',Crowded' if node['crowded'] else ''}"),
        ),
        lambda client, _: client.nodes.list(), lambda client, name: client.nodes.get(name),
        events=("node.", "job."),
    ),
    Noun(
        "pool", ("pools",), _key("name"),
        (
            Column("NAME", _key("name")),
            Column("NODES", _key("nodes")),
            Column("GPUS", _key("gpus")),
            Column("MODELS", lambda pool: ",".join(pool["models"]) or "-"),
            Column("MIXED", lambda pool: _yes(pool["mixed"])),
        ),
        lambda client, _: client.pools.list(),
    ),
    Noun(
        "user", ("users",), _key("name"),
        (
            Column("NAME", _key("name")),
            Column("ADMIN", lambda user: _yes(user["platform_admin"])),
            Column("STATE", lambda user: "disabled" if user["disabled"] else "active"),
            Column("LOGIN", _login),
            Column("EMAIL", _key("email"), wide=True),
            Column("DISPLAY", _key("display")),
        ),
        lambda client, _: client.users.list(), lambda client, name: client.users.get(name),
    ),
    Noun(
        "token", ("tokens",), _key("id"),
        (
            Column("ID", _key("id")),
            Column("USER", _key("user")),
            Column("NAME", _key("name")),
            Column("RIGHTS", lambda token: "read" if token["read_only"] else "all"),
            Column("CREATED", lambda token: moment(token["created_ms"])),
            Column("EXPIRES", lambda token: moment(token["expires_ms"]) or "never"),
            Column("STATE", _token_state),
        ),
        lambda client, _: client.tokens.list(),
    ),
    Noun(
        "webhook", ("webhooks",), _key("id"),
        (
            Column("ID", _key("id")),
            Column("WORKSPACE", lambda hook: hook["workspace"] or "-"),
            Column("KINDS", lambda hook: ",".join(hook["kinds"]) or "all"),
            Column("ACTIVE", lambda hook: _yes(hook["active"])),
            Column("URL", _key("url")),
            Column("TRIED", lambda hook: moment(hook["last"]["at_ms"]) if hook["last"] else "-"),
            Column("ANSWER", lambda hook: _answer(hook["last"])),
        ),
        lambda client, _: client.webhooks.list(), lambda client, name: client.webhooks.get(name),
    ),
    Noun(
        "event", ("events",), _key("seq"),
        (
            Column("SEQ", _key("seq")),
            Column("TIME", lambda event: moment(event["at_ms"])),
            Column("KIND", _key("kind")),
            Column("WORKSPACE", lambda event: event["workspace"] or "-"),
            Column("QUOTA", lambda event: event["quota"] or "-"),
            Column("JOB", lambda event: event["job"] or "-"),
            Column("WHAT", lambda event: _facts(event["body"])),
        ),
        lambda client, asked: client.events.list(workspace=asked.workspace), filters=("workspace",),
        spare=("WORKSPACE", "QUOTA"),
    ),
    Noun(
        "preemption", ("preemptions",), _key("seq"),
        (
            Column("SEQ", _key("seq")),
            Column("TIME", lambda entry: moment(entry["at_ms"])),
            Column("PREEMPTOR", lambda entry: called(entry["preemption"]["preemptor"] or "-", entry["names"])),
            Column("STEP", lambda entry: entry["preemption"]["step"] or "-"),
            Column("COST", lambda entry: gpu_seconds(entry["preemption"]["cost_gpu_seconds"])),
            Column("HIGHEST", lambda entry: str(entry["preemption"]["highest_priority"]), wide=True),
            Column("VICTIMS", _victims),
        ),
        lambda client, asked: client.preemptions.list(quota=asked.quota, most=asked.most), filters=("quota", "most"),
    ),
    Noun(
        "audit", (), _key("seq"),
        (
            Column("SEQ", _key("seq")),
            Column("TIME", lambda entry: moment(entry["at_ms"])),
            Column("ACTOR", _key("actor")),
            Column("ACTION", _key("action")),
            Column("WORKSPACE", lambda entry: entry["workspace"] or "-"),
            Column("TARGET", _key("target")),
        ),
        lambda client, asked: client.audit.list(workspace=asked.workspace, most=asked.most),
        filters=("workspace", "most"),
    ),
)  # fmt: skip
WORDS: Final = {word: noun for noun in NOUNS for word in (noun.word, *noun.aliases)}


def found(noun: Noun, client: Client, names: Sequence[str], asked: Asked) -> Iterable[Any]:
    """The items with these names, or, without names, all that are asked for. Raises NotFound for an unknown name."""
    if not names:
        return noun.every(client, asked)
    if noun.one is not None:
        return [noun.one(client, name) for name in names]
    from quotatree.client.errors import NotFound

    every = {noun.name(item): item for item in noun.every(client, asked)}
    for name in names:
        if name not in every:
            raise NotFound(404, {"code": "NotFound", "detail": f"{noun.word} {name}: not found"})
    return [every[name] for name in names]
