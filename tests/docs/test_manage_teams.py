"""The how-to of commands for teams does what it says: each block is run, in order, against a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import TREE
from tests.cli.process import COMMAND, Process

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/manage-teams-by-commands.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    server = Process(tmp_path / "data", "--nodes", "2x8")
    try:
        token = server.token
        server.client(token).close()
        bin_directory = tmp_path / "bin"
        bin_directory.mkdir()
        command = bin_directory / "quotatree"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m quotatree "$@"\n')
        command.chmod(0o755)
        path = f"{bin_directory}:{os.environ['PATH']}"
        env = {**os.environ, **server.env(tmp_path, token), "PATH": path, "NO_COLOR": "1"}
        tree = TREE.replace("{id: speech, min: {gpus: 8}}", "{id: speech, min: {gpus: 4}}")
        subprocess.run(
            [*COMMAND, "apply", "-y", "-f", "-"], env=env, input=tree, text=True, check=True, timeout=60
        )
        script = "set -e\n" + "\n".join(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
        done = subprocess.run(
            ["bash", "-c", script],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        for told in (
            "workspaces        robots", "DLC 24h, EAS 720h", "role:developer: at most 2 GPU at 1-5", "by admin",
            "self_level: none -> 6-9 over 1-5 DLC,DSW in own", "user/zoe is out",
        ):  # fmt: skip
            assert told in done.stdout
        assert "is bound to workspaces: robots" in done.stderr
    finally:
        server.end()
