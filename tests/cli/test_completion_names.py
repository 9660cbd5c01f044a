"""Names that a shell offers, in a real bash against a real server; and that nothing is said when there is none."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, bare

COMMAND = Path(sys.executable).parent / "quotatree"


def offered(cli: Cli, *words: str, user: str = "ann", **more: str) -> list[str]:
    """What bash offers for the last of these words, with the script that `quotatree completion bash` prints."""
    bash = shutil.which("bash")
    assert bash is not None
    script = f"""
        eval "$(quotatree completion bash)"
        COMP_WORDS=(quotatree {" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words)}
        _quotatree_completion quotatree
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    known = {name: value for name, value in cli.env(user).items() if value is not None}
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script], env={**os.environ, **known, "PATH": path, "QUOTATREE_COMPLETION_SECONDS": "30", **more},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash_offers_what_the_server_knows(cli: Cli):
    job = cli.submit("--gpus", "1", "--name", "kestrel")
    twins = [cli.submit("--gpus", "1", "--name", "twin") for _ in range(2)]
    assert offered(cli, "cancel", "kes") == ["kestrel"]
    assert set(offered(cli, "cancel", "")) == {"kestrel", *twins}, "a name that means two jobs helps nobody"
    assert offered(cli, "cancel", job[:8]) == [job]
    assert offered(cli, "describe", "job", "job/kes") == ["job/kestrel"]
    assert offered(cli, "scale", "vi", user="admin") == ["vision"]
    seen = offered(cli, "get", "jobs", "--quota", "")
    assert ("vision" in seen, "speech" in seen) == (True, False), "no more than one may see"
    assert set(offered(cli, "submit", "--workspace", "", user="admin")) >= {"vision", "speech"}
    assert set(offered(cli, "drain", "node-", user="admin")) >= {"node-0", "node-1"}
    assert offered(cli, "delete", "quota", "spee", user="admin") == ["speech"]
    assert offered(cli, "policy", "on", "vision", "ch") == ["child-level"]
    assert offered(cli, "pol") == ["policy"]


def test_contexts_are_offered_without_a_server(cli: Cli):
    bare(
        cli,
        "login",
        cli.serving.url,
        "--token-file",
        cli.file("token", cli.serving.tokens["ann"]),
        "--name",
        "lab",
    )
    assert offered(cli, "context", "use", "") == ["lab"]
    assert offered(cli, "get", "jobs", "--context", "l") == ["lab"]


def test_nothing_is_said_where_there_is_no_answer(cli: Cli):
    """Neither a dead server, nor a wrong token, nor a broken file prints into the line that is being typed."""
    assert offered(cli, "cancel", "", QUOTATREE_URL="http://127.0.0.1:1") == []
    assert offered(cli, "cancel", "", QUOTATREE_TOKEN="wrong") == []
    assert offered(cli, "cancel", "", QUOTATREE_TOKEN="") == []
    (cli.home / "config" / "quotatree").mkdir(parents=True)
    (cli.home / "config" / "quotatree" / "contexts.json").write_text("{")
    assert offered(cli, "context", "use", "") == []


def test_a_server_that_does_not_answer_is_not_waited_for(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    from quotatree.cli import completion_names

    with socket.socket() as deaf:  # it listens, and never accepts
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        monkeypatch.setenv(completion_names.DEADLINE_VARIABLE, "0.2")
        monkeypatch.setenv("QUOTATREE_URL", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        monkeypatch.setenv("QUOTATREE_TOKEN", "any")
        began = time.monotonic()
        assert completion_names._in_time(lambda: completion_names._jobs(_context(), "")) == []
        assert time.monotonic() - began < 5


def _context():
    import click

    return click.Context(click.Command("cancel"), info_name="cancel")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_the_same_names(cli: Cli, shell: str):
    """What their scripts call: the words so far in variables, and the names with what is known of them."""
    cli.submit("--gpus", "1", "--name", "kestrel")
    words = {"COMP_WORDS": "quotatree cancel kes", "COMP_CWORD": "2" if shell == "zsh" else "kes"}
    known = {name: value for name, value in cli.env("ann").items() if value is not None}
    done = subprocess.run(
        [COMMAND], env={**os.environ, **known, **words, "QUOTATREE_COMPLETION_SECONDS": "30", "_QUOTATREE_COMPLETE": f"{shell}_complete"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "kestrel" in done.stdout
    assert "vision" in done.stdout, "what is known of it"
    assert done.stderr == ""
