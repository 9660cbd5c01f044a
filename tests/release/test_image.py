"""The image starts from its file alone: without a network, without root, on a root file system that it cannot write to."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator

import pytest

from release import image
from release.names import DIST, Names
from release.sources import CannotMake

ARGUMENTS = "IMAGE_RUN_ARGS"
"""Variable with options for `run`, such as `--ulimit nofile=20000:20000`, where the engine needs them here."""
SERVE = (
    "serve",
    "--listen",
    "127.0.0.1:7070",
    "--data",
    "/var/lib/quotatree",
    "--engine",
    "timer",
    "--nodes",
    "2x8",
)
ASK = """
import sys, urllib.request
print(urllib.request.urlopen('http://127.0.0.1:7070' + sys.argv[1], timeout=10).read().decode())
"""


@pytest.fixture(scope="module")
def engine(names: Names) -> list[str]:
    """The command of a container engine that has loaded the image from its file."""
    try:
        command = image.engine()
    except CannotMake as problem:
        pytest.skip(f"the image is not checked: {problem}")
    assert (DIST / names.image).is_file(), (
        "an engine works here, and the release has no image: what did `make release` say?"
    )
    done(*command, "load", "-i", str(DIST / names.image))
    return command


@pytest.fixture(scope="module")
def server(engine: list[str], names: Names) -> Iterator[list[str]]:
    """The words that run something in the container of a server."""
    name = f"quotatree-release-{os.getpid()}"
    locked = ["--network", "none", "--read-only", "--tmpfs", "/tmp", "--volume", "/var/lib/quotatree"]
    done(*engine, "run", "--detach", "--name", name, *limits(), *locked, names.tag, *SERVE)
    try:
        yield [*engine, "exec", name]
    finally:
        subprocess.run(
            [*engine, "rm", "--force", "--volumes", name], capture_output=True, timeout=60, check=False
        )


def limits() -> list[str]:
    return shlex.split(os.environ.get(ARGUMENTS, ""))


def done(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, f"{shlex.join(command)}: {ended.stdout}{ended.stderr}"
    return ended.stdout


def ask(server: list[str], path: str) -> str:
    """What the server answers, once it does."""
    until = time.monotonic() + 60
    while True:
        ended = subprocess.run(
            [*server, "python", "-c", ASK, path], capture_output=True, text=True, timeout=60, check=False
        )
        if ended.returncode == 0:
            return ended.stdout
        assert time.monotonic() < until, ended.stderr
        time.sleep(0.2)


def test_it_is_of_this_version(engine: list[str], names: Names):
    said = done(*engine, "run", "--rm", *limits(), "--network", "none", names.tag, "--version")
    assert said == f"quotatree, version {names.version}\n"


def test_its_server_answers_with_the_console_and_the_licences(server: list[str]):
    assert json.loads(ask(server, "/healthz"))["writable"] is True
    assert "<title>QuotaTree</title>" in ask(server, "/")
    assert "react-dom" in ask(server, "/licences.txt")


def test_nobody_in_it_is_root_and_its_programs_cannot_be_changed(server: list[str]):
    assert done(*server, "id", "-u").strip() == "10001"
    tried = subprocess.run(
        [*server, "sh", "-c", "touch /opt/quotatree/x"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert tried.returncode != 0
