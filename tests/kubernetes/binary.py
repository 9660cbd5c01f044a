"""Where is the control plane's program, and how is it built where it is not?

No package registry carries Kubernetes' servers, the Go module proxy carries their source: `controlplane/` is a small Go module
that makes one program of them. It is built once into a cache outside the source tree, under a name that changes with what it
is made of. `python -m tests.kubernetes.binary` builds it and prints its path.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).parent / "controlplane"
MODULE_FILES = ("go.mod", "go.sum")
PROGRAMS = {"controlplane": ".", "kubelet": "./kubelet"}
CACHE_VARIABLE = "QUOTATREE_CACHE"
LINKING_NEEDS_MIB = 4096
EVERY_SECONDS = 10.0


class CannotBuild(Exception):
    """There is no program and it cannot be made; the message says what to do."""


def program(name: str = "controlplane") -> Path:
    """Path of the program, which is built first if the cache does not have it."""
    go = _go()
    found = _place(go, name)
    if found.exists():
        return found
    found.parent.mkdir(parents=True, exist_ok=True)
    with _alone(found.parent / "lock"):
        if not found.exists():
            _build(go, name, found)
    return found


def is_built(name: str) -> bool:
    """Whether the cache has the program; False also where there is no Go to build it with."""
    try:
        return _place(_go(), name).exists()
    except CannotBuild:
        return False


def _place(go: str, name: str) -> Path:
    return cache() / f"{name}-{_key(name, _go_version(go))}" / name


def kubernetes_version() -> str:
    """Version of Kubernetes that go.mod asks for, as in v1.36.3."""
    found = re.search(r"k8s\.io/kubernetes (v\S+)", (SOURCE / "go.mod").read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def cache() -> Path:
    """Where programs are kept that were built or fetched once."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "quotatree"


def _go() -> str:
    go = shutil.which("go")
    if go is None:
        raise CannotBuild(
            "The stories on Kubernetes need Go, which builds the control plane they run against, and 'go' was not found on PATH. "
            f"Install Go {_go_needed()} or newer (https://go.dev/dl), then run this again. Everything else is tested without it: make test"
        )
    return go


def _go_needed() -> str:
    found = re.search(r"^go (\S+)$", (SOURCE / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def _go_version(go: str) -> str:
    """Version and platform that `go` builds with, as `go1.26.8 linux/amd64`."""
    asked = ["env", "GOVERSION", "GOOS", "GOARCH"]
    done = subprocess.run([go, *asked], cwd=SOURCE, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise CannotBuild(
            f"The stories on Kubernetes need Go {_go_needed()} or newer, and {go} says: {done.stderr.strip()}"
        )
    version, system, machine = done.stdout.split()
    return f"{version} {system}/{machine}"


def _key(name: str, go_version: str) -> str:
    digest = hashlib.sha256(go_version.encode())
    for file in (*MODULE_FILES, Path(PROGRAMS[name]) / "main.go"):
        digest.update((SOURCE / file).read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """While one process builds, others wait for it instead of building too."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(go: str, name: str, target: Path) -> None:
    _say(f"Building {name} of Kubernetes {kubernetes_version()}, once: 5 to 20 minutes, 3 GB of Go's caches.")
    _warn_of_little_memory()
    began = time.monotonic()
    total = _packages(go, name)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / name
        command = [
            go,
            "build",
            "-v",
            "-trimpath",
            "-ldflags",
            f"-s -w {_versions()}",
            "-o",
            str(made),
            PROGRAMS[name],
        ]
        _compile(command, total, began)
        made.replace(target)
    _say(
        f"{target} is ready after {time.monotonic() - began:.0f} s. 'go clean -cache -modcache' frees Go's own caches."
    )


def _packages(go: str, name: str) -> int:
    """How many packages the program is made of. Downloads their source."""
    _say("Fetching the source …")
    done = subprocess.run(
        [go, "list", "-deps", PROGRAMS[name]], cwd=SOURCE, env=_environment(), capture_output=True, text=True, check=False
    )  # fmt: skip
    if done.returncode != 0:
        raise CannotBuild(f"The source could not be fetched: {done.stderr.strip()[-2000:]}")
    return len(done.stdout.splitlines())


def _compile(command: list[str], total: int, began: float) -> None:
    """Run the build and tell every few seconds how far it is."""
    said = began
    tail: list[str] = []
    with subprocess.Popen(
        command, cwd=SOURCE, env=_environment(), stderr=subprocess.PIPE, text=True
    ) as building:  # fmt: skip
        assert building.stderr is not None
        for count, line in enumerate(building.stderr, start=1):
            tail = [*tail[-40:], line]
            if time.monotonic() - said > EVERY_SECONDS:
                said = time.monotonic()
                _say(f"  {count} of at most {total} packages compiled after {said - began:.0f} s")
    if building.returncode != 0:
        raise CannotBuild("The build failed:\n" + "".join(tail))


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0"}


def _versions() -> str:
    """Linker flags without which every part calls itself v0.0.0."""
    version = kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".")
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    places = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(f"-X {place}.{name}={value}" for place in places for name, value in values.items())


def _warn_of_little_memory() -> None:
    memory = Path("/proc/meminfo")
    found = re.search(r"MemAvailable:\s+(\d+)", memory.read_text()) if memory.exists() else None
    if found is not None and int(found[1]) < LINKING_NEEDS_MIB * 1024:
        _say(
            f"  Only {int(found[1]) // 1024} MiB of memory are available; linking wants {LINKING_NEEDS_MIB}."
        )


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def main(arguments: list[str]) -> int:
    try:
        sys.stdout.write(f"{program(*arguments)}\n")
    except CannotBuild as problem:
        _say(str(problem))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
