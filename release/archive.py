"""An archive whose bytes depend on the files alone: one order, one time, one owner."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path


def pack(directory: Path, inside: str, seconds: int) -> bytes:
    """The files below the directory as .tar.gz, below the folder `inside`. Links become the files that they name."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in _files(directory):
            entry = tarfile.TarInfo(f"{inside}/{path.relative_to(directory).as_posix()}")
            content = path.read_bytes()
            entry.size, entry.mtime, entry.mode = len(content), seconds, 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), compresslevel=9, mtime=seconds)


def _files(directory: Path) -> list[Path]:
    found: list[Path] = []
    for path in directory.iterdir():
        found += _files(path) if path.is_dir() else [path]
    return sorted(found, key=lambda path: path.as_posix())
