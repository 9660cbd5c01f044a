"""The compose file names this release's image, and settings and options that the server knows."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from quotatree.api.settings import SETTINGS, read_settings, variable_of
from quotatree.cli import main
from release.names import DIST, Names


@pytest.fixture(scope="module")
def server(names: Names) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DIST / names.compose).read_text())["services"]["server"]
    return found


def test_it_names_the_image_of_this_release(server: dict[str, Any], names: Names):
    assert server["image"] == names.tag


def test_the_server_takes_its_words_and_variables(server: dict[str, Any]):
    word, *options = server["command"]
    usage = CliRunner().invoke(main, [word, "--help"]).output
    for option in (one for one in options if one.startswith("--")):
        assert re.search(rf"{option}\b", usage), option
    filled = {name: value.split(":?")[0] for name, value in server["environment"].items()}
    assert set(filled) <= {variable_of(one.key) for one in SETTINGS}
    assert read_settings(None, filled).nodes == filled["QUOTATREE_NODES"]


def test_it_runs_without_rights_and_writes_to_its_volume_and_tmp_alone(server: dict[str, Any]):
    assert server["cap_drop"] == ["ALL"]
    assert server["read_only"] is True
    assert server["security_opt"] == ["no-new-privileges:true"]
    assert [one.partition(":")[2] for one in server["volumes"]] == ["/var/lib/quotatree"]
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])
