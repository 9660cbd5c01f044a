"""How is a server set up? One TOML file, `quotatree.toml`, and variables QUOTATREE_… that override it.

Every setting stands once, in SETTINGS: the reader, the reference page and its test use that table. The variable of
`oidc.client_id` is QUOTATREE_OIDC_CLIENT_ID. Unknown keys are refused; a secret is never part of a message.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final, NamedTuple

from quotatree.access.roles import Role
from quotatree.api.job_host import as_job_host
from quotatree.api.services import Limits, Oidc
from quotatree.control.figure_history import KeptFigures
from quotatree.control.loop import LoopSettings
from quotatree.control.webhook_places import WebhookPlaces, places_of
from quotatree.core import QuotaTreeError, Refused
from quotatree.engines.kubernetes.adopted import Adoptable
from quotatree.engines.kubernetes.declared_kinds import WrongKind, declared_kinds
from quotatree.engines.kubernetes.options import SUSPEND, WARN, KubernetesOptions
from quotatree.engines.local.server.unix_users import HIGHEST_UID, LOWEST_UID, UserSettings
from quotatree.identity.cluster_users import WAYS
from quotatree.identity.oidc_code import CodeLogins
from quotatree.identity.oidc_device import DeviceLogins
from quotatree.identity.oidc_http import HttpxHttp
from quotatree.identity.oidc_provider import Provider
from quotatree.identity.oidc_settings import GroupGrant, OidcSettings
from quotatree.scenario.amounts import (
    Unreadable,
    as_count,
    as_duration_ms,
    as_flag,
    as_memory_mib,
    as_text,
    as_text_or_texts,
    as_texts,
    span_text,
)

FILE: Final = "quotatree.toml"
VARIABLE: Final = "QUOTATREE_"


class BadSettings(QuotaTreeError):
    """A setting cannot be used; the message says which, what is wrong and what is allowed."""


@dataclass(frozen=True, slots=True)
class Keep:
    """How long rows that are no longer needed are kept, in milliseconds."""

    deliveries_ms: int = 7 * 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """`names`: whoever reaches /metrics may know the names of quotas, nodes and jobs."""

    names: bool = False


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`database` None: a file in the data directory; `data` None: the user's data directory."""

    listen: str = "127.0.0.1:7070"
    data: Path | None = None
    database: str | None = field(default=None, repr=False)
    engine: str = "local"
    nodes: str | None = None
    run_as: str | None = None
    cgroups: bool = True
    https: bool = False
    job_host: str | None = None
    trusted_proxies: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    log_file: Path | None = None
    webhook_networks: WebhookPlaces = WebhookPlaces()
    users: UserSettings = UserSettings()
    jobs_dir: Path | None = None
    job_disk: int | None = None
    limits: Limits = Limits()
    loop: LoopSettings = LoopSettings()
    keep: Keep = Keep()
    figures: KeptFigures = KeptFigures()
    metrics: MetricsSettings = MetricsSettings()
    oidc: OidcSettings | None = None
    kubernetes: KubernetesOptions = KubernetesOptions()


class Setting(NamedTuple):
    """One setting; `default` is written as in the file, or in words."""

    key: str
    read: Callable[[object], Any]
    default: str
    meaning: str


def _path(value: object) -> Path:
    return Path(as_text(value)).expanduser()


def _engine(value: object) -> str:
    if value not in ("local", "timer", "kubernetes"):
        raise Unreadable('must be "local", "timer" or "kubernetes"')
    return str(value)


def _uids(value: object) -> tuple[int, int]:
    first, dash, last = as_text(value).partition("-")
    if not dash or not first.isdecimal() or not last.isdecimal():
        raise Unreadable('must be FIRST-LAST, such as "70000-70999"')
    found = int(first), int(last)
    if not LOWEST_UID <= found[0] <= found[1] <= HIGHEST_UID:
        raise Unreadable(f"must be numbers from {LOWEST_UID} to {HIGHEST_UID}, the lower one first")
    return found


def _disk_mib(value: object) -> int:
    found = as_memory_mib(value)
    if found < 1:
        raise Unreadable("must be 1Mi or more")
    return found


def _user_map(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(user, str) and user for user in value.values()):
        raise Unreadable('must be a table of workspaces with unix users, such as { vision = "ann" }')
    return {str(workspace): user for workspace, user in value.items()}


def _nodes(value: object) -> str:
    """The nodes as one text; the value of a variable with commas comes as a list."""
    return ",".join(value) if isinstance(value, list) else as_text(value)


def _prefix(value: object) -> str:
    found = as_text(value)
    if re.fullmatch(r"[a-z][a-z0-9-]{0,29}", found) is None:
        raise Unreadable("must be 1 to 30 lower case letters, digits and dashes, and begin with a letter")
    return found


def _strays(value: object) -> str:
    if value not in (WARN, SUSPEND):
        raise Unreadable('must be "warn" or "suspend"')
    return str(value)


def _cluster_login(value: object) -> str:
    if value not in WAYS:
        raise Unreadable('must be "off", "name" or "email"')
    return str(value)


def _other_kinds(value: object) -> tuple[Adoptable, ...]:
    try:
        return declared_kinds(value)
    except WrongKind as wrong:
        raise Unreadable(str(wrong)) from None


def _positive_ms(value: object) -> int:
    found = as_duration_ms(value)
    if found < 1:
        raise Unreadable("must be more than 0")
    return found


def _span_ms(least: str) -> Callable[[object], int]:
    """A reader of durations from `least` to ten years."""

    def read(value: object) -> int:
        found = as_duration_ms(value)
        if not as_duration_ms(least) <= found <= as_duration_ms("3650d"):
            raise Unreadable(f'must be "{least}" to "3650d"')
        return found

    return read


def _body(value: object) -> int:
    found = as_memory_mib(value)
    if not 1 <= found <= 1024:
        raise Unreadable('must be "1Mi" to "1Gi"')
    return found * 1024 * 1024


def _at_least_one(value: object) -> int:
    found = as_count(value)
    if found < 1:
        raise Unreadable("must be a whole number, 1 or more")
    return found


def _depth(value: object) -> int:
    found = as_count(value)
    if not 4 <= found <= 200:
        raise Unreadable("must be 4..200")
    return found


def _grants(value: object) -> tuple[GroupGrant, ...]:
    """Grants from a list of tables with group, role and, except for platform-admin, workspace."""
    says = "must be a list of tables with group, role and, except for platform-admin, workspace"
    if not isinstance(value, list):
        raise Unreadable(says)
    found = []
    for one in value:
        if not isinstance(one, dict) or not {"group", "role"} <= set(one) <= {"group", "role", "workspace"}:
            raise Unreadable(says)
        group, role, workspace = one["group"], one["role"], one.get("workspace")
        if not isinstance(group, str) or not (workspace is None or isinstance(workspace, str)):
            raise Unreadable(says)
        if role not in {known.value for known in Role}:
            raise Unreadable(f"no role {role!r}")
        found.append(GroupGrant(group, Role(role), workspace))
    return tuple(found)


def _places(value: object) -> WebhookPlaces:
    try:
        return places_of(as_text_or_texts(value))
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _addresses(value: object) -> tuple[str, ...]:
    found = as_text_or_texts(value)
    try:
        return tuple(str(ip_network(one)) for one in found)
    except ValueError as error:
        raise Unreadable(f"must be addresses or networks: {error}") from None


# fmt: off
SETTINGS: Final = (
    Setting("listen", as_text, '"127.0.0.1:7070"', "where to listen, as HOST:PORT; anything but the loopback is reachable from elsewhere"),
    Setting("data", _path, "the user's data directory", "directory for the database, what the engine keeps and the lock"),
    Setting("database", as_text, "a SQLite file in `data`", "`sqlite:///path`, a path, or `postgresql://user:password@host/name`"),
    Setting("engine", _engine, '"local"', "what runs jobs: `local`, real processes on this machine (Linux); `kubernetes`, pods of a cluster; `timer`, where a job is a timer"),
    Setting("nodes", _nodes, "this machine's GPUs", "virtual nodes instead, as NODESxGPUS[:MODEL], several kinds joined by commas: `4x8:H100,2x4:L20`; with several models, each is a pool of its name"),
    Setting("run_as", as_text, "the server's user", "the unix user that jobs run as; a server that is root needs one, and `root` itself must be named"),
    Setting("users.range", _uids, "none", "unix users for workspaces, as FIRST-LAST such as `70000-70999`: each gets one of its own, and their jobs are kept apart; needs root"),
    Setting("users.map", _user_map, "{}", "workspaces that have a fixed unix user instead, as a table of names"),
    Setting("jobs_dir", _path, "in `data`", "where directories of jobs live, best on a disk of their own: what fills it does not stop the server"),
    Setting("job_disk", _disk_mib, "none", "how much a job's directories may hold, with the home of its workspace where it has one (`users.range`), such as `100Gi`; a run that goes beyond it, or cannot be measured, is stopped and Failed"),
    Setting("cgroups", as_flag, "true", "hold jobs to their CPUs and memory by cgroups, where this machine permits it"),
    Setting("job_host", as_job_host, "the console's", "host name in links to notebooks and services of the local engine, such as `{job}.jobs.example.org` ([why](../explanation/isolation.md#another-host-name-for-jobs))"),
    Setting("https", as_flag, "false", "browsers come by https, through a proxy: `serve` then does not warn when it listens beyond the loopback"),
    Setting("trusted_proxies", _addresses, "[]", "addresses or networks of proxies whose `X-Forwarded-For` says where a request comes from, for counting wrong passwords; without any, what it says is not believed"),
    Setting("tls_cert", _path, "none", "speak https with this certificate (PEM)"),
    Setting("tls_key", _path, "none", "the certificate's key (PEM)"),
    Setting("log_file", _path, "stderr", "where to log, one JSON object a line"),
    Setting("webhook_networks", _places, "[]", "networks, addresses and hosts where webhooks may go besides public addresses, such as `10.1.0.0/16` or `chat.internal` ([why](../explanation/server.md#webhooks))"),
    Setting("limits.body", _body, '"4Mi"', "largest body of a request"),
    Setting("limits.depth", _depth, "32", "how deep the JSON of a request may be nested"),
    Setting("loop.lease", _positive_ms, '"15s"', "how long a dead server's place is kept before another one takes over"),
    Setting("loop.first_retry", _positive_ms, '"100ms"', "after a failed commit, the first new try"),
    Setting("loop.longest_retry", _positive_ms, '"10s"', "and the longest pause between tries"),
    Setting("loop.most_in_batch", _at_least_one, "250", "at most so many commands, and so many reports, in one commit"),
    Setting("loop.most_waiting", _at_least_one, "20000", "more requests than that waiting for the loop are turned away"),
    Setting("planner.aging_interval", as_duration_ms, '"10m"', "a waiting job counts one priority more in its queue after each, up to 6 (S4); 0s: never"),
    Setting("planner.balance_timeout", as_duration_ms, '"5m"', "strategy balance: how long a head may block (S3)"),
    Setting("planner.starvation_guard", as_duration_ms, '"1h"', "after which wait capacity is kept for a head (S10); 0s: never"),
    Setting("planner.eas_outage", as_duration_ms, '"1h"', "what the outage of a service is charged with (P6)"),
    Setting("planner.longest_grace", as_duration_ms, '"1h"', "a job that asks for a longer grace is refused, since a victim keeps its GPUs until it has left (P14); 0s: no limit"),
    Setting("keep.deliveries", _positive_ms, '"168h"', "how long a webhook's delivery stays in the outbox after it went out or was given up"),
    Setting("figures.minutes", _span_ms("2h"), '"48h"', "how long the figures of quotas are kept minute by minute ([how](store.md#figures-over-time))"),
    Setting("figures.hours", _span_ms("48h"), '"60d"', "how long as hours; at least as long as minutes"),
    Setting("figures.days", _span_ms("48h"), '"1095d"', "how long as days; at least as long as hours"),
    Setting("metrics.names", as_flag, "false", "tell whoever reaches `/metrics` what names quotas, nodes and jobs; otherwise that needs a token with the right `see-metrics` ([how](server-metrics.md))"),
    Setting("kubernetes.kubeconfig", _path, "the cluster the server runs in, else the user's own", "file that says where the cluster is and who we are there"),
    Setting("kubernetes.context", as_text, "the file's current one", "the context of that file"),
    Setting("kubernetes.namespace_prefix", _prefix, '"quotatree-"', "the namespace of a workspace is called this and its name"),
    Setting("kubernetes.gpu_resources", as_text_or_texts, '["nvidia.com/gpu", "amd.com/gpu"]', "under which names nodes offer GPUs"),
    Setting("kubernetes.model_labels", as_text_or_texts, '["nvidia.com/gpu.product", "amd.com/gpu.product-name"]', "labels of nodes that say their GPU model"),
    Setting("kubernetes.pool_label", as_text, '"quotatree.io/pool"', "label of nodes that says their pool; without it, the pool is called as the model, or `default`"),
    Setting("kubernetes.rack_label", as_text, '"topology.kubernetes.io/rack"', "label of nodes that says their rack"),
    Setting("kubernetes.zone_label", as_text, '"topology.kubernetes.io/zone"', "label of nodes that says their zone"),
    Setting("kubernetes.priority_class", as_text, '"quotatree"', "PriorityClass of our pods, which preempts nobody; made if it is missing"),
    Setting("kubernetes.storage_class", as_text, "the cluster's default", "storage class of the volumes of notebooks"),
    Setting("kubernetes.adopted_kinds", as_texts, '["jobs.batch"]', "kinds of objects made with kubectl that are queued and run when their turn comes, such as `pytorchjobs.kubeflow.org`; an empty list adopts none"),
    Setting("kubernetes.other_kinds", _other_kinds, "{}", "further kinds with a field that suspends them, which are adopted too: a table for each, by its name as `kubectl get` takes it, with `version`, `kind`, `suspend` (a path) and `pods` (where its pod templates and their numbers are)"),
    Setting("kubernetes.bind_seconds", _at_least_one, "60", "after so many seconds without a node from kube-scheduler a job is queued again, with a pause"),
    Setting("kubernetes.lost_seconds", _at_least_one, "60", "a node that is not ready gets nothing new; after so many seconds it counts as lost and its jobs are queued again"),
    Setting("kubernetes.gone_seconds", _at_least_one, "600", "a node that was deleted is shown as lost for so many seconds; then it goes away, until one of its name comes"),
    Setting("kubernetes.output_seconds", _at_least_one, "86400", "pods that ended by themselves are kept for so many seconds, so that `quotatree logs` can read what they printed; they hold no GPU"),
    Setting("kubernetes.start_seconds", _at_least_one, "600", "after so many seconds without its image, secrets or volumes a job is queued again, with a pause"),
    Setting("kubernetes.resources", as_flag, "true", "read quotas and workspaces from resources, where they are installed"),
    Setting("kubernetes.strays", _strays, '"warn"', "what becomes of pods with GPUs in namespaces of workspaces that no quota has: `warn` tells and counts them; `suspend` also suspends the Job that made them, and deletes other pods with their grace"),
    Setting("kubernetes.login", _cluster_login, '"off"', "let users of the cluster log in by their token there, as the member of that `name` or `email`"),
    Setting("kubernetes.login_prefix", as_text, "none", "what the API server puts before names of people, such as `oidc:`"),
    Setting("oidc.issuer", as_text, "none", "the identity provider's address; the table `oidc` is all or nothing"),
    Setting("oidc.client_id", as_text, "none", "the client's id there"),
    Setting("oidc.client_secret", as_text, "none", "its secret"),
    Setting("oidc.redirect_uri", as_text, "none", "`https://<this server>/api/v1/oidc/callback`, as registered there"),
    Setting("oidc.scopes", as_text_or_texts, '["openid", "profile", "email"]', "what is asked for"),
    Setting("oidc.algorithms", as_text_or_texts, '["RS256", "ES256", "PS256"]', "how ID tokens may be signed"),
    Setting("oidc.name_claim", as_text, '"preferred_username"', "the claim a new user's name is taken from"),
    Setting("oidc.groups_claim", as_text, '"groups"', "the claim that lists a user's groups"),
    Setting("oidc.grants", _grants, "[]", "which group gives which role; file only"),
    Setting("oidc.create_users", as_flag, "true", "whether a first login makes an account"),
    Setting("oidc.leeway_seconds", as_count, "60", "how far the two clocks may differ"),
)
# fmt: on
SECRETS: Final = frozenset({"database", "oidc.client_secret"})
_BY_KEY: Final = {setting.key: setting for setting in SETTINGS}
_MILLISECONDS: Final = frozenset(
    s.key
    for s in SETTINGS
    if s.key.startswith(("planner.", "keep.", "figures."))
    or s.key in ("loop.lease", "loop.first_retry", "loop.longest_retry")
)
_NAMES: Final = {"limits.body": "body_bytes"}


def variable_of(key: str) -> str:
    return VARIABLE + key.upper().replace(".", "_")


def read_settings(path: Path | None, environment: Mapping[str, str]) -> ServerSettings:
    """Settings of the file (`path` None: no file), overridden by the environment's variables. Raises BadSettings."""
    values: dict[str, Any] = {}
    if path is not None:
        for key, raw in _file(path).items():
            values[key] = _read(key, raw, f"{path}: {key}")
    for setting in SETTINGS:
        variable = variable_of(setting.key)
        if variable in environment:
            values[setting.key] = _read(setting.key, _from_text(environment[variable]), variable)
    return _made(values)


def of_option(key: str, value: object, option: str) -> Any:
    """The value of a setting as an option gives it. Raises BadSettings, which names the option."""
    return _read(key, value, option)


def oidc_of(settings: OidcSettings | None) -> Oidc | None:
    """The OIDC logins of these settings; None without settings. The provider is not asked before a user logs in."""
    if settings is None:
        return None
    provider = Provider(settings, HttpxHttp())
    return Oidc(settings, CodeLogins(provider), DeviceLogins(provider))


def _file(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSettings(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path}: {error}") from None
    tables = {key.partition(".")[0] for key in _BY_KEY if "." in key}
    found: dict[str, Any] = {}
    for name, value in data.items():
        inner = (
            {f"{name}.{key}": one for key, one in value.items()}
            if name in tables and isinstance(value, dict)
            else {name: value}
        )
        for key in inner:
            if key not in _BY_KEY:
                raise BadSettings(f"{path}: no setting {key}; see docs/reference/settings.md")
        found.update(inner)
    return found


def _from_text(text: str) -> object:
    """The value of the text as TOML; if it is not TOML, the text itself, or a list if it has commas."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text.split(",") if "," in text else text


def _read(key: str, raw: object, where: str) -> Any:
    try:
        return _BY_KEY[key].read(raw)
    except Unreadable as error:
        shown = "" if key in SECRETS else f", not {raw!r}"
        raise BadSettings(f"{where}: {error}{shown}") from None


def _made(values: dict[str, Any]) -> ServerSettings:
    def table(name: str) -> dict[str, Any]:
        inside = {key: value for key, value in values.items() if key.startswith(f"{name}.")}
        return {_field(key): value for key, value in inside.items()}

    top = {key: value for key, value in values.items() if "." not in key}
    oidc = None
    if table("oidc"):
        missing = [key for key in ("issuer", "client_id", "redirect_uri") if key not in table("oidc")]
        if missing:
            raise BadSettings(f"oidc: {', '.join(missing)} must be set too")
        try:
            oidc = OidcSettings(**table("oidc"))
        except Refused as refused:
            raise BadSettings(f"{refused.field}: {refused.message}") from None
    figures = KeptFigures(**table("figures"))
    if not figures.minutes_ms <= figures.hours_ms <= figures.days_ms:
        raise BadSettings(
            "figures: hours must be kept at least as long as minutes, and days as long as hours; "
            f"they are {span_text(figures.minutes_ms)}, {span_text(figures.hours_ms)} and {span_text(figures.days_ms)}"
        )
    loop = LoopSettings(core=replace(LoopSettings().core, **table("planner")), **table("loop"))
    if top.get("tls_key") is not None and top.get("tls_cert") is None:
        raise BadSettings("tls_key: needs tls_cert")
    return ServerSettings(
        **top,
        limits=Limits(**table("limits")),
        users=UserSettings(**table("users")),
        loop=loop,
        keep=Keep(**table("keep")),
        figures=figures,
        metrics=MetricsSettings(**table("metrics")),
        oidc=oidc,
        kubernetes=KubernetesOptions(**table("kubernetes")),
    )


def _field(key: str) -> str:
    name = key.partition(".")[2]
    return _NAMES.get(key, f"{name}_ms" if key in _MILLISECONDS else name)
