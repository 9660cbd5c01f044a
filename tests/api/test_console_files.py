"""A browser gets the console's pages and files, with headers that keep it careful, and nothing else of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from quotatree.api.app import create_app
from quotatree.api.console_files import PAGE_POLICY

PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A browser before a console of a few files, beside which there is a secret; nobody changes either."""
    directory = tmp_path_factory.mktemp("console")
    built = directory / "console_files"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<title>console</title>")
    (built / "favicon.svg").write_text("<svg/>")
    (built / "assets" / "entry-1a2b.js").write_text("plain")
    (built / "assets" / "entry-1a2b.js.gz").write_text("zipped")
    (built / "assets" / "entry-1a2b.js.br").write_text("brotli")
    (directory / "secret.txt").write_text("do not tell")
    (built / "out.txt").symlink_to(directory / "secret.txt")
    return TestClient(create_app(None, built), raise_server_exceptions=False)


@pytest.mark.parametrize("path", ["/", "/favicon.svg", "/api/v1/openapi.json", "/nothing"])
def test_every_answer_tells_other_origins_nothing(client: TestClient, path: str):
    told = client.get(path, headers=PAGE).headers
    careful = {
        "x-content-type-options": "nosniff", "x-frame-options": "DENY", "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
    }  # fmt: skip
    assert {name: told.get(name) for name in careful} == careful
    assert "frame-ancestors 'none'" in told["content-security-policy"]
    assert not [name for name in told if name.startswith("access-control") or name == "set-cookie"]


@pytest.mark.parametrize("path", ["/", "/quotas/Quota1.1/policy", "/login", "/jobs/dlc-1?tab=why", "/apix"])
def test_every_page_is_the_console(client: TestClient, path: str):
    answer = client.get(path, headers=PAGE)
    assert (answer.status_code, answer.text) == (200, "<title>console</title>")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == PAGE_POLICY
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-frame-options"] == "DENY"


def test_a_page_takes_nothing_from_elsewhere():
    allowed = {"'none'", "'self'", "'unsafe-inline'", "data:"}
    directives = {one.split()[0]: set(one.split()[1:]) for one in PAGE_POLICY.split(";")}
    assert set.union(*directives.values()) == allowed
    assert directives["script-src"] == {"'self'"}
    assert directives["default-src"] == {"'none'"}


@pytest.mark.parametrize("path", ["/api", "/api/v2/x", "/api/v1/nothing", "/assets/gone.js", "/healthz/x"])
def test_what_is_not_a_page_is_not_found_even_for_a_browser(client: TestClient, path: str):
    answer = client.get(path, headers=PAGE)
    assert (answer.status_code, answer.json()["code"]) == (404, "NotFound")
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_only_who_asks_for_a_page_gets_one(client: TestClient):
    assert client.get("/nothing", headers={"Accept": "application/json"}).status_code == 404
    assert client.post("/quotas", headers=PAGE).status_code == 404
    assert client.get("/").status_code == 200
    assert client.get("/api/v1/session", headers=PAGE).status_code == 405


@pytest.mark.parametrize(
    ("takes", "sent", "encoding"),
    [("gzip, br;q=0.9", "brotli", "br"), ("gzip", "zipped", "gzip"), ("identity", "plain", None)],
)
def test_assets_are_kept_for_ever_and_sent_as_the_build_compressed_them(
    client: TestClient, takes: str, sent: str, encoding: str | None
):
    path = "/assets/entry-1a2b.js"
    with client.stream("GET", path, headers={"Accept-Encoding": takes}) as answer:
        assert b"".join(answer.iter_raw()).decode() == sent
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_other_files_are_asked_for_each_time(client: TestClient):
    answer = client.get("/favicon.svg")
    assert (answer.text, answer.headers["cache-control"]) == ("<svg/>", "no-store")
    assert answer.headers["content-type"].startswith("image/svg+xml")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/assets/%2e%2e/%2e%2e/secret.txt",
        "/out.txt", "/%00", "/..%5csecret.txt", "/" + "x" * 5000, "/assets/",
    ],
)  # fmt: skip
def test_nothing_outside_the_console_is_ever_sent(client: TestClient, path: str):
    answer = client.get(path)
    assert (answer.status_code, "do not tell" in answer.text) == (404, False)


def test_where_it_is_not_built_a_page_tells_how(tmp_path: Path):
    client = TestClient(create_app(None, tmp_path / "none"), raise_server_exceptions=False)
    page = client.get("/", headers=PAGE)
    assert (page.status_code, "<code>make console</code>" in page.text) == (404, True)
    assert page.headers["content-security-policy"] == PAGE_POLICY
    assert "`make console`" in client.get("/").json()["detail"]
