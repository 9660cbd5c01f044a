"""The how-to pages do what they say: each block of commands is run, in the order of a reader, against a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import TREE
from tests.cli.process import COMMAND, Process
from tests.docs.test_pages import DOCS, FENCE

TIMER = ("--engine", "timer", "--nodes", "2x8")
LOCAL = (
    "--engine", "local", "--nodes", "2x8", *(("--run-as", "root") if os.geteuid() == 0 else ()),
)  # fmt: skip
SERVICE = """
import http.server, sys

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\\n")

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Answer).serve_forever()
"""


AS_SLOWLY = "until quotatree logs train --replica 3 | grep rank; do :; done\n"
"""A reader is not so quick that the job has not begun."""
TRAINING = """
import os, time
print("rank", os.environ["RANK"], flush=True)
time.sleep(600)
"""


@dataclass(frozen=True)
class Reader:
    """What a reader of a page has, and what they see. `other`: words of the page that the test's machine lacks."""

    page: str
    sees: tuple[str, ...]
    told: tuple[str, ...] = ()
    serve: tuple[str, ...] = TIMER
    tree: str = TREE
    files: tuple[tuple[str, str], ...] = ()
    answers: str = ""
    other: tuple[tuple[str, str], ...] = ()


READERS = (
    Reader(
        "manage-teams-by-commands.md",
        (
            "workspaces        robots", "DLC 24h, EAS 720h", "role:developer: at most 2 GPU at 1-5", "by admin",
            "self_level: none -> 6-9 over 1-5 DLC,DSW in own", "user/zoe is out",
        ),
        ("is bound to workspaces: robots",),
    ),
    Reader("account-for-gpu-hours.md", ("WORKSPACE  CLAIM  GPU-HOURS",)),
    Reader(
        "describe-a-cluster.md",
        ("+ node a100-15", "change(s); nothing has been changed", "change(s) made", "everything is as the file says"),
        serve=("--engine", "timer", "--nodes", "1x8"), tree="", answers="y\n",
    ),
    Reader(
        "run-services-and-notebooks.md",
        ("http://127.0.0.1:", "resized", "follows its demand no more", "queued again"),
        serve=LOCAL, files=(("serve.py", SERVICE),),
        # JupyterLab is not among the packages of the tests
        other=(("--gpus 1 --requeue\n", "--gpus 1 --requeue --workdir . -- python serve.py --port '{port}'\n"),),
    ),
    Reader(
        "run-jobs-on-one-machine.md",
        ("group worker: 4 x 2 GPU", "rank 3", "stopping", "queued again", "cancelled"),
        ("secrets are not repeated: add --secret WANDB_KEY",),
        serve=LOCAL, files=(("vision/train.py", TRAINING),),
        other=(
            ("quotatree serve --data state\n", ""),  # it runs already
            ("quotatree doctor --data state ", "quotatree doctor --data state || true "),  # what the machine is like
            ("quotatree describe job train ", f"{AS_SLOWLY}quotatree describe job train "),
        ),
    ),
)  # fmt: skip
ELSEWHERE = {
    "bring-your-kubectl-jobs.md": "needs a Kubernetes cluster: tests/kubernetes tells its story",
    "install-on-kubernetes.md": "needs a Kubernetes cluster and helm",
    "install.md": "installs packages and an image: tests/release does",
    "run-on-kubernetes.md": "needs a Kubernetes cluster",
    "upgrade.md": "installs another version: tests/cli/run/test_serve_upgrade.py tells its story",
}
"""Pages with commands that no test runs as they stand, and why."""


def test_every_how_to_page_with_commands_is_run_or_says_why_not() -> None:
    pages = {
        page.name for page in (DOCS / "how-to").glob("*.md") if "```sh\n" in page.read_text(encoding="utf-8")
    }
    assert pages == {one.page for one in READERS} | set(ELSEWHERE)


@pytest.mark.parametrize("reader", READERS, ids=lambda one: one.page)
def test_every_command_of_the_page_works(reader: Reader, tmp_path: Path) -> None:
    server = Process(tmp_path / "data", *reader.serve)
    try:
        token = server.token
        server.client(token).close()
        env = {
            **os.environ,
            **server.env(tmp_path, token),
            "PATH": path_with_command(tmp_path),
            "NO_COLOR": "1",
        }
        env |= {"HOME": str(tmp_path), "WANDB_KEY": "a secret"}
        if reader.tree:
            subprocess.run(
                [*COMMAND, "apply", "-y", "-f", "-"],
                env=env,
                input=reader.tree,
                text=True,
                check=True,
                timeout=60,
            )
        for name, text in reader.files:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        done = subprocess.run(
            ["bash", "-c", script(reader, tmp_path)], env=env, cwd=tmp_path, input=reader.answers,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert [words for words in reader.sees if words not in done.stdout] == [], done.stdout
        assert [words for words in reader.told if words not in done.stderr] == [], done.stderr
        with server.client(token) as client:
            for job in client.jobs.list(active=True):
                client.jobs.cancel(job["id"])
    finally:
        server.end()


def script(reader: Reader, directory: Path) -> str:
    """The commands of the page, in order. Files that it shows with their names are written."""
    lines = ["set -e"]
    for language, block in FENCE.findall((DOCS / "how-to" / reader.page).read_text(encoding="utf-8")):
        first, _, rest = block.partition("\n")
        if language == "sh":
            lines.append(block)
        elif language == "yaml" and first.startswith("# ") and first.endswith(".yaml"):
            (directory / first.removeprefix("# ")).write_text(rest)
    text = "\n".join(lines)
    for written, there in reader.other:
        assert written in text
        text = text.replace(written, there)
    return text


def path_with_command(directory: Path) -> str:
    command = directory / "bin" / "quotatree"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m quotatree "$@"\n')
    command.chmod(0o755)
    return f"{command.parent}:{os.environ['PATH']}"
