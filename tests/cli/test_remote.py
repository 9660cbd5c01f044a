"""What the server answers decides the exit status."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("words", "user", "status"),
    [
        (("get", "job", "dlc-0000000000"), "ann", 3),
        (("get", "nonsense"), "ann", 2),
        (("scale", "vision", "4", "-y"), "ann", 4),
        (("get", "users"), None, 4),
        (("scale", "vision", "4000", "-y"), "admin", 1),
        (("get", "jobs", "--server", "http://127.0.0.1:1"), "ann", 6),
        (("delete", "quota", "vision"), "admin", 1),
    ],
)
def test_exit_statuses(cli: Cli, monkeypatch, words, user, status):
    monkeypatch.setattr("quotatree.client.transport.TRIES", 1)
    result = cli.run(*words, user=user, status=status)
    assert result.stdout == ""
    assert result.stderr
