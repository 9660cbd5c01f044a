"""The tutorial of the server is run as it stands, in one shell, and prints what the page shows."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.docs.test_pages import DOCS, FENCE, contains_in_order

PAGE = DOCS / "tutorial" / "three-teams.md"
MARK = "@@@@ block"
JOB = re.compile(r"\b(dlc|dsw|eas)-[0-9a-z]{10}\b")


@pytest.mark.slow
def test_the_tutorial_goes_as_it_says(tmp_path: Path):
    port = str(free_port())
    script, expected = ["set -u"], []
    for language, block in FENCE.findall(PAGE.read_text(encoding="utf-8").replace("7070", port)):
        if language == "yaml":
            name, _, text = block.partition("\n")
            (tmp_path / name.removeprefix("# ")).write_text(text)
        elif language == "sh":
            script += [f"echo '{MARK}'", block]
            expected.append("")
        else:
            expected[-1] = block
    printed = run(tmp_path, "\n".join(script), port).split(MARK + "\n")[1:]
    assert len(printed) == len(expected)
    for seen, wanted in zip(printed, expected, strict=True):
        assert contains_in_order(lines(seen), lines(wanted)), f"{seen}\n--- the page says\n{wanted}"


def lines(text: str) -> list[str]:
    """Ids are made anew each time."""
    return [JOB.sub("JOB", line).rstrip() for line in text.splitlines()]


def run(directory: Path, script: str, port: str) -> str:
    command = directory / "bin" / "quotatree"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m quotatree "$@"\n')
    command.chmod(0o755)
    env = {
        **os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(directory / "config"),
        "QUOTATREE_LISTEN": f"127.0.0.1:{port}", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    for name in ("QUOTATREE_URL", "QUOTATREE_TOKEN", "QUOTATREE_CONTEXT"):
        env.pop(name, None)
    shell = subprocess.Popen(
        ["bash", "-c", script], cwd=directory, env=env, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        return shell.communicate(timeout=120)[0]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)  # servers that a failed page leaves behind


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
