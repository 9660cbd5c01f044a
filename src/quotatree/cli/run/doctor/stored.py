"""Is the database there, of this version and sound, on a disk with room that keeps its locks?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from quotatree.cli.run.doctor.finding import Finding, bad, ok, warning

if TYPE_CHECKING:
    from quotatree.api.settings import ServerSettings
    from quotatree.store import Store

LITTLE_SPACE_GIB: Final = 1.0
MOUNTS: Final = Path("/proc/mounts")
SHARED: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "lustre", "ceph", "9p"})


def findings(settings: ServerSettings, *, named: bool) -> Iterator[Finding]:
    """Most machines have no database, and that is bad only if one was `named`."""
    assert settings.data is not None
    url = settings.database or ""
    file = None if "://" in url else Path(url)
    if file is not None and not os.path.exists(file):
        if named:
            yield bad(
                "data",
                f"{url}: no database here",
                "name the directory with --data; the first `serve` makes one",
            )
        else:
            yield ok("data", f"{url}: no database here")
        return
    yield from _database(url)
    if file is not None:
        yield from _place(file)
    if os.path.exists(settings.data):
        free = shutil.disk_usage(settings.data).free / 2**30
        told = f"{free:.1f} GiB free at {settings.data}"
        if free > LITTLE_SPACE_GIB:
            yield ok("disk", told)
        else:
            yield bad("disk", told, "make room; old *.backup files beside the data are yours to delete")


def _database(url: str) -> Iterator[Finding]:
    from quotatree.store import Store
    from quotatree.store.errors import NewerTables, StoreError, StoreUnavailable

    try:
        store = Store.open(url)
        try:
            yield from _tables(store)
        finally:
            store.close()
    except NewerTables as error:
        yield bad("data", str(error), "install that version here (docs/how-to/upgrade.md)")
    except StoreUnavailable as error:
        yield bad(
            "data", str(error), "start the database, or mend its address, user and password in `database`"
        )
    except StoreError as error:
        yield bad("data", str(error), "name the right file with --data or --database, or restore a backup")


def _tables(store: Store) -> Iterator[Finding]:
    """Check whether the tables are those of this version, and whether the use that they tell fits the runs."""
    from quotatree.store.form import Form

    found = store.tables()
    if found.form is Form.OLDER:
        what = f"{store.url}: tables of an older version (revision {found.revision})"
        yield warning("data", what, "the next `quotatree serve` brings them up to date")
        return
    store.check()
    yield ok("data", store.url)
    faults = store.faults_in_books()
    if faults:
        migrate = "`quotatree migrate` mends it while no server leads"
        yield bad("books", str(faults), "the next start mends it" if faults.open_runs else migrate)


def _place(file: Path) -> Iterator[Finding]:
    """SQLite needs locks that file systems of other machines often do not keep."""
    kind = file_system_of(file.resolve(), MOUNTS)
    if kind in SHARED:
        yield warning(
            "file system",
            f"{file} lies on {kind}, where SQLite may be ruined",
            "use a local disk, or PostgreSQL",
        )


def file_system_of(path: Path, mounts: Path) -> str:
    """The kind of file system that the path lies on, of the mounts that the kernel lists; "" where it lists none."""
    if not mounts.is_file():
        return ""
    best = ("", "")
    for line in mounts.read_text(errors="replace").splitlines():
        _, point, kind, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        if path.is_relative_to(point) and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]
