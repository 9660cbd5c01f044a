"""Where is a program that is written in Go, and how is it built where it is not?

No package registry carries the servers that some tests run against, the Go module proxy carries their source: beside such tests
stands a small Go module that names what is built, and pins it. A program is built once into a cache outside the source tree,
under a name that changes with what it is made of.
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
from dataclasses import dataclass
from pathlib import Path

MODULE_FILES = ("go.mod", "go.sum")
CACHE_VARIABLE = "QUOTATREE_CACHE"
EVERY_SECONDS = 10.0


class CannotBuild(Exception):
    """There is no program and it cannot be made; the message says what to do."""


class GoMissing(CannotBuild):
    """There is no Go at all."""


@dataclass(frozen=True)
class GoProgram:
    """`files` of `module` are what the program changes with; `needed_by`, `title` and `price` are for those who wait for it."""

    name: str
    module: Path
    package: str
    needed_by: str
    title: str
    price: str
    linking_mib: int
    files: tuple[str, ...] = ()
    tags: str = ""
    linker_flags: str = ""

    def path(self) -> Path:
        """Path of the program, which is built first if the cache does not have it."""
        go = self._go()
        found = self._place(go)
        if found.exists():
            return found
        found.parent.mkdir(parents=True, exist_ok=True)
        with _alone(found.parent / "lock"):
            if not found.exists():
                self._build(go, found)
        return found

    def is_built(self) -> bool:
        """Whether the cache has the program; False also where there is no Go to build it with."""
        try:
            return self._place(self._go()).exists()
        except CannotBuild:
            return False

    def key(self, go_version: str) -> str:
        """Digest of what the program is made of and with."""
        digest = hashlib.sha256(go_version.encode())
        for file in (*MODULE_FILES, *self.files):
            digest.update((self.module / file).read_bytes())
        digest.update(self.tags.encode())
        return digest.hexdigest()[:16]

    def _place(self, go: str) -> Path:
        return cache() / f"{self.name}-{self.key(self._go_version(go))}" / self.name

    def _go(self) -> str:
        go = shutil.which("go")
        if go is None:
            raise GoMissing(
                f"{self.needed_by} need Go, which builds {self.title}, and 'go' was not found on PATH. "
                f"Install Go {self._go_needed()} or newer (https://go.dev/dl), then run this again. "
                "Everything else is tested without it: make test"
            )
        return go

    def _go_needed(self) -> str:
        text = (self.module / "go.mod").read_text(encoding="utf-8")
        found = re.search(r"^go (\S+)$", text, re.MULTILINE)
        assert found is not None
        return found[1]

    def _go_version(self, go: str) -> str:
        """Version and platform that `go` builds with, as `go1.26.8 linux/amd64`."""
        asked = ["env", "GOVERSION", "GOOS", "GOARCH"]
        done = subprocess.run(
            [go, *asked], cwd=self.module, capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode != 0:
            raise CannotBuild(
                f"{self.needed_by} need Go {self._go_needed()} or newer, and {go} says: {done.stderr.strip()}"
            )
        version, system, machine = done.stdout.split()
        return f"{version} {system}/{machine}"

    def _build(self, go: str, target: Path) -> None:
        _say(f"Building {self.name} of {self.title}, once: {self.price}.")
        self._warn_of_little_memory()
        began = time.monotonic()
        total = self._packages(go)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            made = Path(scratch) / self.name
            command = [
                go, "build", "-v", "-trimpath", "-tags", self.tags, "-ldflags", f"-s -w {self.linker_flags}",
                "-o", str(made), self.package,
            ]  # fmt: skip
            self._compile(command, total, began)
            made.replace(target)
        spent = time.monotonic() - began
        _say(f"{target} is ready after {spent:.0f} s. 'go clean -cache -modcache' frees Go's own caches.")

    def _packages(self, go: str) -> int:
        """How many packages the program is made of. Downloads their source."""
        _say("Fetching the source …")
        done = subprocess.run(
            [go, "list", "-tags", self.tags, "-deps", self.package],
            cwd=self.module, env=_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise CannotBuild(f"The source could not be fetched: {done.stderr.strip()[-2000:]}")
        return len(done.stdout.splitlines())

    def _compile(self, command: list[str], total: int, began: float) -> None:
        """Run the build and tell every few seconds how far it is."""
        said = began
        tail: list[str] = []
        with subprocess.Popen(
            command, cwd=self.module, env=_environment(), stderr=subprocess.PIPE, text=True
        ) as building:
            assert building.stderr is not None
            for count, line in enumerate(building.stderr, start=1):
                tail = [*tail[-40:], line]
                if time.monotonic() - said > EVERY_SECONDS:
                    said = time.monotonic()
                    _say(f"  {count} of at most {total} packages compiled after {said - began:.0f} s")
        if building.returncode != 0:
            raise CannotBuild("The build failed:\n" + "".join(tail))

    def _warn_of_little_memory(self) -> None:
        memory = Path("/proc/meminfo")
        found = re.search(r"MemAvailable:\s+(\d+)", memory.read_text()) if memory.exists() else None
        if found is not None and int(found[1]) < self.linking_mib * 1024:
            _say(
                f"  Only {int(found[1]) // 1024} MiB of memory are available; linking wants {self.linking_mib}."
            )


def pinned(module: Path, dependency: str) -> str:
    """Version of the dependency that go.mod asks for, as in v1.36.3."""
    text = (module / "go.mod").read_text(encoding="utf-8")
    found = re.search(rf"^\s*(?:require )?{re.escape(dependency)} (v\S+)", text, re.MULTILINE)
    assert found is not None
    return found[1]


def cache() -> Path:
    """Where programs are kept that were built or fetched once."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "quotatree"


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """While one process builds, others wait for it instead of building too."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0"}


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
