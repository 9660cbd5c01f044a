"""The packed chart is the one of the sources, and Helm renders it."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from release.names import DIST, Names
from tests.kubernetes import binary

NAME = "controlplane"


def test_it_has_the_version_of_the_release_and_its_definitions(names: Names):
    with tarfile.open(DIST / names.chart) as packed:
        about = yaml.safe_load(packed.extractfile("quotatree/Chart.yaml"))  # type: ignore[arg-type]
        files = [entry.name for entry in packed.getmembers() if entry.isfile()]
    assert (about["version"], about["appVersion"]) == (names.version, names.version)
    assert any(name.startswith("quotatree/crds/") for name in files), "links are files in the package"
    assert {"quotatree/values.schema.json", "quotatree/templates/deployment.yaml"} <= set(files)


@pytest.mark.skipif(
    not binary.is_built(NAME), reason="Helm is not built here: make test-kubernetes builds it"
)
def test_helm_renders_it_with_the_image_of_the_release(names: Names, tmp_path: Path):
    command = [
        str(binary.program(NAME)),
        "helm",
        "template",
        "quotatree",
        str(DIST / names.chart),
        "--include-crds",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    objects = [one for one in yaml.safe_load_all(done.stdout) if one]
    (server,) = [one for one in objects if one["kind"] == "Deployment"]
    assert server["spec"]["template"]["spec"]["containers"][0]["image"] == names.tag
    assert any(one["kind"] == "CustomResourceDefinition" for one in objects)
