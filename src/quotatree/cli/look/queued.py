"""The nouns of quotas in use: who waits at a quota, and which users have how much of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from quotatree.cli.look.noun import Asked, Column, Noun, key
from quotatree.cli.remote import bare
from quotatree.cli.words import age, moment, with_name

if TYPE_CHECKING:
    from quotatree.client import Client

OTHERS: Final = "(others)"
"""All users whose jobs you may not see are one line."""


def _queues(client: Client, asked: Asked) -> Iterable[Any]:
    """The queues of the quotas that are asked for; without any, of all quotas where jobs wait."""
    names = asked.quota or tuple(
        quota["id"] for quota in client.quotas.list() if quota["usage"]["queued_jobs"]
    )
    for name in (bare(one, "quota") for one in names):
        for place in client.quotas.queue(name, most=asked.most):
            yield {"quota": name, **place}


QUEUE: Final = Noun(
    "queue", ("queues",), key("job"),
    (
        Column("QUOTA", key("quota")),
        Column("POS", key("position")),
        Column("JOB", key("job")),
        Column("PRIO", lambda one: with_name(one["priority"], one["priority_name"]), for_csv=key("priority")),
        Column("REASON", key("reason_code")),
    ),
    _queues, filters=("quota", "most"), names_quotas=True, named="job", none="no job waits",
)  # fmt: skip


def _use(client: Client, asked: Asked) -> Iterable[Any]:
    for name in (bare(one, "quota") for one in asked.quota):
        for one in client.quotas.users(name, below=asked.below):
            yield {"quota": name, **one}


USE: Final = Noun(
    "use", (), lambda one: one["user"] or "",
    (
        Column("QUOTA", key("quota")),
        Column("USER", lambda one: one["user"] or OTHERS),
        Column("WORKSPACE", lambda one: one["workspace"] or "-"),
        Column("RUNNING", key("running_jobs")),
        Column("GPUS", lambda one: f"{one['regular_gpus']:g}"),
        Column("IDLE", lambda one: f"{one['idle_gpus']:g}"),
        Column("WAITING", key("waiting_jobs")),
        Column("WANTED", lambda one: f"{one['waiting_gpus']:g}"),
        Column(
            "SINCE", lambda one: age(one["oldest_waiting_since_ms"]),
            for_csv=lambda one: moment(one["oldest_waiting_since_ms"]),
        ),
    ),
    _use, names_quotas=True, named="user", none="no user runs or waits there",
)  # fmt: skip
"""What `get users --quota QUOTA` lists; `get` has no other word for it."""
