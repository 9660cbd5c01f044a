"""The version stands in src/quotatree/__init__.py; what is deployed without Python repeats it, and says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from quotatree import __version__

ROOT = Path(__file__).resolve().parents[1]
IMAGE = re.compile(r"\bquotatree:(\d[\w.]*)")
FILE = re.compile(r"\bquotatree-(?:image-|chart-)?(\d+\.\d+\.\d+)")
NAMING = (
    "deploy/Dockerfile",
    "deploy/compose.yaml",
    "deploy/manifests/quotatree.yaml",
    "docs/how-to/install-on-kubernetes.md",
    "docs/how-to/install.md",
)


def test_the_chart_is_of_this_version() -> None:
    about = yaml.safe_load((ROOT / "deploy" / "chart" / "Chart.yaml").read_text(encoding="utf-8"))
    assert (about["version"], about["appVersion"]) == (__version__, __version__)


@pytest.mark.parametrize("name", NAMING)
def test_the_image_that_a_file_names_is_of_this_version(name: str) -> None:
    named = IMAGE.findall((ROOT / name).read_text(encoding="utf-8"))
    assert named
    assert set(named) == {__version__}


@pytest.mark.parametrize("name", ["docs/home.md", "docs/how-to/install.md"])
def test_the_files_that_a_page_names_are_of_this_version(name: str) -> None:
    named = FILE.findall((ROOT / name).read_text(encoding="utf-8"))
    assert named
    assert set(named) == {__version__}
