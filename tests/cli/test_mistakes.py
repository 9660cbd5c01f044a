"""The usual mistakes: what is said must say what was wrong and what is allowed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from quotatree.cli import main
from tests.cli.conftest import Cli

SUBMIT = ("submit", "--workspace", "vision", "--quota", "vision")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("get", "jobs", "--server", "http://127.0.0.1:1"), "no server answers at http://127.0.0.1:1: Connection refused; "),
        (("get", "jobs", "--server", "127.0.0.1:7070"), "must begin with http:// or https://"),
        (("get", "jobs", "--token-file", "no-such"), "quotatree: no-such: No such file or directory\n"),
        (("gte", "jobs"), "Did you mean get?"),
        ((*SUBMIT, "--gpus", "nan"), "'--gpus': 'nan': must be a number such as 8 or 0.5"),
        ((*SUBMIT, "--gpus", "1", "--priority", ""), "'': must be a priority, 1 to 9, or the name of one"),
        ((*SUBMIT, "--gpus", "1", "--priority", "10"), "'10': must be a priority, 1 to 9, or the name of one"),
        ((*SUBMIT, "--gpus", "1", "--checkpoint-interval", "0s"), "checkpoint_interval 0ms: must be more than 0 [P6]"),
        ((*SUBMIT, "--gpus", "1", "--grace", "x" * 5000), "must be a duration such as"),
        ((*SUBMIT, "--gpus", "1", "--name", "my job"), "quotatree: name my job: must be at most 63 lower-case"),
        ((*SUBMIT, "--gpus", "-1"), "quotatree: gpus -1: must be a number of GPUs"),
        ((*SUBMIT, "--gpus", "1", "--model", "H100"), "models H100: the tree of company has only GPU"),
        (SUBMIT, "--gpus (or --cpu, for a job without GPUs) is missing"),
        (("submit", "--gpus", "1"), "--workspace (or the variable QUOTATREE_WORKSPACE) is missing: there are "),
        (("token", "revoke", "x"), "quotatree: token: must be the id of a token"),
        (("user", "create", "ann"), "there is a user 'ann' already"),
        (("user", "create", "a b"), "name a b: must be 1 to 63 letters"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_what_is_allowed(cli: Cli, monkeypatch, words, said):
    monkeypatch.setattr("quotatree.client.transport.TRIES", 1)
    monkeypatch.delenv("QUOTATREE_WORKSPACE", raising=False)
    result = CliRunner().invoke(main, words, env={**cli.env("admin")})
    assert result.exit_code
    assert said in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("workspace: vision\nquota: vision\ngpus: 1\npriorty: 3\n", "priorty: no such field; there are workspace, "),
        ("workspace: vision\nquota: vision\ngpus: one\n", "gpus one: must be a number of GPUs"),
        ("quota: [vision\n", "line 2, column 1: not YAML: expected ',' or ']'"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_told(cli: Cli, text: str, said: str):
    status = 2 if "YAML" in said else 1
    assert said in cli.run("submit", "-f", cli.file("job.yaml", text), user="ann", status=status).stderr


def test_an_empty_token_is_not_the_saved_login(cli: Cli):
    result = CliRunner().invoke(main, ["get", "jobs"], env={**cli.env("admin"), "QUOTATREE_TOKEN": " "})
    assert result.exit_code == 2
    assert "QUOTATREE_TOKEN is empty" in result.stderr


def test_a_field_that_jobs_do_not_have_is_named_with_the_one_that_was_meant(cli: Cli):
    path = cli.file("job.yaml", "workspace: vision\nquota: vision\ngpu: 2\n")
    result = cli.run("submit", "-f", path, status=2)
    assert "there is no field gpu; did you mean gpus?" in result.stderr


def test_a_terminal_that_lacks_a_character_gets_no_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "quotatree", "rule", "Q1"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


LONG = "x" * 400
"""Longer than a file's name may be: asking the file system about it is an error, not a no."""


def test_a_long_word_of_a_command_is_no_file(cli: Cli):
    words = (*SUBMIT, "--gpus", "1", "--", "bash", "-c", f"echo {LONG}")
    assert "a timer knows no such field" in cli.run(*words, user="ann", status=1).stderr, (
        "the server's answer"
    )


def test_a_backup_under_a_name_that_is_too_long_is_refused(cli: Cli):
    words = ("backup", LONG, "--database", str(cli.serving.directory / "quotatree.db"))
    assert "File name too long" in cli.run(*words, status=2).stderr


@pytest.mark.parametrize(
    "words",
    [
        ("apply", "-f", LONG),
        ("backup", LONG),
        ("check", LONG),
        ("demo", "--script", "--directory", f"{LONG}/a"),
        ("doctor", "--data", LONG),
        ("explain", LONG, "job"),
        ("get", "jobs", "--token-file", LONG),
        ("login", "--token-file", LONG),
        ("migrate", "--database", LONG),
        ("plan", LONG),
        ("play", LONG),
        ("preview", LONG),
        ("preview", "--policy", f"vision={LONG}"),
        ("preview", "--submit", LONG),
        ("restore", LONG),
        ("serve", "--config", LONG),
        ("serve", "--data", LONG),
        ("serve", "--database", LONG),
        ("serve", "--log-file", LONG),
        ("serve", "--tls-cert", LONG),
        ("simulate", LONG),
        ("simulate", "--report", LONG, LONG),
        ("snapshot", "-f", LONG),
        ("tree", LONG),
        ("webhook", "create", "a", "--url", "http://example.org", "--secret-file", LONG),
    ],
    ids=lambda words: " ".join(words).replace(LONG, "LONG"),
)
def test_a_file_whose_name_is_too_long_is_told_in_one_line(cli: Cli, words: tuple[str, ...]):
    result = CliRunner().invoke(main, words, env=cli.env("admin"))
    assert isinstance(result.exception, SystemExit), result.exc_info
    assert result.exit_code in (1, 2, 6), result.output
    assert "Traceback" not in result.output
