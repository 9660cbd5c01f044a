"""The unit of systemd is sound, and its server runs jobs with the capabilities that the unit leaves it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from release.names import DIST, Names
from release.sources import ROOT
from tests.release.conftest import Installed

SETTINGS = (
    "NoNewPrivileges",
    "RestrictSUIDSGID",
    "ProtectSystem",
    "CapabilityBoundingSet",
    "RestrictAddressFamilies",
)


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here (Debian: systemd)"
)
def test_systemd_accepts_the_unit(installed: Installed, names: Names, tmp_path: Path):
    """The program that it names is put where pipx put it: systemd looks whether it is there."""
    text = (DIST / names.unit).read_text()
    unit = tmp_path / names.unit
    unit.write_text(text.replace("/opt/quotatree/bin/quotatree", installed.command))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", str(unit)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    for setting in SETTINGS:
        assert f"\n{setting}=" in text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a server that gives workspaces users")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not here (Debian: util-linux)")
def test_jobs_are_kept_apart_with_the_capabilities_that_the_unit_leaves(names: Names):
    """The test of hostile jobs, run as the unit runs the server: without the other capabilities, and gaining none."""
    left = re.search(r"^CapabilityBoundingSet=(.+)$", (DIST / names.unit).read_text(), re.MULTILINE)
    assert left is not None
    kept = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in left[1].split())
    done = subprocess.run(
        ["setpriv", "--no-new-privs", "--inh-caps=-all", f"--bounding-set=-all,{kept}", sys.executable, "-m", "pytest", "-rs",
         "tests/engines/local/test_hostile_jobs.py", "-k", "nothing_of_another_workspace or kept_apart"],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "SKIPPED" not in done.stdout
