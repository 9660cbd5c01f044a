"""What can be listed, under which words, and which columns has it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from quotatree.cli.look.happened import EVENT, PREEMPTION
from quotatree.cli.look.noun import Asked, Column, Noun, key
from quotatree.cli.look.queued import QUEUE
from quotatree.cli.policy_words import child_level_words, self_level_words
from quotatree.cli.words import age, gpus, moment, with_name

if TYPE_CHECKING:
    from quotatree.client import Client


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
    """Reason code of the job's phase; of a job that failed, what went wrong: there is no code for
    what programs do.
    """
    return str(job["ending"] or (job["reason_code"] if job["reason"] is None else job["reason"]["code"]))


def _reason_text(job: Any) -> str:
    return str(job["ending"] or "") if job["reason"] is None else str(job["reason"]["text"])


def _places(job: Any) -> str:
    """The job's nodes, each with its number of GPUs: node-0:8. `describe` tells which GPUs they
    are.
    """
    count: dict[str, int] = {}
    for place in job["places"]:
        count[place["node"]] = count.get(place["node"], 0) + len(place["devices"])
    return ",".join(f"{node}:{gpus}" for node, gpus in count.items()) or "-"


def _position(job: Any) -> str:
    return "" if job["position"] is None else str(job["position"])


def _ran(job: Any) -> str:
    """How long the current run, or the last one of a job that is over, has lasted; "" if there is
    none.
    """
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


NOUNS: Final = (
    Noun(
        "job", ("jobs",), key("id"),
        (
            Column("ID", key("id")),
            Column("NAME", key("name")),
            Column("WORKSPACE", key("workspace"), wide=True),
            Column("QUOTA", key("quota")),
            Column("OWNER", key("owner")),
            Column("MODULE", key("module")),
            Column("PRIO", lambda job: with_name(job["priority"], job["priority_name"]), for_csv=key("priority")),
            Column("GPUS", lambda job: f"{job['gpus']:g}"),
            Column("REPLICAS", lambda job: f"{job['running_replicas']}/{job['replicas']}"),
            Column("CLAIM", key("claim"), wide=True),
            Column("PREEMPTED", key("preempted"), wide=True),
            Column("PHASE", key("phase")),
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
        "quota", ("quotas",), key("id"),
        (
            Column("ID", key("id")),
            Column("PARENT", lambda quota: quota["parent"] or "-"),
            Column("MIN", lambda quota: gpus(quota["min"])),
            Column("WEIGHT", lambda quota: gpus(quota["weight"] or quota["min"]), wide=True),
            Column("ACTUAL", lambda quota: gpus(quota["usage"]["actual"]), wide=True),
            Column("USED", lambda quota: f"{_regular(quota):g}"),
            Column("LOAN", lambda quota: gpus(quota["usage"]["loan"])),
            Column("IDLE", lambda quota: gpus(quota["usage"]["idle_borrowed"])),
            Column("FREE", lambda quota: gpus(quota["usage"]["free"])),
            Column("QUEUED", lambda quota: str(quota["usage"]["queued_jobs"])),
            Column("STRATEGY", key("strategy")),
            Column("SELF-LEVEL", lambda quota: self_level_words(quota["self_level"], quota["priority_names"]), wide=True),
            Column("CHILD-LEVEL", lambda quota: child_level_words(quota["child_level"], quota["priority_names"])),
            Column("VERSION", key("version"), wide=True),
            Column("WORKSPACES", lambda quota: ",".join(quota["workspaces"]) or "-", wide=True),
        ),
        lambda client, _: client.quotas.list(), lambda client, name: client.quotas.get(name),
        events=("quota.", "job."), spare=("IDLE", "LOAN", "STRATEGY", "QUEUED"),
    ),
    Noun(
        "workspace", ("workspaces", "ws"), key("id"),
        (
            Column("ID", key("id")),
            Column("MEMBERS", lambda one: str(len(one["members"]))),
            Column("WHO", _members, wide=True),
            Column("QUOTAS", lambda one: ",".join(one["quotas"]) or "-"),
            Column("DESCRIPTION", key("description")),
        ),
        lambda client, _: client.workspaces.list(), lambda client, name: client.workspaces.get(name),
        events=("workspace.",),
    ),
    Noun(
        "node", ("nodes",), key("name"),
        (
            Column("NAME", key("name")),
            Column("POOL", key("pool")),
            Column("MODEL", key("model")),
            Column("GPUS", key("gpus")),
            Column("FREE", lambda node: f"{node['free_gpus']:g}"),
            Column("LEAVING", lambda node: f"{node['leaving_gpus']:g}"),
            Column("FOREIGN", lambda node: f"{node['foreign']['gpus']:g}"),
            Column("JOBS", key("jobs")),
            Column("CPU", lambda node: f"{node['cpu']:g}", wide=True),
            Column("MEMORY", key("memory"), wide=True),
            Column("LABELS", lambda node: ",".join(f"{k}={v}" for k, v in node["labels"].items()), wide=True),
            Column("STATE", lambda node: f"{node['state']}{',Crowded' if node['crowded'] else ''}"),
        ),
        lambda client, _: client.nodes.list(), lambda client, name: client.nodes.get(name),
        events=("node.", "job."),
    ),
    Noun(
        "pool", ("pools",), key("name"),
        (
            Column("NAME", key("name")),
            Column("NODES", key("nodes")),
            Column("GPUS", key("gpus")),
            Column("MODELS", lambda pool: ",".join(pool["models"]) or "-"),
            Column("MIXED", lambda pool: _yes(pool["mixed"])),
        ),
        lambda client, _: client.pools.list(),
    ),
    Noun(
        "user", ("users",), key("name"),
        (
            Column("NAME", key("name")),
            Column("ADMIN", lambda user: _yes(user["platform_admin"])),
            Column("STATE", lambda user: "disabled" if user["disabled"] else "active"),
            Column("LOGIN", _login),
            Column("EMAIL", key("email"), wide=True),
            Column("DISPLAY", key("display")),
        ),
        lambda client, _: client.users.list(), lambda client, name: client.users.get(name),
        filters=("quota", "below"),
    ),
    Noun(
        "token", ("tokens",), key("id"),
        (
            Column("ID", key("id")),
            Column("USER", key("user")),
            Column("NAME", key("name")),
            Column("RIGHTS", lambda token: "read" if token["read_only"] else "all"),
            Column("CREATED", lambda token: moment(token["created_ms"])),
            Column("EXPIRES", lambda token: moment(token["expires_ms"]) or "never"),
            Column("STATE", _token_state),
        ),
        lambda client, _: client.tokens.list(),
    ),
    Noun(
        "webhook", ("webhooks",), key("id"),
        (
            Column("ID", key("id")),
            Column("WORKSPACE", lambda hook: hook["workspace"] or "-"),
            Column("KINDS", lambda hook: ",".join(hook["kinds"]) or "all"),
            Column("ACTIVE", lambda hook: _yes(hook["active"])),
            Column("URL", key("url")),
            Column("TRIED", lambda hook: moment(hook["last"]["at_ms"]) if hook["last"] else "-"),
            Column("ANSWER", lambda hook: _answer(hook["last"])),
        ),
        lambda client, _: client.webhooks.list(), lambda client, name: client.webhooks.get(name),
    ),
    EVENT,
    PREEMPTION,
    QUEUE,
    Noun(
        "audit", (), key("seq"),
        (
            Column("SEQ", key("seq")),
            Column("TIME", lambda entry: moment(entry["at_ms"])),
            Column("ACTOR", key("actor")),
            Column("ACTION", key("action")),
            Column("WORKSPACE", lambda entry: entry["workspace"] or "-"),
            Column("TARGET", key("target")),
        ),
        lambda client, asked: client.audit.list(workspace=asked.workspace, most=asked.most),
        filters=("workspace", "most"),
    ),
)  # fmt: skip
WORDS: Final = {word: noun for noun in NOUNS for word in (noun.word, *noun.aliases)}


def found(noun: Noun, client: Client, names: Sequence[str], asked: Asked) -> Iterable[Any]:
    """The items with these names, or, without names, all that are asked for. Raises NotFound for an
    unknown name.
    """
    if noun.names_quotas:
        return noun.every(client, replace(asked, quota=(*asked.quota, *names)))
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
