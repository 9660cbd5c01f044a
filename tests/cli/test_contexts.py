"""Contexts: who one is, where it is kept, and to whom a token is never sent."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from quotatree.cli import contexts
from quotatree.cli.contexts import Context, Contexts
from tests.cli.conftest import Cli, bare

GOLDEN: Final = Path(__file__).parent / "golden" / "contexts.json"
KEPT: Final = Contexts(
    "work",
    {
        "default": Context("http://127.0.0.1:7070", "t0ken"),
        "work": Context("https://gpu.example.org", "s3cret", "ann", "tok-1"),
    },
)


def test_the_file_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later versions read it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    contexts.save(KEPT)
    assert contexts.config_file().read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")
    assert contexts.load() == KEPT


def test_a_token_goes_only_to_the_server_it_is_for(cli: Cli, monkeypatch):
    """Else whoever gets somebody to type --server has his token."""
    bare(cli, "login", cli.serving.url, "--token-file", cli.file("token", cli.serving.tokens["ann"]))
    sent = []

    class Spy:
        def __init__(self, url, token):
            sent.append((url, token))

        def __enter__(self):
            raise SystemExit(0)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr("quotatree.client.Client", Spy)
    bare(cli, "whoami", "--server", "http://elsewhere.example")
    bare(cli, "whoami")
    assert sent == [("http://elsewhere.example", None), (cli.serving.url, cli.serving.tokens["ann"])]


def test_environment_wins_over_a_login_and_options_over_both(cli: Cli):
    bare(cli, "login", cli.serving.url, "--token-file", cli.file("token", cli.serving.tokens["ann"]))
    eve = cli.file("eve", cli.serving.tokens["eve"])
    assert cli.run("whoami", user="eve").stdout.startswith("eve on")
    assert cli.run("whoami", "--token-file", eve, user="ann").stdout.startswith("eve on")
    assert cli.run("whoami", "--context", "default", user="eve").stdout.startswith("ann on")


def test_a_context_that_is_not_there(cli: Cli):
    assert "there are: none" in bare(cli, "whoami", "--context", "nowhere", status=2).stderr


def test_a_broken_file_is_told(cli: Cli):
    (cli.home / "config" / "quotatree").mkdir(parents=True)
    (cli.home / "config" / "quotatree" / "contexts.json").write_text("{")
    assert "mend it" in bare(cli, "whoami", status=2).stderr
