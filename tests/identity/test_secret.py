"""Secrets are long and never the same twice."""

from __future__ import annotations

from quotatree.identity.secret import new_secret


def test_secrets_are_long_and_never_twice_the_same():
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert {len(secret) for secret in made} == {43}
