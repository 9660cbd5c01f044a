"""Who may come in by the cluster's word? Tokens that a real API server knows, by TokenReview, and the command itself (W2)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quotatree.client import Client
from quotatree.client.errors import ClientError
from tests.kubernetes.cluster import Cluster
from tests.kubernetes.issuer import issuing
from tests.kubernetes.parts import PEOPLE
from tests.kubernetes.processes import until
from tests.kubernetes.serving import ROOT
from tests.kubernetes.story import Story

ANNS, STRANGERS = (token for token, _, _ in PEOPLE)


def user_of(told: Story, token: str) -> str:
    """Who that is here, by a token that was exchanged for one of the cluster."""
    with Client(told.server.url) as nobody:
        made = nobody.logins.by_cluster(token)
    with Client(told.server.url, made["token"]) as client:
        return str(client.whoami()["user"]["name"])


def refused(told: Story, token: str) -> str:
    with pytest.raises(ClientError) as error:
        user_of(told, token)
    return str(error.value)


def test_a_token_of_the_cluster_is_exchanged_for_one_of_the_member_of_that_name(story: Callable[..., Story]):
    told = story(nodes=1, environment={"QUOTATREE_KUBERNETES_LOGIN": "name"})
    told.server.client.users.create({"name": "ann"})
    assert user_of(told, ANNS) == "ann"
    assert "no member here" in refused(told, STRANGERS)
    assert "does not know this token" in refused(told, "made-up")
    robots = told.cluster.api.create(
        "/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {"expirationSeconds": 3600}}
    )
    assert "no person" in refused(told, robots["status"]["token"])


def test_a_person_of_an_identity_provider_is_found_by_email(story: Callable[..., Story]):
    told = story(
        nodes=1,
        environment={"QUOTATREE_KUBERNETES_LOGIN": "email", "QUOTATREE_KUBERNETES_LOGIN_PREFIX": "oidc:"},
    )
    told.server.client.users.create({"name": "ann", "email": "ann@example.org"})
    with issuing(told.cluster) as issuer:
        token = issuer.token("ann@example.org")
        until(lambda: reviewed(told.cluster, token) == "oidc:ann@example.org", "the API server knows it")
        assert user_of(told, token) == "ann"
        assert "no member here" in refused(told, issuer.token("zoe@example.org"))
        assert "does not know this token" in refused(told, token[:-8] + "AAAAAAAA")
        assert "no person" in refused(told, ANNS), "without the prefix it is no name of the provider's"


def reviewed(cluster: Cluster, token: str) -> str | None:
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    found = cluster.api.create(path, {"spec": {"token": token}})["status"]
    return found["user"]["username"] if found.get("authenticated") else None


def test_the_command_logs_in_as_the_user_of_the_kubeconfig(story: Callable[..., Story], tmp_path: Path):
    told = story(nodes=1, environment={"QUOTATREE_KUBERNETES_LOGIN": "name"})
    told.server.client.users.create({"name": "ann"})
    config = told.cluster.kubeconfig_with_token("ann", ANNS)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "quotatree", *arguments], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "KUBECONFIG": str(config),
                 "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        return done.stdout + done.stderr

    assert f"logged in to {told.server.url} as ann" in run("login", told.server.url, "--kubernetes")
    assert "ann" in run("whoami")
    certificate = run("login", told.server.url, "--kubernetes", "--kubeconfig", str(told.cluster.kubeconfig))
    assert "no token to show" in certificate
