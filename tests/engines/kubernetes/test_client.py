"""What does the client send, and what does it make of an answer? Against a few canned answers on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from quotatree.engines.kubernetes.client import Cluster, connect
from quotatree.engines.kubernetes.errors import (
    Clash,
    ClusterError,
    Denied,
    Expired,
    Missing,
    NoClient,
    error_of,
)
from quotatree.engines.kubernetes.kinds import JOBS, NODES, PODS


class Canned(BaseHTTPRequestHandler):
    """Answers every request with the next of `answers`, and notes in `asked` what came."""

    answers: list[tuple[int, bytes]]
    asked: list[tuple[str, str, str, object]]
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.asked.append((self.command, self.path, self.headers.get("Content-Type", ""), body))
        status, said = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


class Served:
    def __init__(self, cluster: Cluster, handler: type[Canned]) -> None:
        self.cluster = cluster
        self.answers = handler.answers
        self.asked = handler.asked


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    handler = type("Handler", (Canned,), {"answers": [], "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    cluster = connect(kubeconfig(tmp_path, server.server_port))
    yield Served(cluster, handler)
    cluster.close()
    server.shutdown()
    thread.join()
    server.server_close()


def kubeconfig(directory: Path, port: int) -> Path:
    file = directory / "config"
    file.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
                "users": [{"name": "u", "user": {"token": "secret"}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return file


def test_paths_name_the_api_the_namespace_and_the_part():
    assert PODS.path() == "/api/v1/pods"
    assert PODS.path("a", "b", "log") == "/api/v1/namespaces/a/pods/b/log"
    assert JOBS.path("a") == "/apis/batch/v1/namespaces/a/jobs"
    assert NODES.path(None, "n/1") == "/api/v1/nodes/n%2F1"


def test_a_list_is_read_page_by_page(served: Served):
    first = {"items": [{"n": 1}], "metadata": {"continue": "more"}}
    served.answers += [(200, json.dumps(first).encode()), (200, b'{"items": [{"n": 2}], "metadata": {}}')]
    assert list(served.cluster.items(PODS, labels="app=x")) == [{"n": 1}, {"n": 2}]
    assert [path for _, path, _, _ in served.asked] == [
        "/api/v1/pods?limit=500&labelSelector=app%3Dx",
        "/api/v1/pods?limit=500&continue=more&labelSelector=app%3Dx",
    ]


def test_what_is_created_carries_its_kind_and_a_dry_run_says_so(served: Served):
    served.answers.append((201, b"{}"))
    served.cluster.create(PODS, "a", {"metadata": {"name": "b"}}, dry_run=True)
    assert served.asked == [
        (
            "POST",
            "/api/v1/namespaces/a/pods?fieldManager=quotatree&dryRun=All",
            "application/json",
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}},
        )
    ]


def test_patches_say_of_which_sort_they_are(served: Served):
    served.answers += [(200, b"{}"), (200, b"{}")]
    served.cluster.merge(PODS, "a", "b", {"metadata": {"labels": {"x": None}}})
    served.cluster.apply(PODS, "a", "b", {"metadata": {"name": "b"}})
    assert [sort for _, _, sort, _ in served.asked] == [
        "application/merge-patch+json",
        "application/apply-patch+yaml",
    ]


def test_deleting_what_is_gone_or_another_of_that_name_is_no_error(served: Served):
    served.answers += [(200, b"{}"), (404, b"{}"), (409, b"{}")]
    assert served.cluster.delete(PODS, "a", "b", grace_seconds=5, uid="u")
    assert not served.cluster.delete(PODS, "a", "b")
    assert not served.cluster.delete(PODS, "a", "b", uid="u")
    assert served.asked[0][3] == {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "propagationPolicy": "Background",
        "gracePeriodSeconds": 5,
        "preconditions": {"uid": "u"},
    }


def test_a_refusal_carries_the_words_of_the_server(served: Served):
    status = {"kind": "Status", "reason": "Invalid", "message": "spec.containers: Required value"}
    served.answers.append((422, json.dumps(status).encode()))
    with pytest.raises(ClusterError, match=r"spec\.containers: Required value") as caught:
        served.cluster.create(PODS, "a", {})
    assert (caught.value.status, caught.value.reason, caught.value.transient) == (422, "Invalid", False)


def test_errors_are_told_apart_by_their_status():
    assert type(error_of(404, b"")) is Missing
    assert type(error_of(409, b"")) is Clash
    assert type(error_of(403, b"no")) is Denied
    assert type(error_of(410, b"")) is Expired
    assert str(error_of(502, b"<html>bad gateway</html>")) == "<html>bad gateway</html>"
    assert error_of(502, b"").transient


def test_a_watch_gives_events_as_they_come(served: Served):
    served.answers.append((200, b'{"type": "ADDED", "object": {}}\n\n{"type": "DELETED", "object": {}}\n'))
    with served.cluster.watch(PODS, "a", version="7", seconds=5) as stream:
        assert [event["type"] for event in stream] == ["ADDED", "DELETED"]
    assert served.asked[0][1] == (
        "/api/v1/namespaces/a/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=5"
    )


def test_a_server_that_is_not_there_is_an_error_of_the_cluster(served: Served, tmp_path: Path):
    cluster = connect(kubeconfig(tmp_path, 1))
    with pytest.raises(ClusterError) as caught:
        cluster.get(PODS, "a", "b")
    assert caught.value.transient
    assert caught.value.status == 0


def test_a_kubeconfig_that_is_not_there_says_what_to_do(tmp_path: Path):
    with pytest.raises(NoClient, match="--kubeconfig"):
        connect(tmp_path / "none")


def test_requests_are_counted_by_method(served: Served):
    served.answers += [(200, b"{}"), (404, b"{}")]
    served.cluster.create(PODS, "a", {})
    served.cluster.delete(PODS, "a", "b")
    assert served.cluster.requests == {"POST": 1, "DELETE": 1}
