"""Where are containerd, runc and a static busybox? On PATH, or unpacked from Debian's packages into the cache.

Containers need root and these programs. `python -m tests.kubernetes.runtime` fetches and unpacks them once, where apt-get is
there; a test only looks, and says what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.kubernetes.binary import cache, is_built

PACKAGES = ("containerd", "runc", "busybox-static")
PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "runc", "busybox")
FETCH_SECONDS = 300


class Runtime(NamedTuple):
    """`path`: for the variable PATH, so that the programs find each other. `busybox`: a program that needs no library."""

    path: str
    busybox: Path


def missing() -> str:
    """What a machine lacks to run containers, and what to do; "" if nothing."""
    if os.geteuid() != 0:
        return "a real kubelet needs root"
    lacking = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if lacking:
        return (
            f"{', '.join(lacking)}: not found on PATH nor in {_unpacked()}; on Debian and Ubuntu "
            "`python -m tests.kubernetes.runtime` fetches them"
        )
    if not is_built("kubelet"):
        return "the kubelet is not built: `python -m tests.kubernetes.binary kubelet` does it, once"
    return ""


def runtime() -> Runtime:
    assert not missing(), missing()
    found = shutil.which("busybox", path=_path())
    assert found is not None
    return Runtime(_path(), Path(found))


def _unpacked() -> Path:
    return cache() / "containerd"


def _path() -> str:
    own = [str(_unpacked() / part) for part in ("usr/bin", "usr/sbin", "bin")]
    return os.pathsep.join([*own, os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")])


def main() -> int:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        sys.stderr.write(f"apt-get is not here: install {', '.join(PACKAGES)} as your system does it\n")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o777)  # apt-get downloads as a user of its own
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=scratch, check=True, timeout=FETCH_SECONDS)
        for package in sorted(Path(scratch).glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", str(package), str(_unpacked())], check=True)
    sys.stdout.write(f"{_unpacked()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
