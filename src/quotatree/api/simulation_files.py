"""Finished what-if runs as files, one each, so that a restart of the server keeps them.

A file that cannot be written or read costs its run and nothing else: what a server decides never depends on them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog

R = TypeVar("R")
log = structlog.get_logger(__name__)
FORMAT: Final = 1
ENDING: Final = ".json"


class SimulationFiles:
    """Without a directory nothing is kept."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory

    def keep(self, run_id: str, fields: dict[str, Any]) -> None:
        """Write a run; readers never see half of it."""
        if self._directory is None:
            return
        part = self._directory / f".{run_id}.part"
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                json.dump({"format": FORMAT, **fields}, file, separators=(",", ":"))
            part.replace(self._path(run_id))
        except OSError as error:
            log.warning("simulation_not_kept", run=run_id, why=str(error))
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def forget(self, run_id: str) -> None:
        if self._directory is not None:
            with suppress(OSError):
                self._path(run_id).unlink(missing_ok=True)

    def kept(self, read: Callable[[dict[str, Any]], R]) -> list[R]:
        """All runs that can be read, in no order."""
        paths = [] if self._directory is None else self._directory.glob(f"*{ENDING}")
        found = []
        for path in paths:
            try:
                fields = json.loads(path.read_text())
                if fields.pop("format") != FORMAT:
                    raise ValueError("of another format")
                found.append(read(fields))
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                log.warning("simulation_unreadable", file=path.name, why=str(error))
        return found

    def _path(self, run_id: str) -> Path:
        assert self._directory is not None
        return self._directory / f"{run_id}{ENDING}"
