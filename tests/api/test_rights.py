"""Who may do what over HTTP (W1-W5): every route, by every role, in the own workspace and from outside.

The routes are taken from the application, so one without a row here fails. A row says what each caller gets; a refused
request must not have changed anything, and an outsider learns no name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from quotatree.api.app import create_app
from tests.api.serving import Api, job

CALLERS = ("root", "quinn", "owen", "ada", "pat", "ann", "vic", "eve", "out", None)
"""Platform admin, quota admin of `team`; owner, admin, operator, developer, viewer of vision; another team; nobody's."""

ALL = "200 200 200 200 200 200 200 200 200 401"


class Row(NamedTuple):
    """`codes`: one for each of CALLERS. `{job}` is ann's waiting job, `{mine}` one of the caller's own token."""

    method: str
    path: str
    codes: str
    body: Any = None
    query: str = ""
    headers: Mapping[str, str] = MappingProxyType({})


# fmt: off
ROWS = [
    #                                                 root quin owen ada  pat  ann  vic  eve  out  none
    Row("POST", "/jobs",                             "201  404  201  201  201  201  403  404  404  401", job()),
    Row("POST", "/jobs/batch",                       ALL, {"jobs": [job()]}),  # each item has its own outcome, see below
    Row("GET", "/jobs",                              ALL),
    Row("GET", "/jobs",                              "200  404  200  200  200  200  200  404  404  401", query="workspace=vision"),
    Row("GET", "/jobs/{job}",                        "200  404  200  200  200  200  200  404  404  401"),
    Row("GET", "/jobs/{job}/runs",                   "200  404  200  200  200  200  200  404  404  401"),
    Row("GET", "/jobs/{job}/history",                "200  404  200  200  200  200  200  404  404  401"),
    Row("GET", "/jobs/{job}/explanation",            "200  404  200  200  200  200  200  404  404  401"),
    Row("GET", "/jobs/{running}/exposure",           "200  404  200  200  200  200  200  404  404  401"),
    Row("GET", "/exposures",                         ALL, query="job=dlc-0123456789"),
    Row("POST", "/jobs/{job}/cancel",                "200  404  200  200  200  200  403  404  404  401"),
    Row("PUT", "/jobs/{job}/priority",               "200  404  200  200  200  200  403  404  404  401", {"priority": 2}),
    Row("POST", "/jobs/{job}/hold",                  "200  404  200  200  200  200  403  404  404  401"),
    Row("POST", "/jobs/{held}/release",              "200  404  200  200  200  200  403  404  404  401"),
    Row("POST", "/jobs/{running}/checkpoint",        "200  404  200  200  200  200  403  404  404  401"),
    Row("PUT", "/jobs/{job}/min-replicas",           "200  404  200  200  200  200  403  404  404  401", {"min_replicas": 1}),
    Row("PUT", "/jobs/{job}/replicas",               "200  404  200  200  200  200  403  404  404  401", {"min_replicas": 1}),
    Row("PUT", "/jobs/{job}/autoscale",              "422  404  422  422  422  422  403  404  404  401", {"min": 1, "max": 2, "target": 8}),  # a training job
    Row("DELETE", "/jobs/{job}/autoscale",           "200  404  200  200  200  200  403  404  404  401"),
    Row("GET", "/jobs/{running}/logs",               "200  404  200  200  200  200  403  404  404  401"),
    Row("GET", "/jobs/{running}/endpoint",           "200  404  200  200  200  200  200  404  404  401"),
    Row("POST", "/jobs/{running}/stop",              "200  404  200  200  200  200  403  404  404  401"),
    Row("POST", "/jobs/{held}/start",                "422  404  422  422  422  422  403  404  404  401"),
    Row("POST", "/jobs/{running}/restart",           "422  404  422  422  422  422  403  404  404  401"),
    Row("POST", "/previews",                         "200  404  200  200  200  200  403  404  404  401", {"changes": [{"change": "submit", "job": job()}]}),
    Row("POST", "/previews",                         "200  200  403  403  403  403  403  404  404  401", {"changes": [{"change": "scale", "quota": "a", "min": {"gpus": 3}, "mode": "lazy"}]}),
    Row("GET", "/preemptions",                       ALL),
    Row("GET", "/preemptions/{seq}",                 "200  200  200  200  200  200  200  404  404  401"),  # names: see test_explaining
    Row("GET", "/preemptions",                       "200  200  200  200  200  200  200  404  404  401", query="quota=a"),
    Row("POST", "/simulations",                      "422  422  404  404  404  404  404  404  404  401", {"quota": "team", "from_ms": 0, "before_ms": 1, "variants": [{"name": "now"}]}),
    Row("GET", "/simulations",                       ALL),
    Row("GET", "/simulations/{simulation}",          "404  404  404  404  404  404  404  404  404  401"),  # see test_simulations
    Row("DELETE", "/simulations/{simulation}",       "404  404  404  404  404  404  404  404  404  401"),
    Row("GET", "/summary",                           ALL),
    Row("GET", "/quotas",                            ALL),
    Row("POST", "/quotas",                           "201  403  403  403  403  403  403  403  403  401", {"id": "{new}", "draws": {"p": {"gpus": 0}}}),
    Row("POST", "/quotas",                           "201  201  403  403  403  403  403  404  404  401", {"id": "{new}", "parent": "a", "min": {"gpus": 0}}),
    Row("GET", "/quotas/{quota}",                    "200  200  200  200  200  200  200  404  404  401"),
    Row("PATCH", "/quotas/{quota}",                  "200  200  403  403  403  403  403  404  404  401", {"description": "x"}),
    Row("DELETE", "/quotas/{empty}",                 "200  200  404  404  404  404  404  404  404  401"),
    Row("DELETE", "/quotas/{quota}",                 "422  422  403  403  403  403  403  404  404  401"),
    Row("POST", "/quotas/{quota}/return-loan",       "422  422  403  403  403  403  403  404  404  401"),
    Row("POST", "/quotas/{quota}/scale",             "200  200  403  403  403  403  403  404  404  401", {"min": {"gpus": 4}}),
    Row("POST", "/quota-transfers",                  "200  200  403  403  403  403  403  404  404  401", {"source": "a", "target": "b", "amount": {"gpus": 0.001}, "mode": "lazy"}),
    Row("GET", "/quotas/{quota}/usage",              "200  200  200  200  200  200  200  404  404  401"),
    Row("GET", "/quotas/{quota}/queue",              "200  200  200  200  200  200  200  404  404  401"),
    Row("GET", "/quotas/{quota}/users",              "200  200  200  200  200  200  200  404  404  401"),
    Row("GET", "/usage",                             ALL),
    Row("GET", "/usage",                             "200  200  200  200  200  200  200  404  404  401", query="quota=a"),
    Row("GET", "/quotas/{quota}/history",            "200  200  200  200  200  200  200  404  404  401"),
    Row("GET", "/quotas/{quota}/series",             "200  200  200  200  200  200  200  404  404  401"),
    Row("GET", "/quotas/{quota}/policies",           "200  200  200  200  200  200  200  404  404  401"),
    Row("PUT", "/quotas/{quota}/policies",           "200  200  403  403  403  403  403  404  404  401", {}, headers={"If-Match": "*"}),
    Row("GET", "/quotas/{quota}/admins",             "200  200  403  403  403  403  403  404  404  401"),
    Row("PUT", "/quotas/{quota}/admins/{user}",      "200  200  403  403  403  403  403  404  404  401"),
    Row("DELETE", "/quotas/{quota}/admins/{user}",   "200  200  403  403  403  403  403  404  404  401"),
    Row("GET", "/priorities",                        ALL),
    Row("PUT", "/priorities",                        "200  403  403  403  403  403  403  403  403  401", {"names": {"urgent": 9}}),
    Row("GET", "/pools",                             ALL),
    Row("POST", "/pools",                            "201  403  403  403  403  403  403  403  403  401", {"name": "{new}"}),
    Row("GET", "/nodes",                             "200  200  403  403  403  403  403  403  403  401"),
    Row("GET", "/node-devices",                      "200  200  403  403  403  403  403  403  403  401"),
    Row("POST", "/nodes",                            "201  403  403  403  403  403  403  403  403  401", {"name": "{new}", "pool": "spare"}),
    Row("GET", "/nodes/{node}",                      "200  200  403  403  403  403  403  403  403  401"),
    Row("POST", "/nodes/{spare}/cordon",             "200  403  403  403  403  403  403  403  403  401"),
    Row("POST", "/nodes/{spare}/uncordon",           "200  403  403  403  403  403  403  403  403  401"),
    Row("POST", "/nodes/{spare}/drain",              "200  403  403  403  403  403  403  403  403  401"),
    Row("DELETE", "/nodes/{bare}",                   "200  403  403  403  403  403  403  403  403  401"),
    Row("DELETE", "/pools/{pool}",                   "200  403  403  403  403  403  403  403  403  401"),
    Row("GET", "/workspaces",                        ALL),
    Row("POST", "/workspaces",                       "201  403  403  403  403  403  403  403  403  401", {"id": "{new}"}),
    Row("GET", "/workspaces/{workspace}",            "200  404  200  200  200  200  200  404  404  401"),
    Row("PATCH", "/workspaces/{workspace}",          "200  404  200  200  403  403  403  404  404  401", {"description": "x"}),
    Row("DELETE", "/workspaces/{workspace}",         "422  404  422  403  403  403  403  404  404  401"),
    Row("POST", "/workspaces/{workspace}/members",   "200  404  200  200  403  403  403  404  404  401", {"user": "vic", "role": "viewer"}),
    Row("POST", "/workspaces/{workspace}/members",   "200  404  200  403  403  403  403  404  404  401", {"user": "ada", "role": "admin"}),
    Row("DELETE", "/workspaces/{workspace}/members/{user}", "404 404 404 404 403  403  403  404  404  401"),
    Row("PUT", "/workspaces/{workspace}/quotas/{quota}",    "200 200 403 403 403  403  403  404  404  401"),
    Row("DELETE", "/workspaces/{workspace}/quotas/{quota}", "422 422 422 403 403  403  403  404  404  401"),
    Row("GET", "/workspaces/{workspace}/quotas/{quota}/centre", "200 404 200 200 200 200 200 404 404 401"),
    Row("PUT", "/workspaces/{workspace}/quotas/{quota}/centre", "200 404 200 200 403 403 403 404 404 401", {}, headers={"If-Match": "*"}),
    Row("GET", "/users",                             ALL),
    Row("POST", "/users",                            "201  403  403  403  403  403  403  403  403  401", {"name": "{new}"}),
    Row("GET", "/users/{user}",                      "200  404  404  404  404  404  404  404  404  401"),
    Row("PATCH", "/users/{user}",                    "200  404  404  404  404  404  404  404  404  401", {"display": "x"}),
    Row("PATCH", "/users/{me}",                      "200  200  200  200  200  200  200  200  200  401", {"display": "x"}),
    Row("PATCH", "/users/{me}",                      "200  403  403  403  403  403  403  403  403  401", {"platform_admin": True}),
    Row("PUT", "/users/{user}/password",             "200  404  404  404  404  404  404  404  404  401", {"password": "0123456789ab"}),
    Row("GET", "/whoami",                            ALL),
    Row("GET", "/tokens",                            ALL),
    Row("GET", "/tokens",                            "200  404  404  404  404  404  404  404  404  401", query="user=zoe"),
    Row("POST", "/tokens",                           "201  201  201  201  201  201  201  201  201  401", {"name": "t"}),
    Row("POST", "/tokens",                           "201  404  404  404  404  404  404  404  404  401", {"name": "t", "user": "zoe"}),
    Row("DELETE", "/tokens/{token}",                 "200  404  404  404  404  404  404  404  404  401"),
    Row("DELETE", "/session",                        "404  404  404  404  404  404  404  404  404  401"),
    Row("POST", "/login-links",                      "201  201  201  201  201  201  201  201  201  401"),
    Row("GET", "/events",                            ALL),
    Row("GET", "/events",                            "200  404  200  200  200  200  200  404  404  401", query="workspace=vision"),
    Row("GET", "/events/stream",                     "200  404  200  200  200  200  200  404  404  401", query="workspace=vision"),
    Row("GET", "/audit",                             "200  403  403  403  403  403  403  403  403  401"),
    Row("GET", "/audit",                             "200  404  200  200  403  403  403  404  404  401", query="workspace=vision"),
    Row("GET", "/snapshot",                          "200  403  403  403  403  403  403  403  403  401"),
    Row("GET", "/webhooks",                          ALL),
    Row("POST", "/webhooks",                         "201  404  201  201  403  403  403  404  404  401", {"id": "{new}", "url": "http://localhost:1/", "secret": "0123456789abcdef", "workspace": "vision", "kinds": ["engine.orphan_stopped"]}),
    Row("POST", "/webhooks",                         "201  403  403  403  403  403  403  403  403  401", {"id": "{new}", "url": "http://localhost:1/", "secret": "0123456789abcdef", "kinds": ["engine.orphan_stopped"]}),
    Row("GET", "/webhooks/{webhook}",                "200  404  200  200  404  404  404  404  404  401"),
    Row("PUT", "/webhooks/{webhook}",                "200  404  200  200  404  404  404  404  404  401", {"url": "http://localhost:1/", "secret": "0123456789abcdef", "workspace": "vision", "kinds": ["engine.orphan_stopped"]}, headers={"If-Match": "*"}),
    Row("DELETE", "/webhooks/{webhook}",             "200  404  200  200  404  404  404  404  404  401"),
]
PUBLIC = {
    ("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"), ("POST", "/api/v1/session"),
    ("POST", "/api/v1/oidc/login"), ("GET", "/api/v1/oidc/callback"), ("POST", "/api/v1/oidc/device"),
    ("POST", "/api/v1/oidc/device/token"), ("GET", "/api/v1/login-ways"), ("POST", "/api/v1/session/token"),
    ("POST", "/api/v1/session/link"), ("POST", "/api/v1/session/oidc"), ("POST", "/api/v1/kubernetes/token"),
}  # fmt: skip
"""Open to everybody, tested in test_sessions, test_login_ways and test_cluster_login."""
# fmt: on


def pattern(path: str) -> str:
    """{running} and {held} are jobs, and so on."""
    kinds = {"running": "job", "held": "job", "empty": "quota", "spare": "node", "bare": "node", "me": "user"}
    for word, kind in kinds.items():
        path = path.replace("{" + word + "}", "{" + kind + "}")
    return path


def test_every_route_has_its_row():
    app = create_app(None)
    routes = {(m.upper(), path) for path, methods in app.openapi()["paths"].items() for m in methods}
    walked = {(row.method, "/api/v1" + pattern(row.path)) for row in ROWS}
    assert routes - walked == PUBLIC
    assert walked - routes == set()


class Filled:
    """Names for the blanks of a row, fresh for each request, so that no request spoils the next."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.made = 0
        api.post("/nodes", {"name": "s0", "pool": "spare"})
        api.post("/users", {"name": "zoe"})

    def fill(self, text: str, user: str | None) -> str:
        makers = {
            "job": lambda: self.api.submit(gpus=4, min_replicas=1),
            "running": self.running,
            "held": lambda: self.api.submit(on_hold=True),
            "quota": lambda: "a",
            "empty": self.empty,
            "node": lambda: "n0",
            "spare": lambda: "s0",
            "bare": lambda: self.made_at("/nodes", pool="spare"),
            "pool": lambda: self.made_at("/pools"),
            "workspace": lambda: "vision",
            "user": lambda: "zoe",
            "me": lambda: str(user),
            "token": lambda: self.api.post("/tokens", {"name": "x", "user": "zoe"}).json()["id"],
            "webhook": self.webhook,
            "new": self.name,
            "seq": lambda: "1",
            "simulation": lambda: "0123456789ab",
        }
        for word, make in makers.items():
            blank = "{" + word + "}"
            if blank in text:
                text = text.replace(blank, make())
        return text

    def running(self) -> str:
        job_id = self.api.submit(groups=[{"cpu": 0.001}])
        self.api.wait_phase(job_id, "Running")
        return job_id

    def made_at(self, path: str, **body: str) -> str:
        name = self.name()
        self.api.post(path, {"name": name, **body})
        return name

    def name(self) -> str:
        self.made += 1
        return f"new-{self.made}"

    def empty(self) -> str:
        made = self.api.post("/quotas", {"id": self.name(), "parent": "team", "min": {"gpus": 0}})
        return str(made.json()["id"])

    def webhook(self) -> str:
        row = next(row for row in ROWS if row.path == "/webhooks" and row.method == "POST")
        made = self.api.post("/webhooks", {**row.body, "id": self.name()})
        return str(made.json()["id"])

    def body(self, body: Any) -> Any:
        if isinstance(body, dict):
            return {key: self.fill(v, None) if v == "{new}" else v for key, v in body.items()}
        return body


@pytest.fixture(scope="module")
def filled(shared: Api) -> Filled:
    made = Filled(shared)
    assert shared.submit(gpus=4)  # so that vision always has active jobs in a
    shared.post(f"/jobs/{made.running()}/stop", {})  # the first entry of the ledger
    return made


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path} {row.query}".strip())
def test_each_role_gets_what_the_table_says(filled: Filled, row: Row):
    api = filled.api
    got, told = [], []
    for user in CALLERS:
        path = f"/api/v1{filled.fill(row.path, user)}{'?' + row.query if row.query else ''}"
        if row.path == "/users/{user}/admins" or "/admins/{user}" in row.path:
            api.ask("PUT", "/api/v1/quotas/a/admins/zoe")
        extra = {} if row.body is None else {"json": filled.body(row.body)}
        if row.path == "/events/stream":
            status, text = stream_start(api, path, user)
        else:
            answer = api.ask(row.method, path, user, headers=row.headers, **extra)
            status, text = answer.status_code, answer.text
        if "/admins/{user}" in row.path:
            api.ask("DELETE", "/api/v1/quotas/a/admins/zoe")
        got.append(str(status))
        told.append((user, status, text, path))
    assert " ".join(got) == " ".join(row.codes.split()), [one[2][:200] for one in told]
    for user, status, text, path in told:
        assert status < 500
        if user in ("eve", "out") and status == 404:
            learned = [
                name for name in ("owen", "pat", "ann", "n0") if f"'{name}'" in text and name not in path
            ]
            assert learned == [], text


def stream_start(api: Api, path: str, user: str | None) -> tuple[int, str]:
    """The status of a stream, which then is hung up on: one that was accepted never ends by itself."""
    where, _, query = path.partition("?")
    headers = [] if user is None else [(b"authorization", f"Bearer {api.token(user)}".encode())]
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": where, "raw_path": where.encode(),
        "query_string": query.encode(), "root_path": "", "scheme": "http", "headers": headers,
        "server": ("testserver", 80), "client": ("testclient", 1), "state": {},
    }  # fmt: skip

    async def start() -> int:
        status: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def receive() -> dict[str, Any]:
            await status
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.set_result(message["status"])

        await asyncio.wait_for(api.client.app(scope, receive, send), 10)
        return await status

    return asyncio.run(start()), ""


def test_a_batch_answers_each_job_for_itself(shared: Api):
    """W1: an outsider's jobs are refused as if the workspace did not exist."""
    items = shared.post("/jobs/batch", {"jobs": [job(), job(quota="b")]}, "ann").json()["items"]
    assert items[0]["problem"] is None
    assert items[1]["problem"]["status"] == 422
    (item,) = shared.post("/jobs/batch", {"jobs": [job()]}, "eve").json()["items"]
    assert (item["id"], item["problem"]["code"]) == (None, "NotFound")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "/jobs", job()), ("POST", "/tokens", {"name": "x"}), ("DELETE", "/webhooks/x", None)],
)
def test_a_read_only_token_opens_reads_only(shared: Api, method: str, path: str, body: Any):
    headers = {"Authorization": f"Bearer {shared.token('pat', read_only=True)}"}
    extra = {} if body is None else {"json": body}
    assert shared.client.request(method, f"/api/v1{path}", headers=headers, **extra).status_code == 403
    assert shared.client.get("/api/v1/jobs", headers=headers).status_code == 200
    changes = {"changes": [{"change": "submit", "job": job()}]}
    assert shared.client.post("/api/v1/previews", headers=headers, json=changes).status_code == 200


def test_a_list_shows_ones_own(shared: Api):
    mine = shared.submit()
    theirs = shared.post("/jobs", job(workspace="speech", quota="b"), "eve").json()["id"]

    def listed(user: str) -> set[str]:
        return {one["id"] for one in shared.get("/jobs?limit=500", user).json()["items"]}

    assert (mine in listed("ann"), theirs in listed("ann")) == (True, False)
    assert (mine in listed("eve"), theirs in listed("eve")) == (False, True)
    assert {mine, theirs} <= listed("root")
    assert [one["id"] for one in shared.get("/workspaces", "eve").json()["items"]] == ["speech"]
    assert [one["id"] for one in shared.get("/quotas", "eve").json()["items"]] == ["b"]
