"""What are the files of a release called? All carry the one version, that of src/quotatree/__init__.py."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from release.sources import ROOT

DIST: Final = ROOT / "dist"
SUMS: Final = "SHA256SUMS"
COMMIT: Final = "COMMIT"
"""File with the name of the commit that a release is made from."""


@dataclass(frozen=True, slots=True)
class Names:
    """`tag` is the image's name in an engine; the others are files."""

    version: str
    compose: str = "compose.yaml"
    unit: str = "quotatree.service"

    @property
    def wheel(self) -> str:
        return f"quotatree-{self.version}-py3-none-any.whl"

    @property
    def sdist(self) -> str:
        return f"quotatree-{self.version}.tar.gz"

    @property
    def chart(self) -> str:
        return f"quotatree-chart-{self.version}.tgz"

    @property
    def image(self) -> str:
        return f"quotatree-image-{self.version}.tar"

    @property
    def tag(self) -> str:
        return f"quotatree:{self.version}"


def names_of(tree: Path) -> Names:
    """The names for the version that the sources in this directory state."""
    module = ast.parse((tree / "src" / "quotatree" / "__init__.py").read_text(encoding="utf-8"))
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__version__")], value=ast.Constant(value=str(version))):
                return Names(version)
    raise AssertionError("src/quotatree/__init__.py states no __version__")
