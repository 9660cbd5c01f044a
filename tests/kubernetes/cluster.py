"""How does a whole cluster start here? etcd, API server, controller manager, scheduler and kwok on free ports of 127.0.0.1.

Connections to the API server use TLS, and RBAC is on: a test that should have few rights has few. `with Cluster.started() as
cluster:` leaves nothing behind; where this process is killed, its folder in /tmp stays and no process does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.kubernetes.api import Api, Denied, Thing, names
from tests.kubernetes.binary import program
from tests.kubernetes.certificates import Authority
from tests.kubernetes.nodes import Nodes
from tests.kubernetes.parts import AUDIT_FILE, commands
from tests.kubernetes.processes import Part, free_ports, until

START_SECONDS = 120.0
COMMAND_SECONDS = 60.0
KEPT_VARIABLE = "QUOTATREE_KEEP_CLUSTER"  # keep the folder with all logs, and say nothing more


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast the cluster notices a lost node. 1,000 nodes with the lease of tests would renew it 500 times a second."""

    lease_seconds: int = 8
    monitor_grace_seconds: int = 16  # longer than etcd is away in a story, and the pause between two looks


class Asked(NamedTuple):
    """One request: API group ("" for the core), resource with its part ("pods/log"), verb, and the answer's status."""

    group: str
    resource: str
    verb: str
    status: int


class Cluster:
    def __init__(self, home: Path, tool: Path, speed: Speed) -> None:
        self.home = home
        self.speed = speed
        self._tool = tool
        self._authority = Authority(home / "certificates")
        for server in ("apiserver", "kubelet"):
            self._authority.serve(server)
        self._authority.key("accounts")
        self.etcd_port, self.peer_port, self.port, self.kubelet_port, self.issuer_port = free_ports(5)
        self.kubeconfig = self.kubeconfig_of("admin", ("system:masters",))
        for user in ("system:kube-controller-manager", "system:kube-scheduler"):
            self.kubeconfig_of(user)
        self._authority.client("apiserver-to-kubelet", "kube-apiserver", ("system:masters",))
        self.parts = {
            name: Part(name, [str(tool), *command], home / f"{name}.log", {"HOME": str(home)})
            for name, command in commands(self).items()
        }
        self.api = Api(self.kubeconfig)
        self.nodes = Nodes(self.api)

    @classmethod
    @contextmanager
    def started(cls, speed: Speed | None = None) -> Iterator[Cluster]:
        """A cluster without nodes whose API server is ready and whose default objects are there."""
        home = Path(tempfile.mkdtemp(prefix="quotatree-cluster-"))
        cluster = cls(home, program(), speed or Speed())
        try:
            cluster.start_all()
            yield cluster
        finally:
            cluster.close()
            if KEPT_VARIABLE not in os.environ:
                shutil.rmtree(home, ignore_errors=True)

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def issuer_url(self) -> str:
        """The identity provider whose tokens the API server believes: see issuer.py."""
        return f"https://127.0.0.1:{self.issuer_port}"

    def certificate_of_server(self, name: str) -> Path:
        """Certificate of another server on this machine; its key stands beside it."""
        return self._authority.serve(name)

    def start_all(self) -> None:
        self.parts["etcd"].start()
        self.parts["kube-apiserver"].start()
        self.wait_ready()
        for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
            self.parts[name].start()
        until(
            lambda: self.api.find("/api/v1/namespaces/default/serviceaccounts/default"), "a service account"
        )

    def wait_ready(self) -> None:
        """Wait until the API server is ready, and say what its log says if it dies."""
        server = self.parts["kube-apiserver"]

        def ready() -> bool:
            assert server.alive, f"the API server ended:\n{server.tail()}"
            return self.api.ready()

        until(ready, "the API server is ready", START_SECONDS)

    def kill(self, name: str) -> None:
        self.parts[name].kill()

    def restart(self, name: str) -> None:
        """kill -9 and begin again. Returns when the API server is ready."""
        self.parts[name].kill()
        self.parts[name].start()
        self.wait_ready()

    @contextmanager
    def without(self, name: str, seconds: float) -> Iterator[None]:
        """Kill a part, and start it again so many seconds later, after what is done meanwhile."""
        self.parts[name].kill()
        back = time.monotonic() + seconds
        yield
        threading.Event().wait(max(0.0, back - time.monotonic()))
        self.parts[name].start()
        self.wait_ready()

    def clear(self, keep: set[str]) -> None:
        """Take away all nodes, all pods and Jobs of the namespaces to keep, and all other namespaces; returns when they are gone."""
        for name in names(self.api.items("/api/v1/nodes")):
            self.nodes.remove(name)
        found = names(self.api.items("/api/v1/namespaces"))
        for name in found:
            if name in keep:
                for path in (f"/apis/batch/v1/namespaces/{name}/jobs", f"/api/v1/namespaces/{name}/pods"):
                    self._ask_to_go(path)
            else:
                self.api.delete(f"/api/v1/namespaces/{name}")
        # Nobody plays pods without a node, so nobody lets them go either.
        until(self._force_pods, "all pods are gone")
        until(lambda: set(names(self.api.items("/api/v1/namespaces"))) <= keep, "all namespaces are gone")

    def _ask_to_go(self, path: str) -> None:
        for name in names(self.api.items(path)):
            with suppress(Denied):  # its owner was quicker
                self.api.delete(f"{path}/{name}", gracePeriodSeconds=0, propagationPolicy="Background")

    def _force_pods(self) -> bool:
        pods = self.api.items("/api/v1/pods")
        for one in pods:
            path = f"/api/v1/namespaces/{one['metadata']['namespace']}/pods/{one['metadata']['name']}"
            with suppress(Denied):
                if one["metadata"].get("finalizers"):
                    self.api.merge(path, {"metadata": {"finalizers": None}})
                self.api.delete(path, gracePeriodSeconds=0)
        return not pods

    def close(self) -> None:
        self.api.close()
        for part in reversed(self.parts.values()):
            part.kill()

    def kubeconfig_of(self, user: str, groups: tuple[str, ...] = ()) -> Path:
        """Kubeconfig of a user known by a certificate."""
        file = user.replace(":", "-")
        certificate = self._authority.client(file, user, groups)
        keys = {
            "client-certificate": str(certificate),
            "client-key": str(certificate.with_suffix(".key")),
        }
        return self._write_kubeconfig(file, keys)

    def kubeconfig_of_account(self, namespace: str, account: str, hours: int = 1) -> Path:
        """Kubeconfig of a service account, with a token as a pod of it would get."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        asked: Thing = {"spec": {"expirationSeconds": 3600 * hours}}
        token = self.api.create(path, asked)["status"]["token"]
        return self._write_kubeconfig(f"{namespace}-{account}", {"token": token})

    def kubeconfig_with_token(self, file: str, token: str) -> Path:
        """Kubeconfig of whoever has this token."""
        return self._write_kubeconfig(file, {"token": token})

    def kubectl(self, *arguments: str, kubeconfig: Path | None = None, input: str | None = None) -> str:
        """What kubectl prints; a failure raises with what it said."""
        return self._run("kubectl", arguments, kubeconfig, input)

    def helm(self, *arguments: str, kubeconfig: Path | None = None) -> str:
        return self._run("helm", arguments, kubeconfig, None)

    def asked_by(self, user: str) -> list[Asked]:
        """Everything that a service account asked the API server for, in order."""
        found = []
        for line in (self.home / AUDIT_FILE).read_text().splitlines():
            entry = json.loads(line)
            about = entry.get("objectRef")
            if entry["user"]["username"] == user and about is not None:
                resource = "/".join(filter(None, (about.get("resource", ""), about.get("subresource"))))
                code = entry.get("responseStatus", {}).get("code", 0)
                found.append(Asked(about.get("apiGroup", ""), resource, entry["verb"], code))
        return found

    def _run(self, tool: str, arguments: tuple[str, ...], kubeconfig: Path | None, input: str | None) -> str:
        environment = {**os.environ, "HOME": str(self.home), "KUBECONFIG": str(kubeconfig or self.kubeconfig)}
        done = subprocess.run(
            [str(self._tool), tool, *arguments], env=environment, input=input, capture_output=True, text=True,
            timeout=COMMAND_SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{tool} {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def _write_kubeconfig(self, file: str, user: Thing) -> Path:
        cluster = {"server": self.server, "certificate-authority": str(self._authority.certificate)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": file, "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": file}}],
            "current-context": "test",
        }
        path = self.home / f"{file}.kubeconfig"
        path.write_text(yaml.safe_dump(config))
        path.chmod(0o600)
        return path
