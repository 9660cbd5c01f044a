"""Where a user has logged in is kept in a file that later versions read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from quotatree.cli import contexts
from quotatree.cli.contexts import Context, Contexts

GOLDEN: Final = Path(__file__).parent / "golden" / "contexts.json"
KEPT: Final = Contexts(
    "work",
    {
        "default": Context("http://127.0.0.1:7070", "t0ken"),
        "work": Context("https://gpu.example.org", "s3cret", "ann", "tok-1"),
    },
)


def test_the_file_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    contexts.save(KEPT)
    assert contexts.config_file().read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")
    assert contexts.load() == KEPT
