"""How do we talk to the API of a cluster? The one module that knows the official client, and imports it late.

The client library finds the cluster, its certificates and tokens (kubeconfig, or the service account of a pod) and keeps
connections. Objects pass as plain JSON: reading a large list into the library's models costs five times as much. Every
call has a time-out. All methods may be used from any thread.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from quotatree.engines.kubernetes.errors import UNREACHED, ClusterError, NoClient, error_of
from quotatree.engines.kubernetes.kinds import Kind, Object

CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 30.0
PAGE: Final = 500
CONNECTIONS: Final = 32
WATCH_MARGIN_SECONDS: Final = 10.0
MERGE_PATCH: Final = "application/merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
JSON: Final = "application/json"
FIELD_MANAGER: Final = "quotatree"

Query = Mapping[str, str | int | bool]


def connect(kubeconfig: Path | None = None, context: str | None = None) -> Cluster:
    """Return the cluster of a kubeconfig, else of the pod that this process runs in, else of the user's own kubeconfig.

    Nothing is sent yet. Raises NoClient if the library is missing or finds no cluster.
    """
    try:
        from kubernetes import client, config
    except ImportError as error:
        raise NoClient(
            "the Kubernetes client is not installed: pip install 'quotatree[kubernetes]'"
        ) from error
    configuration = client.Configuration()
    try:
        if kubeconfig is None and context is None and _in_a_pod():
            config.load_incluster_config(configuration)
        else:
            file = None if kubeconfig is None else str(kubeconfig)
            config.load_kube_config(
                file, context=context, client_configuration=configuration, persist_config=False
            )
    except (config.ConfigException, OSError) as error:
        raise NoClient(f"no cluster was found: {error}; name a file with --kubeconfig") from error
    configuration.connection_pool_maxsize = CONNECTIONS
    configuration.keep_alive = True
    return Cluster(client.ApiClient(configuration))


def _in_a_pod() -> bool:
    return "KUBERNETES_SERVICE_HOST" in os.environ


def bearer_token(kubeconfig: Path | None = None, context: str | None = None) -> str:
    """The token that kubectl would send for the user of a context: given, read from a file, or made by a plugin.

    None: the current context, of the user's own kubeconfig. Raises NoClient if there is no token to show.
    """
    try:
        from kubernetes import client, config
    except ImportError as error:
        raise NoClient(
            "the Kubernetes client is not installed: pip install 'quotatree[kubernetes]'"
        ) from error
    found = client.Configuration()
    try:
        file = None if kubeconfig is None else str(kubeconfig)
        config.load_kube_config(file, context=context, client_configuration=found, persist_config=False)
    except (config.ConfigException, OSError) as error:
        raise NoClient(f"the kubeconfig cannot be used: {error}") from error
    said = found.get_api_key_with_prefix("BearerToken", "authorization") or ""
    token = str(said).removeprefix("Bearer ").strip()
    if not token:
        raise NoClient(
            "this user of the kubeconfig has no token to show, only a certificate or nothing: "
            "log in with --oidc or --token-file"
        )
    return token


class Cluster:
    """The API of one cluster. `requests` counts what was sent, by method; a watch counts once."""

    def __init__(self, api: Any) -> None:
        from urllib3 import Retry
        from urllib3.exceptions import HTTPError

        self._api = api
        self._broken: tuple[type[Exception], ...] = (HTTPError, OSError)
        # A kept connection may have died: once more is enough, and creating anything is never repeated by itself.
        self._retry = Retry(total=1, redirect=0, status=0, other=0)
        self._api.configuration.retries = self._retry
        self._api.rest_client.pool_manager.connection_pool_kw["retries"] = self._retry
        self._counting = threading.Lock()
        self.requests: Counter[str] = Counter()

    @property
    def host(self) -> str:
        return str(self._api.configuration.host)

    def get(self, kind: Kind, namespace: str | None, name: str) -> Object:
        return self._json("GET", kind.path(namespace, name))

    def page(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = "", token: str = ""
    ) -> Object:
        """One page of a list. Its metadata has the `resourceVersion` to watch from, and the token of the next page."""
        query: dict[str, str | int | bool] = {"limit": PAGE}
        if token:
            query["continue"] = token
        return self._json("GET", kind.path(namespace), {**query, **_selecting(labels, fields)})

    def items(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Iterator[Object]:
        """All objects of a kind, read page by page."""
        token = ""
        while True:
            page = self.page(kind, namespace, labels=labels, fields=fields, token=token)
            yield from page["items"]
            token = page["metadata"].get("continue", "")
            if not token:
                return

    def create(
        self,
        kind: Kind,
        namespace: str | None,
        body: Object,
        *,
        dry_run: bool = False,
        seconds: float = READ_SECONDS,
    ) -> Object:
        """Create an object; with `dry_run` the server only checks it. Raises Clash if there is one of that name."""
        query: dict[str, str | int | bool] = {"fieldManager": FIELD_MANAGER}
        if dry_run:
            query["dryRun"] = "All"
        return self._json("POST", kind.path(namespace), query, _typed(kind, body), seconds=seconds)

    def merge(
        self,
        kind: Kind,
        namespace: str | None,
        name: str,
        patch: Object,
        *,
        sub: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Change the fields that `patch` names; None takes a field away. With metadata.resourceVersion in it, it raises
        Clash if somebody else was quicker.
        """
        query: dict[str, str | int | bool] = {"fieldManager": FIELD_MANAGER}
        if dry_run:
            query["dryRun"] = "All"
        return self._json("PATCH", kind.path(namespace, name, sub), query, patch, MERGE_PATCH)

    def apply(
        self, kind: Kind, namespace: str | None, name: str, body: Object, *, dry_run: bool = False
    ) -> Object:
        """Make an object so, whether it exists or not (server-side apply); takes fields over from other managers."""
        query: dict[str, str | int | bool] = {"fieldManager": FIELD_MANAGER, "force": True}
        if dry_run:
            query["dryRun"] = "All"
        return self._json("PATCH", kind.path(namespace, name), query, _typed(kind, body), APPLY_PATCH)

    def delete(
        self,
        kind: Kind,
        namespace: str | None,
        name: str,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        background: bool = True,
    ) -> bool:
        """Delete an object; return False if there was none. With a `uid`, another object of that name is left alone."""
        body: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if background:
            body["propagationPolicy"] = "Background"
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        try:
            self._json("DELETE", kind.path(namespace, name), None, body)
        except ClusterError as error:
            if error.status == 404 or (error.status == 409 and uid is not None):
                return False
            raise
        return True

    def read(self, path: str, query: Query | None = None, most_bytes: int | None = None) -> bytes:
        """The raw answer to a GET, at most so many bytes of it: logs."""
        with self._answer("GET", path, query, None, JSON, READ_SECONDS) as response:
            return bytes(response.read(most_bytes)) if most_bytes is not None else bytes(response.read())

    @contextmanager
    def watch(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        version: str,
        seconds: int,
        labels: str = "",
        fields: str = "",
    ) -> Iterator[Stream]:
        """What changes after `version`, for so many seconds: a stream that another thread may end by `shut`."""
        query: Query = {
            "watch": True,
            "allowWatchBookmarks": True,
            "resourceVersion": version,
            "timeoutSeconds": seconds,
            **_selecting(labels, fields),
        }
        with self._answer(
            "GET", kind.path(namespace), query, None, JSON, seconds + WATCH_MARGIN_SECONDS
        ) as response:
            yield Stream(response, self._broken)

    def close(self) -> None:
        self._api.close()

    def _json(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        body: Object | None = None,
        sort: str = JSON,
        seconds: float = READ_SECONDS,
    ) -> Object:
        with self._answer(method, path, query, body, sort, seconds) as response:
            data = response.read()
        found: Object = json.loads(data)
        return found

    @contextmanager
    def _answer(
        self, method: str, path: str, query: Query | None, body: Object | None, sort: str, seconds: float
    ) -> Iterator[Any]:
        """Send a request; yield the answer, not read yet. Raises ClusterError, also while the answer is read."""
        with self._counting:
            self.requests[method] += 1
        headers = {"Accept": JSON, "Content-Type": sort}
        try:
            sent = self._api.param_serialize(
                method,
                _with_query(path, query),
                header_params=headers,
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = self._api.call_api(*sent, _request_timeout=(CONNECT_SECONDS, seconds)).response
        except self._broken as error:
            raise ClusterError(
                UNREACHED, type(error).__name__, f"{self.host} was not reached: {error}"
            ) from error
        whole = False
        try:
            if not 200 <= answer.status <= 299:
                raise error_of(answer.status, answer.read())
            yield answer
            whole = True
        except self._broken as error:
            raise ClusterError(UNREACHED, type(error).__name__, f"{self.host} went away: {error}") from error
        finally:
            # A connection whose answer was not read to its end cannot be used again.
            if whole:
                answer.release_conn()
            else:
                answer.close()


class Stream:
    """The events of a watch, as they come: `{"type": "ADDED", "object": …}`."""

    def __init__(self, response: Any, broken: tuple[type[Exception], ...]) -> None:
        self._response = response
        self._broken = broken

    def __iter__(self) -> Iterator[Object]:
        rest = b""
        for chunk in self._response.stream(65_536, decode_content=True):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield json.loads(line)

    def shut(self) -> None:
        """End the stream from another thread; its reader sees the end, or a ClusterError."""
        try:
            self._response.shutdown()
        except Exception as error:
            if not isinstance(error, (*self._broken, ValueError, RuntimeError)):
                raise


def _selecting(labels: str, fields: str) -> dict[str, str]:
    return {name: said for name, said in (("labelSelector", labels), ("fieldSelector", fields)) if said}


def _typed(kind: Kind, body: Object) -> Object:
    return {"apiVersion": kind.api, "kind": kind.name, **body}


def _with_query(path: str, query: Query | None) -> str:
    if not query:
        return path
    plain = {name: str(said).lower() if isinstance(said, bool) else said for name, said in query.items()}
    return f"{path}?{urlencode(plain)}"
