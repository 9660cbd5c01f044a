"""The server, as an object: one attribute for each noun of the API.

with Client("http://127.0.0.1:7070", token) as client:
    made = client.jobs.submit({"workspace": "vision", "quota": "team-a", "groups": [{"gpus": 8}]})
    for job in client.jobs.list(active=True):
        ...
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import httpx2

from quotatree.client import types as t
from quotatree.client.history import Audit, Events, Preemptions
from quotatree.client.jobs import Jobs
from quotatree.client.nodes import Nodes, Pools
from quotatree.client.people import Logins, Tokens, Users
from quotatree.client.priorities import Priorities
from quotatree.client.quotas import Quotas
from quotatree.client.simulations import Simulations
from quotatree.client.transport import Transport
from quotatree.client.workspaces import Webhooks, Workspaces


class Client:
    """A client of one server; not for several threads at once. Methods raise ClientError (`quotatree.client.errors`)."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_seconds: float = 30.0,
        http: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = Transport(url, token, timeout_seconds=timeout_seconds, http=http, sleep=sleep)
        self.url = url
        self.jobs = Jobs(self._transport)
        self.quotas = Quotas(self._transport)
        self.simulations = Simulations(self._transport)
        self.workspaces = Workspaces(self._transport)
        self.nodes = Nodes(self._transport)
        self.pools = Pools(self._transport)
        self.priorities = Priorities(self._transport)
        self.users = Users(self._transport)
        self.tokens = Tokens(self._transport)
        self.webhooks = Webhooks(self._transport)
        self.events = Events(self._transport)
        self.preemptions = Preemptions(self._transport)
        self.audit = Audit(self._transport)
        self.logins = Logins(self._transport)

    def whoami(self) -> t.WhoAmI:
        found: t.WhoAmI = self._transport.get("/whoami")
        return found

    def summary(self) -> t.SummaryOut:
        """What the modules have and wait for, the nodes as a whole, and what needs attention."""
        found: t.SummaryOut = self._transport.get("/summary")
        return found

    def usage(
        self,
        *,
        since_ms: int | None = None,
        until_ms: int | None = None,
        by: Sequence[str] = ("quota",),
        quota: str | None = None,
        below: bool = False,
    ) -> t.GpuTime:
        """GPU-hours used and lost in a stretch of time, in rows by quota, workspace, user, module, claim and taker."""
        asked = {"since": since_ms, "until": until_ms, "quota": quota, "below": below or None}
        found: t.GpuTime = self._transport.get("/usage", {**asked, "by": ",".join(by) or ","})
        return found

    def health(self) -> t.HealthOut:
        """The server's health; also answered while the server cannot write."""
        found: t.HealthOut = self._transport.get("/readyz")
        return found

    def preview(self, changes: Sequence[Any], *, estimate: bool = False) -> t.PreviewOut:
        """The decisions if these changes were made in order and then planned once. Nothing is changed.

        `estimate`: also when a job would start, if a submission is the only change.
        """
        path = "/previews?estimate=true" if estimate else "/previews"
        seen: t.PreviewOut = self._transport.change("POST", path, {"changes": list(changes)})
        return seen

    def snapshot(self) -> dict[str, Any]:
        """Pools, nodes, quotas and active jobs, in the format that `quotatree plan` reads."""
        found: dict[str, Any] = self._transport.get("/snapshot")
        return found

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
