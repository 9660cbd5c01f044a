"""Which token a kubeconfig's user would show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from quotatree.engines.kubernetes.client import bearer_token
from quotatree.engines.kubernetes.errors import NoClient


def written(tmp_path: Path, **user: Any) -> Path:
    file = tmp_path / "kubeconfig"
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
    }  # fmt: skip
    file.write_text(yaml.safe_dump(config))
    return file


def test_a_token_that_is_written_there_or_in_a_file(tmp_path: Path):
    assert bearer_token(written(tmp_path, token="abc")) == "abc"
    (tmp_path / "token").write_text("def\n")
    assert bearer_token(written(tmp_path, tokenFile=str(tmp_path / "token"))) == "def"


def test_a_token_that_a_plugin_makes(tmp_path: Path):
    said = (
        '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"made"}}'
    )
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "echo",
        "args": [said],
        "interactiveMode": "Never",
    }
    assert bearer_token(written(tmp_path, exec=plugin)) == "made"


def test_a_user_without_a_token_is_told_what_to_do(tmp_path: Path):
    with pytest.raises(NoClient, match="--oidc"):
        bearer_token(written(tmp_path, username="x"))
    with pytest.raises(NoClient, match="kubeconfig"):
        bearer_token(tmp_path / "none")
