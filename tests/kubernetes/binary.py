"""Which programs do the stories on Kubernetes run against? One that is its whole control plane, and a kubelet.

`controlplane/` is a small Go module that makes them of Kubernetes' source. `python -m tests.kubernetes.binary` builds the control
plane where the cache does not have it, and prints its path.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.go_program import CannotBuild as CannotBuild
from tests.go_program import GoProgram, pinned
from tests.go_program import cache as cache

SOURCE = Path(__file__).parent / "controlplane"


def program(name: str = "controlplane") -> Path:
    """Path of the program, which is built first if the cache does not have it."""
    return PROGRAMS[name].path()


def is_built(name: str) -> bool:
    """Whether the cache has the program; False also where there is no Go to build it with."""
    return PROGRAMS[name].is_built()


def kubernetes_version() -> str:
    """Version of Kubernetes that go.mod asks for, as in v1.36.3."""
    return pinned(SOURCE, "k8s.io/kubernetes")


def _versions() -> str:
    """Linker flags without which every part calls itself v0.0.0."""
    version = kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".")
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    places = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(f"-X {place}.{name}={value}" for place in places for name, value in values.items())


def _program(name: str, folder: str) -> GoProgram:
    return GoProgram(
        name=name,
        module=SOURCE,
        package=f"./{folder}",
        needed_by="The stories on Kubernetes",
        title=f"Kubernetes {kubernetes_version()}",
        price="5 to 20 minutes, 3 GB of Go's caches",
        linking_mib=4096,
        files=(str(Path(folder) / "main.go"),),
        linker_flags=_versions(),
    )


PROGRAMS = {"controlplane": _program("controlplane", "."), "kubelet": _program("kubelet", "kubelet")}


def main(arguments: list[str]) -> int:
    try:
        sys.stdout.write(f"{program(*arguments)}\n")
    except CannotBuild as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
