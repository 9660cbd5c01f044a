"""The types are those of the API's description."""

from __future__ import annotations

from docs import generate_client_types


def test_types_are_those_of_the_description():
    written = generate_client_types.MODULE.read_text(encoding="utf-8")
    assert written == generate_client_types.module(), "run make setup"
