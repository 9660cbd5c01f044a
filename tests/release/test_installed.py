"""What pipx installs from the wheel alone works in an empty directory."""

from __future__ import annotations

import json
import re
import sys

import pytest

from release.names import Names
from tests.release.conftest import Installed


def test_the_command_is_of_this_version(installed: Installed, names: Names):
    assert installed.run("--version").stdout == f"quotatree, version {names.version}\n"


def test_doctor_finds_what_a_server_needs(installed: Installed):
    checks = json.loads(installed.run("doctor", "-o", "json").stdout)["checks"]
    found = {one["check"]: one["state"] for one in checks}
    assert found["packages"] == "ok"
    assert found["console"] == "ok"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="real processes are run on Linux only")
def test_the_demo_sees_everything_it_expects(installed: Installed):
    done = installed.run("demo", "--script")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ *20 of 20 expectations seen, in \d+ s\.$", done.stdout, re.MULTILINE), done.stdout
    assert "✗" not in done.stdout


def test_nothing_is_left_in_the_directory(installed: Installed):
    assert [path.name for path in installed.empty.iterdir() if path.name != ".config"] == []
