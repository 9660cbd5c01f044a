"""Settings: every one of the table can be given by file and by variable, and has the default that the page shows."""

from __future__ import annotations

import re
from dataclasses import fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from quotatree.access.roles import Role
from quotatree.api.services import Limits
from quotatree.api.settings import (
    SETTINGS,
    BadSettings,
    Keep,
    MetricsSettings,
    ServerSettings,
    oidc_of,
    read_settings,
    variable_of,
)
from quotatree.control.figure_history import KeptFigures
from quotatree.control.loop import LoopSettings
from quotatree.control.webhook_places import WebhookPlaces
from quotatree.core.state import Settings
from quotatree.engines.kubernetes.adopted import Adoptable, Part
from quotatree.engines.kubernetes.kinds import Kind
from quotatree.engines.kubernetes.options import KubernetesOptions
from quotatree.engines.local.server.unix_users import UserSettings
from quotatree.identity.oidc_settings import GroupGrant, OidcSettings

OIDC = {
    "QUOTATREE_OIDC_ISSUER": "https://login.example.org",
    "QUOTATREE_OIDC_CLIENT_ID": "quotatree",
    "QUOTATREE_OIDC_REDIRECT_URI": "https://gpu.example.org/api/v1/oidc/callback",
}
# A value that is not the default, as a file and a variable write it, and what comes of it.
GIVEN: dict[str, tuple[str, Any]] = {
    "listen": ('"0.0.0.0:80"', "0.0.0.0:80"),
    "data": ('"/srv/x"', Path("/srv/x")),
    "database": ('"postgresql://h/d"', "postgresql://h/d"),
    "engine": ('"timer"', "timer"),
    "nodes": ('"4x8:H100,2x4:L20"', "4x8:H100,2x4:L20"),
    "run_as": ('"nobody"', "nobody"),
    "users.range": ('"70000-70999"', (70_000, 70_999)),
    "users.map": ('{ vision = "ann" }', {"vision": "ann"}),
    "jobs_dir": ('"/srv/jobs"', Path("/srv/jobs")),
    "job_disk": ('"100Gi"', 102_400),
    "cgroups": ("false", False),
    "https": ("true", True),
    "job_host": ('"{job}.jobs.example.org"', "{job}.jobs.example.org"),
    "trusted_proxies": ('["10.0.0.7", "10.1.0.0/16"]', ("10.0.0.7/32", "10.1.0.0/16")),
    "tls_cert": ('"c.pem"', Path("c.pem")),
    "tls_key": ('"k.pem"', Path("k.pem")),
    "log_file": ('"l"', Path("l")),
    "webhook_networks": (
        '["10.1.0.0/16", "Chat.internal."]',
        WebhookPlaces((ip_network("10.1.0.0/16"),), frozenset({"chat.internal"})),
    ),
    "limits.body": ('"2Mi"', 2 * 1024 * 1024),
    "limits.depth": ("10", 10),
    "loop.lease": ('"1m"', 60_000),
    "loop.first_retry": ('"1s"', 1_000),
    "loop.longest_retry": ('"1m"', 60_000),
    "loop.most_in_batch": ("7", 7),
    "loop.most_waiting": ("8", 8),
    "keep.deliveries": ('"1h"', 3_600_000),
    "figures.minutes": ('"24h"', 86_400_000),
    "figures.hours": ('"30d"', 30 * 86_400_000),
    "figures.days": ('"400d"', 400 * 86_400_000),
    "metrics.names": ("true", True),
    "planner.aging_interval": ('"1m"', 60_000),
    "planner.balance_timeout": ('"1m"', 60_000),
    "planner.starvation_guard": ('"0s"', 0),
    "planner.eas_outage": ('"1m"', 60_000),
    "planner.longest_grace": ('"2h"', 7_200_000),
    "kubernetes.kubeconfig": ('"/srv/kubeconfig"', Path("/srv/kubeconfig")),
    "kubernetes.context": ('"gpu"', "gpu"),
    "kubernetes.namespace_prefix": ('"team-"', "team-"),
    "kubernetes.gpu_resources": ('["example.com/gpu"]', ("example.com/gpu",)),
    "kubernetes.model_labels": ('["example.com/model"]', ("example.com/model",)),
    "kubernetes.pool_label": ('"example.com/pool"', "example.com/pool"),
    "kubernetes.rack_label": ('"rack"', "rack"),
    "kubernetes.zone_label": ('"zone"', "zone"),
    "kubernetes.priority_class": ('"ours"', "ours"),
    "kubernetes.storage_class": ('"fast"', "fast"),
    "kubernetes.adopted_kinds": ('["jobs.batch", "rayjobs.ray.io"]', ("jobs.batch", "rayjobs.ray.io")),
    "kubernetes.other_kinds": (
        '{ "widgets.example.org" = { version = "v1", kind = "Widget", suspend = "spec.off", pods = [{ at = "spec" }] } }',
        (Adoptable(Kind("example.org/v1", "widgets", "Widget"), "spec.off", (Part("spec"),)),),
    ),
    "kubernetes.bind_seconds": ("5", 5),
    "kubernetes.lost_seconds": ("7", 7),
    "kubernetes.gone_seconds": ("7", 7),
    "kubernetes.output_seconds": ("7", 7),
    "kubernetes.start_seconds": ("6", 6),
    "kubernetes.resources": ("false", False),
    "kubernetes.strays": ('"suspend"', "suspend"),
    "kubernetes.login": ('"email"', "email"),
    "kubernetes.login_prefix": ('"oidc:"', "oidc:"),
    "oidc.issuer": ('"https://other.example.org"', "https://other.example.org"),
    "oidc.client_id": ('"me"', "me"),
    "oidc.client_secret": ('"hush"', "hush"),
    "oidc.redirect_uri": ('"https://x.example.org/cb"', "https://x.example.org/cb"),
    "oidc.scopes": ('["openid"]', ("openid",)),
    "oidc.algorithms": ('["ES256"]', ("ES256",)),
    "oidc.name_claim": ('"sub"', "sub"),
    "oidc.groups_claim": ('"roles"', "roles"),
    "oidc.grants": (
        '[{group = "g", role = "viewer", workspace = "vision"}]',
        (GroupGrant("g", Role.VIEWER, "vision"),),
    ),
    "oidc.create_users": ("false", False),
    "oidc.leeway_seconds": ("5", 5),
}


def found(settings: ServerSettings, key: str) -> Any:
    table, _, name = key.rpartition(".")
    names = {"limits.body": "body_bytes"}
    where: Any = {
        "": settings,
        "limits": settings.limits,
        "loop": settings.loop,
        "keep": settings.keep,
        "figures": settings.figures,
        "metrics": settings.metrics,
        "planner": settings.loop.core,
        "oidc": settings.oidc,
        "users": settings.users,
        "kubernetes": settings.kubernetes,
    }[table]
    name = names.get(key, name)
    return getattr(where, name) if hasattr(where, name) else getattr(where, f"{name}_ms")


def test_the_table_has_all_there_is():
    assert {setting.key for setting in SETTINGS} == set(GIVEN)
    tables: dict[str, Any] = {
        "limits": Limits,
        "loop": LoopSettings,
        "keep": Keep,
        "figures": KeptFigures,
        "metrics": MetricsSettings,
        "planner": Settings,
        "oidc": OidcSettings,
        "users": UserSettings,
        "kubernetes": KubernetesOptions,
    }
    known = {
        f"{table}.{field.name.removesuffix('_ms').removesuffix('_bytes')}"
        for table, of in tables.items()
        for field in fields(of)
    }
    top = {field.name for field in fields(ServerSettings)} - set(tables)
    asked_at_one_start = {"loop.core", "loop.abandon_runs"}  # not to be left in a file
    assert known - asked_at_one_start | top == {setting.key for setting in SETTINGS}


@pytest.mark.parametrize("key", list(GIVEN))
def test_a_setting_is_read_from_the_file_and_the_variable_overrides_it(tmp_path: Path, key: str):
    text, wanted = GIVEN[key]
    table, _, name = key.rpartition(".")
    others = dict(OIDC) if table == "oidc" else {}
    others.pop(variable_of(key), None)
    if key == "tls_key":
        others[variable_of("tls_cert")] = "c.pem"
    file = tmp_path / "quotatree.toml"
    file.write_text((f"[{table}]\n" if table else "") + f"{name} = {text}\n", encoding="utf-8")
    assert found(read_settings(file, others), key) == wanted
    assert found(read_settings(None, {**others, variable_of(key): text}), key) == wanted
    if text.startswith('"'):
        assert found(read_settings(None, {**others, variable_of(key): text.strip('"')}), key) == wanted


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.key)
def test_the_default_is_the_one_that_is_shown(setting: Any):
    plain = read_settings(None, OIDC if setting.key.startswith("oidc.") else {})
    if setting.default[0] in '"[' or setting.default in ("true", "false") or setting.default.isdecimal():
        given = {
            **(OIDC if setting.key.startswith("oidc.") else {}),
            variable_of(setting.key): setting.default,
        }
        assert read_settings(None, given) == plain
    else:
        assert setting.key.partition(".")[0] in (
            "data",
            "database",
            "tls_cert",
            "tls_key",
            "log_file",
            "nodes",
            "run_as",
            "users",
            "jobs_dir",
            "kubernetes",
            "job_disk",
            "job_host",
            "oidc",
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour = 1", "no setting colour"),
        ("[loop]\ncolour = 1", "no setting loop.colour"),
        ("[loop]\nlease = 15", "must be a duration"),
        ("loop = 5", "no setting loop"),
        ("https = 1", "true or false"),
        ('job_host = "http://x"', "must be a host name"),
        ('engine = "magic"', 'must be "local", "timer" or "kubernetes"'),
        ('[limits]\nbody = "9Ti"', "1Mi"),
        ('[oidc]\nissuer = "https://x.example.org"', "client_id, redirect_uri must be set"),
        ('tls_key = "k"', "needs tls_cert"),
        ('[kubernetes.other_kinds.widgets]\nkind = "Widget"', "widgets: must be PLURAL.GROUP"),
        ("= 5", "quotatree.toml"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, said: str):
    file = tmp_path / "quotatree.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadSettings, match=re.escape(said)):
        read_settings(file, {})


def test_a_secret_is_not_told(tmp_path: Path):
    with pytest.raises(BadSettings) as caught:
        read_settings(None, {**OIDC, "QUOTATREE_OIDC_CLIENT_SECRET": "[1, 2]"})
    assert "1, 2" not in str(caught.value)
    settings = read_settings(
        None,
        {**OIDC, "QUOTATREE_OIDC_CLIENT_SECRET": "hush", "QUOTATREE_DATABASE": "postgresql://u:hush@h/d"},
    )
    assert "hush" not in repr(settings)
    assert oidc_of(settings.oidc) is not None
