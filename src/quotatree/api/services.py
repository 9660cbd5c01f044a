"""What the routes work with: the loop for changes and the live state, the store for history, and how users sign in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from anyio import CapacityLimiter

from quotatree.api.simulations import Simulations
from quotatree.control.figure_history import KeptFigures
from quotatree.control.loop import Controller
from quotatree.control.outbox import LastTry
from quotatree.engines.base import Engine
from quotatree.identity.cluster_users import ClusterNames
from quotatree.identity.login_links import LoginLinks
from quotatree.identity.oidc_code import CodeLogins
from quotatree.identity.oidc_device import DeviceLogins
from quotatree.identity.oidc_settings import OidcSettings
from quotatree.identity.passwords import Passwords
from quotatree.store import Store
from quotatree.store.rows import WebhookRow

READERS = 8
"""How many requests read the store at a time; it has more connections than that, so the loop never waits for one."""

ESTIMATORS = 2
"""How many estimates are played at a time, each in a process of its own."""

LOOKERS = 16
"""How many requests ask the engine at a time, for logs and endpoints."""


@dataclass(frozen=True, slots=True)
class Oidc:
    settings: OidcSettings
    code: CodeLogins
    device: DeviceLogins


@dataclass(frozen=True, slots=True)
class ClusterLogins:
    """How users of a cluster sign in. `review(token)` asks the cluster whose token it is; None: nobody's there."""

    names: ClusterNames
    review: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest size of a request's body, and how deep its JSON may be nested."""

    body_bytes: int = 4 * 1024 * 1024
    depth: int = 32


@dataclass(frozen=True, slots=True, eq=False)
class Services:
    """`job_host`: the host name in links to jobs. `metrics_names`: all who reach /metrics may know the names of quotas,
    nodes and jobs. `last_try`: what became of a webhook's last delivery."""

    controller: Controller
    store: Store
    engine: Engine
    passwords: Passwords
    oidc: Oidc | None = None
    cluster_logins: ClusterLogins | None = None
    job_host: str | None = None
    limits: Limits = Limits()
    figures: KeptFigures = KeptFigures()
    metrics_names: bool = False
    last_try: Callable[[WebhookRow], LastTry | None] = lambda _: None
    links: LoginLinks = field(default_factory=LoginLinks)
    simulations: Simulations = field(default_factory=Simulations)
    clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    readers: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(READERS))
    estimators: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(ESTIMATORS))
    lookers: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(LOOKERS))
