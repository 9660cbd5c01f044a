"""Every shell has its completion script."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_completion(cli: Cli):
    for shell in ("bash", "zsh", "fish"):
        assert "_QUOTATREE_COMPLETE" in cli.run("completion", shell).stdout
