"""How does a real node start here? containerd and a kubelet in mount and process namespaces of their own: they end as one, with all mounts.

Images are made of one static busybox and imported; nothing is pulled. Pods get no network but their own loopback: a plugin of a few
lines tells containerd an address that nobody has.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from tests.kubernetes.binary import program
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.processes import Part, free_ports, until
from tests.kubernetes.runtime import Runtime, runtime

NAME = "real-0"
IMAGE = "local/busybox:1"
PAUSE = "local/pause:1"
GPUS = 2
CGROUPS = Path("/sys/fs/cgroup")
SCRIPT = """\
set -u
unset QUOTATREE_STOP_AT_EOF  # they end with this script, which has the pipe
for place in /run /var/lib /var/log; do mount -t tmpfs none $place || exit 1; done  # what they write there goes with them
containerd --config "$HOME/containerd.toml" >>"$HOME/containerd.log" 2>&1 </dev/null &
until ctr -a "$HOME/containerd.sock" version >/dev/null 2>&1; do sleep 0.1; done
for image in "$HOME"/*.tar; do ctr -a "$HOME/containerd.sock" -n k8s.io images import --snapshotter native "$image" || exit 1; done
{kubelet} >>"$HOME/kubelet.log" 2>&1 </dev/null &
cat >/dev/null  # until whoever started this is gone
"""
NETWORK = """\
#!/bin/sh
[ "$CNI_COMMAND" = ADD ] && echo '{"cniVersion": "0.4.0", "ips": [{"version": "4", "address": "192.0.2.2/32"}]}'
[ "$CNI_COMMAND" = VERSION ] && echo '{"cniVersion": "0.4.0", "supportedVersions": ["0.3.1", "0.4.0"]}'
exit 0
"""


@contextmanager
def real_node(cluster: Cluster) -> Iterator[str]:
    """A node on which containers really run, and that says it has GPUs; its name. What it made is gone afterwards."""
    home = cluster.home / "kubelet"
    home.mkdir()
    found = runtime()
    _images(home, found)
    _network(home)
    (home / "containerd.toml").write_text(_containerd(home))
    command = _kubelet(cluster, home)
    (home / "machine.sh").write_text(SCRIPT.format(kubelet=command))
    groups = _cgroups()
    apart = [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "bash",
        str(home / "machine.sh"),
    ]
    part = Part("machine", apart, home / "machine.log", {"HOME": str(home), "PATH": found.path})
    part.start()
    try:
        until(lambda: _ready(cluster, part, home), "the kubelet's node is Ready", 120)
        amounts = {"nvidia.com/gpu": str(GPUS)}
        path = f"/api/v1/nodes/{NAME}"
        cluster.api.merge(f"{path}/status", {"status": {"capacity": amounts, "allocatable": amounts}})
        yield NAME
    finally:
        part.kill()
        for one in sorted(_cgroups() - groups, key=lambda path: len(path.parts), reverse=True):
            with suppress(OSError):
                one.rmdir()
        with suppress(Exception):
            cluster.api.delete(f"/api/v1/nodes/{NAME}")


def _ready(cluster: Cluster, part: Part, home: Path) -> bool:
    log = home / "kubelet.log"
    assert part.alive, f"{part.tail()}\n{log.read_text()[-2000:] if log.exists() else ''}"
    return NAME in cluster.nodes.ready()


def _kubelet(cluster: Cluster, home: Path) -> str:
    port, healthy = free_ports(2)
    keys = cluster.home / "certificates"
    config: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": "127.0.0.1",
        "port": port,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": healthy,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(keys / "ca.crt")},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "tlsCertFile": str(keys / "kubelet.crt"),
        "tlsPrivateKeyFile": str(keys / "kubelet.key"),
        "containerRuntimeEndpoint": f"unix://{home / 'containerd.sock'}",
        "cgroupDriver": "cgroupfs",
        "failCgroupV1": False,
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "nodeStatusUpdateFrequency": "2s",
        "nodeLeaseDurationSeconds": cluster.speed.lease_seconds,
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "evictionHard": {"memory.available": "1Mi", "nodefs.available": "0%", "imagefs.available": "0%"},
        "podLogsDir": str(home / "pod-logs"),
    }
    path = home / "kubelet.yaml"
    path.write_text(yaml.safe_dump(config))
    words = [
        str(program("kubelet")),
        f"--config={path}",
        f"--kubeconfig={cluster.kubeconfig_of(f'system:node:{NAME}', ('system:nodes',))}",
        f"--hostname-override={NAME}",
        f"--root-dir={home / 'root'}",
        f"--cert-dir={home / 'pki'}",
        "--node-labels=nvidia.com/gpu.product=A100",
    ]
    return " ".join(words)


def _containerd(home: Path) -> str:
    return f"""
version = 2
root = "{home}/containerd/root"
state = "{home}/containerd/state"
[grpc]
address = "{home}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/{PAUSE}"
restrict_oom_score_adj = true
disable_tcp_service = true
disable_apparmor = true
stream_server_address = "127.0.0.1"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{home}/cni"
conf_dir = "{home}/cni.d"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""


def _network(home: Path) -> None:
    (home / "cni").mkdir()
    for name in ("none", "loopback"):
        plugin = home / "cni" / name
        plugin.write_text(NETWORK)
        plugin.chmod(0o755)
    (home / "cni.d").mkdir()
    (home / "cni.d" / "none.conf").write_text('{"cniVersion": "0.4.0", "name": "none", "type": "none"}')


def _images(home: Path, found: Runtime) -> None:
    """Two images of one file: one that waits for ever, and one with a shell."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(found.busybox, arcname="bin/busybox")
        for name in ("sh", "cat", "sleep", "echo"):
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
    for tag, command in ((PAUSE, ["/bin/sleep", "1000000"]), (IMAGE, ["/bin/sh"])):
        _image(home / f"{tag.partition('/')[2].partition(':')[0]}.tar", tag, command, layer.getvalue())


def _image(path: Path, tag: str, command: list[str], layer: bytes) -> None:
    config = {
        "architecture": "amd64" if os.uname().machine == "x86_64" else "arm64",
        "os": "linux",
        "config": {"Entrypoint": command, "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [f"docker.io/{tag}"], "Layers": ["layer.tar"]}]
    files = {
        "config.json": json.dumps(config).encode(),
        "layer.tar": layer,
        "manifest.json": json.dumps(manifest).encode(),
    }
    with tarfile.open(path, "w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def _cgroups() -> set[Path]:
    return {Path(place) for place, _, _ in os.walk(CGROUPS)}
