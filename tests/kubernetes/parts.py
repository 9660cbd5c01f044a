"""With which arguments does each part of the control plane start, and why?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tests.kubernetes.nodes import MANAGED

if TYPE_CHECKING:
    from tests.kubernetes.cluster import Cluster

HERE = Path(__file__).parent
AUDIT_FILE = "audit.log"
OIDC_CLIENT = "kubernetes"
OIDC_PREFIX = "oidc:"
# Static tokens of people: token, name, uid.
PEOPLE = (("the-token-of-ann", "ann", "1001"), ("the-token-of-a-stranger", "zoe", "1002"))
# What service accounts of ours ask for, and nothing of what the control plane asks itself.
AUDITED = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]},
        {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
        {"level": "None"},
    ],
}


def commands(cluster: Cluster) -> dict[str, list[str]]:
    """Arguments of every part, by its name, in the order of start."""
    return {
        "etcd": _etcd(cluster),
        "kube-apiserver": _api_server(cluster),
        "kube-controller-manager": _controller_manager(cluster),
        "kube-scheduler": _scheduler(cluster),
        "kwok": _kwok(cluster),
    }


def _etcd(cluster: Cluster) -> list[str]:
    client, peer = (f"http://127.0.0.1:{port}" for port in (cluster.etcd_port, cluster.peer_port))
    return [
        "etcd",
        "--name=test",
        f"--data-dir={cluster.home / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=test={peer}",
        "--unsafe-no-fsync",  # the machine does not lose power in a test
        "--log-level=warn",
    ]


def _api_server(cluster: Cluster) -> list[str]:
    keys = cluster.home / "certificates"
    policy = cluster.home / "audit-policy.yaml"
    policy.write_text(yaml.safe_dump(AUDITED))
    return [
        "kube-apiserver",
        f"--etcd-servers=http://127.0.0.1:{cluster.etcd_port}",
        "--bind-address=127.0.0.1",
        f"--secure-port={cluster.port}",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",  # the others refuse a loopback address
        f"--tls-cert-file={keys / 'apiserver.crt'}",
        f"--tls-private-key-file={keys / 'apiserver.key'}",
        f"--client-ca-file={keys / 'ca.crt'}",
        f"--requestheader-client-ca-file={keys / 'ca.crt'}",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--authorization-mode=Node,RBAC",
        "--anonymous-auth=false",
        f"--service-account-issuer={cluster.server}",
        f"--service-account-key-file={keys / 'accounts.key'}",
        f"--service-account-signing-key-file={keys / 'accounts.key'}",
        "--service-cluster-ip-range=10.96.0.0/16",
        f"--kubelet-client-certificate={keys / 'apiserver-to-kubelet.crt'}",
        f"--kubelet-client-key={keys / 'apiserver-to-kubelet.key'}",
        f"--kubelet-certificate-authority={keys / 'ca.crt'}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--token-auth-file={_people(cluster)}",
        f"--oidc-issuer-url={cluster.issuer_url}",  # looked for until it is there, and missed by nobody else
        f"--oidc-client-id={OIDC_CLIENT}",
        "--oidc-username-claim=email",
        f"--oidc-username-prefix={OIDC_PREFIX}",
        "--oidc-signing-algs=ES256",
        f"--oidc-ca-file={keys / 'ca.crt'}",
        f"--audit-policy-file={policy}",
        f"--audit-log-path={cluster.home / AUDIT_FILE}",
        "--allow-privileged=true",
        "--profiling=false",
        "--shutdown-delay-duration=0s",
    ]


def _people(cluster: Cluster) -> Path:
    file = cluster.home / "people.csv"
    file.write_text("".join(f"{','.join(one)}\n" for one in PEOPLE))
    file.chmod(0o600)
    return file


def _controller_manager(cluster: Cluster) -> list[str]:
    keys = cluster.home / "certificates"
    return [
        "kube-controller-manager",
        f"--kubeconfig={cluster.home / 'system-kube-controller-manager.kubeconfig'}",
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={keys / 'accounts.key'}",
        f"--root-ca-file={keys / 'ca.crt'}",
        "--node-monitor-period=1s",
        f"--node-monitor-grace-period={cluster.speed.monitor_grace_seconds}s",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--profiling=false",
    ]


def _scheduler(cluster: Cluster) -> list[str]:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(cluster.home / "system-kube-scheduler.kubeconfig"),
            "qps": 500,
            "burst": 1000,
        },
    }
    path = cluster.home / "scheduler.yaml"
    path.write_text(yaml.safe_dump(config))
    return ["kube-scheduler", f"--config={path}", "--bind-address=127.0.0.1", "--secure-port=0"]


def _kwok(cluster: Cluster) -> list[str]:
    keys = cluster.home / "certificates"
    log, stages = cluster.home / "pod.log", cluster.home / "stages.yaml"
    log.write_text("2026-01-01T00:00:00.000000000Z stdout F hello from a pod\n")
    stages.write_text((HERE / "stages.yaml").read_text().replace("LOG_FILE", str(log)))
    return [
        "kwok",
        f"--kubeconfig={cluster.kubeconfig}",
        f"--config={stages}",
        f"--manage-nodes-with-label-selector={MANAGED}",  # a node without the label is a dead one
        f"--node-lease-duration-seconds={cluster.speed.lease_seconds}",
        f"--server-address=127.0.0.1:{cluster.kubelet_port}",  # by default it listens everywhere
        "--node-ip=127.0.0.1",
        f"--node-port={cluster.kubelet_port}",
        f"--tls-cert-file={keys / 'kubelet.crt'}",
        f"--tls-private-key-file={keys / 'kubelet.key'}",
        "--cidr=10.64.0.0/10",
    ]
