"""How many files may be open at once? For us as many as the machine allows, for jobs as many as we were started with.

A supervisor needs three for each replica, the engine one for each run, and shells and systemd grant 1,024. Jobs are not
to notice: programs that use select() break when numbers become larger than they expect.
"""

from __future__ import annotations

import resource

MOST = 262_144

_usual = 0


def usual() -> int:
    """Limit of open files for jobs: the one this process was started with, or was told by `allow_many`."""
    return _usual or resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def allow_many(for_jobs: int = 0) -> None:
    """Raise the limit of this process. `for_jobs`: limit for jobs, from a parent that has raised its own; 0: the present."""
    global _usual  # noqa: PLW0603 — a property of the process
    _usual = for_jobs or usual()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < many:
        resource.setrlimit(resource.RLIMIT_NOFILE, (many, hard))


def as_usual() -> None:
    """Set the limit back, in a child that becomes a job."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _usual:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_usual, hard))
