"""The pages on rights and login leave nothing out."""

from dataclasses import fields
from pathlib import Path

import pytest

from docs import generate_roles
from quotatree.access.roles import Action, Role
from quotatree.identity.oidc_settings import OidcSettings

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "log-in-with-oidc.md"


def test_the_page_of_roles_is_what_the_script_writes():
    written = generate_roles.PAGE.read_text(encoding="utf-8")
    assert written == generate_roles.page(), "run .venv/bin/python docs/generate_roles.py"


def test_every_action_and_every_role_is_on_the_page():
    page = generate_roles.page()
    assert [a.value for a in Action if page.count(f"| `{a.value}` |") != 1] == []
    assert [role.value for role in Role if f"`{role.value}`" not in page] == []


def test_an_action_without_a_line_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(generate_roles.MEANS, "see-job")
    with pytest.raises(ValueError, match="missing \\['see-job'\\]"):
        generate_roles.page()


def test_every_setting_of_oidc_is_described():
    page = HOW_TO.read_text(encoding="utf-8")
    assert [field.name for field in fields(OidcSettings) if f"| `{field.name}` |" not in page] == []
